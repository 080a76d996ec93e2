/// Keys of the format that this version does not do yet: they are refused with that said, and left out of the schema.
///
/// Whoever takes a key up takes it out of this table; that is all there is to it.
enum LaterKeys {
    /// Of the document itself.
    static let document: Set<String> = []
    /// Of a stage of any kind.
    static let stage: Set<String> = [
        "paginate",
    ]
}
