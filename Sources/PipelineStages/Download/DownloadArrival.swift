import HTTPTypes
import PipelineCore
import PipelineHTTP

/// A whole file, received and not yet checked.
struct DownloadArrival: Sendable {
    let part: PartFile
    let path: String
    let bytes: Int64
    let digests: RunningDigests
    /// Those of what came, when that was decoded on its way.
    var coded: RunningDigests?
    let answer: ServiceResponse
    let rendered: RenderedRequest
    /// The time that the service wants to be left alone.
    let retryAfter: Duration?
    /// False if nothing but the end of the connection said where the body ends.
    var isEndStated = true

    /// Warns of what no digest proves: that it is whole, and that it is the file.
    /// - Parameter stated: the digests that the service has given.
    func warn(by order: DownloadOrder, _ stated: [DeclaredDigest]) async throws(StageFailure) {
        guard (order.wanted.stated + stated).isEmpty else { return }
        // One that may be null is written next to the size.
        let verify = order.stage.verify
        let names = [verify.sha256.map { _ in "sha256" }, verify.size.map { _ in "size" }].compactMap(\.self)
        if order.wanted.size == nil, !names.isEmpty {
            try await order.context.warn(
                "nothing verifies the file: in \"verify\", \(names.joined(separator: " and ")) is null")
        }
        try await warnIfUnproven(by: order)
        try await warnIfPage(by: order)
    }

    /// Warns of a file that may have been cut off without anybody's noticing: neither its answer nor the author says how
    /// much there is.
    private func warnIfUnproven(by order: DownloadOrder) async throws(StageFailure) {
        // An archive says by itself where it ends.
        guard !isEndStated, order.wanted.size == nil, order.stage.unpack == nil else { return }
        try await order.context.warn(
            "nothing says whether the file is whole: its answer had neither a length nor a digest; "
                + "\"verify\" checks it")
    }

    /// Warns of a page that stands where a file was wanted: many a service shows an error, or a login, with a status of
    /// success.
    private func warnIfPage(by order: DownloadOrder) async throws(StageFailure) {
        let type = answer.header("Content-Type").first?.prefix { $0 != ";" }.lowercased()
        let name = path.split(separator: "/").last ?? ""
        let ending = name.contains(".") ? name.split(separator: ".").last?.lowercased() : nil
        guard type == "text/html", let ending, !["html", "htm", "xhtml"].contains(ending) else { return }
        try await order.context.warn(
            "the service sent a page of HTML for \(name): look whether it is what you wanted; \"verify\" or "
                + "\"fail\" in the request refuses one")
    }
}

extension HTTPExchangeResponse {
    /// True if a body that ends with its connection would be known to be cut (RFC 9112, section 6.3).
    var isEndStated: Bool {
        !isSuccess || !version.hasPrefix("HTTP/1") || headers[.contentLength] != nil
            || headers[.transferEncoding] != nil
    }
}
