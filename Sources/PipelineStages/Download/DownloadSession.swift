import HTTPTypes
import PipelineCore
import PipelineHTTP

/// The client's side of a download that can be resumed: what to ask for, and what an answer's head means (RFC 9110,
/// sections 13.1.5 and 14).
struct DownloadSession: Sendable, Equatable {
    /// The number of bytes of the file that are here and known to be good.
    var held: Int64 = 0
    /// Up to where bytes are asked for; nil for all. With nothing held it asks for the first bytes, to find out whether
    /// there are ranges.
    var limit: Int64?
    /// The version of the resource that they are of.
    var validator: Validator?
    /// The coding of what is held by the service; nil for not at all. A service may code the whole and not its parts,
    /// under one entity tag.
    var coding: String?
    /// The length of the whole; nil while it is not known.
    var total: Int64?
    /// True when the final digest is known, so that a splice of two versions would be noticed without a validator.
    var hasFinalDigest = false
    /// True if the method has ranges at all: only GET has (section 14.2).
    var allowsRanges = true
    /// Returns whether the author counts a status as success.
    var expected: @Sendable (Int) -> Bool = { $0 == 200 || $0 == 203 }

    /// The meaning of a response's head.
    enum Verdict: Sendable, Equatable {
        /// The body is the file from its beginning.
        case whole(total: Int64?)
        /// The body is the file from `held` on, up to `end`.
        case rest(end: Int64, total: Int64?)
        /// There is nothing more: what is held is all.
        case nothingMore
        /// The bytes that are held are of no use: ask again for the whole. For the log, why.
        case restart(String)
        /// No file: an answer to be judged.
        case answer
        /// Something else in the place of the file: what is held stays.
        case unrelated
    }

    /// True if it asks for the first bytes.
    private var asksForStart: Bool { held == 0 && limit != nil && allowsRanges }

    /// True if the next request asks for what follows on what is held.
    var asksForRest: Bool { held > 0 && allowsRanges && !isDecoded && (validator != nil || hasFinalDigest) }

    /// The reason why the next request can't ask for the rest, where the service is what it lies in.
    var obstacle: String? {
        if asksForRest || !allowsRanges { return nil }
        return isDecoded
            ? "the service codes the file, and gives no part of what is decoded"
            : "the service has no strong ETag, and no Last-Modified that is old enough to tell versions of the file apart"
    }

    /// True if what is held was decoded on its way: its places are not those of what the service sends.
    private var isDecoded: Bool { coding.map { ContentCoding($0).isDecodable } ?? false }

    /// The fields of the next request. A content coding would make offsets and digests those of something else.
    var fields: HTTPFields {
        var fields: HTTPFields = [.acceptEncoding: "identity"]
        guard asksForRest || asksForStart else { return fields }
        fields[.range] = "bytes=\(held)-\(limit.map { String($0 - 1) } ?? "")"
        if let validator, asksForRest { fields[.ifRange] = validator.text }
        return fields
    }

    func verdict(on head: HTTPResponse) -> Verdict {
        let status = head.status.code
        switch status {
        case 206 where asksForRest: return afterPart(head.headerFields)
        case 206 where asksForStart: return afterStart(head.headerFields)
        case 206: return .answer
        case 416 where asksForStart: return .restart("the service has no first bytes")
        case 416 where asksForRest: return afterUnsatisfiable(head.headerFields)
        case 412 where asksForRest: return .restart("the file at the service has changed")
        default:
            guard expected(status) else { return .answer }
            if asksForRest || asksForStart, head.headerFields[.contentRange] != nil {
                return .restart("the service sent a part as if it were the whole")
            }
            if isUnrelated(head.headerFields) { return .unrelated }
            return .whole(total: Self.length(head.headerFields))
        }
    }

    /// Returns whether a whole that came instead of the rest is no other version of the file, which would have the new
    /// one's validator (RFC 9110, section 13.1.5), but something in its place, as the page of a gateway is: it names no
    /// version where what is held has one, and is of another length.
    private func isUnrelated(_ headers: HTTPFields) -> Bool {
        guard asksForRest, let total, Self.length(headers) != total else { return false }
        return switch validator {
        case .entityTag: headers[.eTag] == nil
        case .modified: headers[.lastModified] == nil && headers[.eTag] == nil
        case nil: false
        }
    }

