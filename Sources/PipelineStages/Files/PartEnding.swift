/// The endings by which the names of parts differ from those of their files.
enum PartEnding {
    /// The ending of a file that only one job writes.
    static let usual = ".part"

    /// The ending of a part whose file other items of the batch may write too: no item has that of another one. A job
    /// of its own has the usual one.
    static func own(ofItem number: String?) -> String { number.map { ".\($0)\(usual)" } ?? usual }
}
