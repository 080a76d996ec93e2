import HTTPTypes

/// The versions of the IETF's resumable uploads that are spoken, and what differs on the wire
/// (draft-ietf-httpbis-resumable-upload, its change log: draft 01 is 3, 03 is 5, 04 and 05 are 6, 09 to 12 are 8).
enum InteropVersion: Int, Codable, Sendable, CaseIterable, Comparable {
    case v3 = 3, v5 = 5, v6 = 6, v8 = 8

    static let newest = InteropVersion.v8

    static func < (left: InteropVersion, right: InteropVersion) -> Bool { left.rawValue < right.rawValue }

    /// The next older one.
    var older: InteropVersion? { Self.allCases.last { $0 < self } }

    /// The field that says whether the upload is complete, set to that: version 3 said the contrary.
    func completeness(_ isComplete: Bool) -> HTTPField {
        let flag = (self >= .v5) == isComplete ? "?1" : "?0"
        return HTTPField(name: self >= .v5 ? .uploadComplete : .uploadIncomplete, value: flag)
    }

    /// Whether an answer says that the upload is complete; nil when it does not say.
    ///
    /// Both spellings are read in every version: NIOResumableUpload swaps them in its last answer.
    func isComplete(in headers: HTTPFields) -> Bool? {
        let complete = headers[.uploadComplete].flatMap(StructuredField.boolean)
        let incomplete = headers[.uploadIncomplete].flatMap(StructuredField.boolean)
        let (usual, other) = self >= .v5 ? (complete, incomplete.map { !$0 }) : (incomplete.map { !$0 }, complete)
        return usual ?? other
    }

    /// The media type of an append; before version 6 there was none.
    var appendType: String? { self >= .v6 ? "application/partial-upload" : nil }

    var field: HTTPField { HTTPField(name: .uploadDraftInteropVersion, value: String(rawValue)) }
}

/// What a service accepts, from `Upload-Limit`; nil for no limit. Sizes in bytes.
struct UploadLimit: Codable, Sendable, Hashable {
    var maximumSize: Int64?
    var minimumSize: Int64?
    var maximumAppend: Int64?
    /// Holds for all appends but the one that ends the upload.
    var minimumAppend: Int64?
    /// How long the service keeps the upload from the answer on, in seconds: `max-age`, in versions before 7 `expires`.
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

extension HTTPField.Name {
    static let uploadComplete = HTTPField.Name("Upload-Complete")!
    static let uploadIncomplete = HTTPField.Name("Upload-Incomplete")!
    static let uploadOffset = HTTPField.Name("Upload-Offset")!
    static let uploadLength = HTTPField.Name("Upload-Length")!
    static let uploadLimit = HTTPField.Name("Upload-Limit")!
    static let uploadDraftInteropVersion = HTTPField.Name("Upload-Draft-Interop-Version")!
}
