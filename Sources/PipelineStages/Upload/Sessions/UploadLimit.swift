/// The limits of what a service accepts, from `Upload-Limit`; nil for no limit. Sizes in bytes.
struct UploadLimit: Codable, Sendable, Hashable {
    var maximumSize: Int64?
    var minimumSize: Int64?
    var maximumAppend: Int64?
    /// Holds for all appends but the one that ends the upload.
    var minimumAppend: Int64?
    /// The time for which the service keeps the upload from the answer on, in seconds: `max-age`, in versions before 7
    /// `expires`.
    var maximumAge: Int64?

    init() {}

    /// Reads the field; unknown keys are skipped, and a field with a value of the wrong type counts as absent.
    init?(_ text: String) {
        guard let entries = StructuredField.integers(text) else { return nil }
        maximumSize = entries["max-size"]
        minimumSize = entries["min-size"]
        maximumAppend = entries["max-append-size"].flatMap { $0 > 0 ? $0 : nil }
        minimumAppend = entries["min-append-size"]
        maximumAge = (entries["max-age"] ?? entries["expires"]).flatMap { $0 >= 0 ? $0 : nil }
    }
}
