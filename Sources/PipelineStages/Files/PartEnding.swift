/// The endings by which the names of parts differ from those of their files.
enum PartEnding {
    /// The ending of a file that only one job writes.
    static let usual = ".part"

    /// The ending of a part whose file other items may write too, of this batch or another: no item has that of another
    /// one. A job of its own has the usual one.
    ///
    /// - Parameter label: ``JobRecord/itemLabel``.
    static func own(ofItem label: String?) -> String { label.map { ".\($0)\(usual)" } ?? usual }
}
