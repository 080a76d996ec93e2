import HTTPTypes

/// The versions of the IETF's resumable uploads that are spoken, and what differs on the wire
/// (draft-ietf-httpbis-resumable-upload, its change log: draft 01 is 3, 03 is 5, 04 and 05 are 6, 09 to 12 are 8).
enum InteropVersion: Int, Codable, Sendable, CaseIterable, Comparable {
    case v3 = 3, v5 = 5, v6 = 6, v8 = 8

    static let newest = InteropVersion.v8

    static func < (left: InteropVersion, right: InteropVersion) -> Bool { left.rawValue < right.rawValue }

    /// The version that a service names; nil when it names none that is spoken here.
    static func named(in headers: HTTPFields) -> InteropVersion? {
        headers[.uploadDraftInteropVersion].flatMap { Int($0) }.flatMap(InteropVersion.init)
    }

    /// The next older one.
    var older: InteropVersion? { Self.allCases.last { $0 < self } }

    /// The field that says whether the upload is complete, set to that: version 3 said the contrary.
    func completeness(_ isComplete: Bool) -> HTTPField {
        let flag = (self >= .v5) == isComplete ? "?1" : "?0"
        return HTTPField(name: self >= .v5 ? .uploadComplete : .uploadIncomplete, value: flag)
    }

    /// Returns whether an answer says that the upload is complete; nil when it does not say.
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

/// The requests in a version.
extension InteropVersion {
    /// Makes an upload of a file of that length; empty, or with all its bytes.
    func creation(at url: String?, of total: Int64, bringsAll: Bool) -> UploadRequest {
        var request = request(
            .create, nil, url, completeness(bringsAll), HTTPField(name: .uploadLength, value: String(total)))
        request.body = bringsAll && total > 0 ? .file(offset: 0, count: total) : .empty
        request.note = .disposition
        return request
    }

    /// Sends a stretch of the file, which may be empty.
    func append(
        _ stretch: Range<Int64>, to url: String?, isLast: Bool, _ purpose: UploadRequest.Purpose = .append
    ) -> UploadRequest {
        var request = request(
            purpose, .patch, url, completeness(isLast),
            HTTPField(name: .uploadOffset, value: String(stretch.lowerBound)),
            appendType.map { HTTPField(name: .contentType, value: $0) })
        let count = stretch.upperBound - stretch.lowerBound
        request.body = count > 0 ? .file(offset: stretch.lowerBound, count: count) : .empty
        return request
    }

    /// One without a body.
    func request(
        _ purpose: UploadRequest.Purpose, _ method: HTTPRequest.Method?, _ url: String?, _ more: HTTPField?...
    ) -> UploadRequest {
        UploadRequest(
            purpose: purpose, method: method, url: url, headers: HTTPFields([field] + more.compactMap { $0 }))
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