    private func afterPart(_ headers: HTTPFields) -> Verdict {
        if headers[.contentType]?.lowercased().hasPrefix("multipart/byteranges") == true {
            return .restart("the service sent several ranges where one was asked for")
        }
        guard case .part(let first, let last, let length)? = headers[.contentRange].flatMap(ContentRange.init),
            first == held
        else { return .restart("the service sent another range than was asked for") }
        if let total, length.map({ $0 != total }) ?? (last >= total) {
            return .restart("the file at the service has changed")
        }
        if let fault = Self.fault(in: headers, from: first, to: last) { return .restart(fault) }
        if Self.coding(headers) != coding { return .restart("the service has coded this part in another way") }
        if let validator, !validator.agrees(with: headers) { return .restart("the file at the service has changed") }
        // A splice would be noticed by the final digest.
        if let validator, !hasFinalDigest, !validator.isNamed(by: headers) {
            return .restart("the service does not say of which version of the file the part is")
        }
        return .rest(end: last + 1, total: length ?? total)
    }

    /// The first bytes are good to build on when it is known how many there are, and what tells versions apart.
    private func afterStart(_ headers: HTTPFields) -> Verdict {
        guard case .part(0, let last, let length?)? = headers[.contentRange].flatMap(ContentRange.init),
            headers[.contentType]?.lowercased().hasPrefix("multipart/byteranges") != true
        else { return .restart("the service does not say which bytes it sent") }
        if Self.coding(headers) != nil { return .restart("the service has coded a part") }
        guard
            Validator(headers) != nil || hasFinalDigest || last + 1 == length
                || DeclaredDigest.stated(in: headers, isWhole: false).contains(where: \.tellsFilesApart)
        else { return .restart("the service does not say which version of the file it sent") }
        if let fault = Self.fault(in: headers, from: 0, to: last) { return .restart(fault) }
        return .rest(end: last + 1, total: length)
    }

    /// The coding of an answer's content (RFC 9110, section 8.4); nil for none.
    static func coding(_ headers: HTTPFields) -> String? {
        let coding = headers[.contentEncoding]?.lowercased()
        return coding == "identity" || coding == "" ? nil : coding
    }

    /// Returns how long the body is; a `Content-Length` counts for nothing next to a transfer coding (RFC 9112, section
    /// 6.3).
    private static func length(_ headers: HTTPFields) -> Int64? {
        guard headers[.transferEncoding] == nil, let text = headers[.contentLength],
            text.utf8.allSatisfy({ (48...57).contains($0) })
        else { return nil }
        return Int64(text)
    }

    /// Returns what is wrong with a part whose length is another than that of the range that it names.
    private static func fault(in headers: HTTPFields, from first: Int64, to last: Int64) -> String? {
        guard let length = length(headers), length != last - first + 1 else { return nil }
        return "the service sent another range than it said"
    }

    private func afterUnsatisfiable(_ headers: HTTPFields) -> Verdict {
        guard case .unsatisfied(let length)? = headers[.contentRange].flatMap(ContentRange.init) else {
            return .restart("the service refuses the rest with 416")
        }
        guard length >= held else { return .restart("the service has fewer bytes than are here") }
        guard length == held else {
            return .restart("the service has \(length) bytes, and refuses those behind the \(held) that are here")
        }
        if let validator, !validator.agrees(with: headers) { return .restart("the file at the service has changed") }
        // One that names the very version may have announced more of it than there is.
        if let total, total != length, validator?.isConfirmed(by: headers) != true {
            return .restart("the service has \(length) bytes, and had announced \(total)")
        }
        return .nothingMore
    }

    static func == (left: DownloadSession, right: DownloadSession) -> Bool {
        left.held == right.held && left.limit == right.limit && left.validator == right.validator
            && left.coding == right.coding && left.total == right.total
            && left.hasFinalDigest == right.hasFinalDigest && left.allowsRanges == right.allowsRanges
    }
}
