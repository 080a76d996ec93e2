import CCurl
import HTTPTypes
import NetworkTasks

extension CurlExchange {
    /// The consequence of the end of a hop.
    enum Conclusion {
        case follow
        case end(Result<HTTPExchangeResponse, ExchangeFailure>)
    }

    func conclude(_ code: CURLcode) -> Conclusion {
        hop.receiver.finish()
        if let reason = stop?.reason ?? hop.receiver.failure ?? hop.reader.failure {
            return .end(.failure(failure(reason, detail: stop?.detail ?? "")))
        }
        if hop.receiver.isStopped { return .end(.success(response())) }
        if code == CURLE_COULDNT_CONNECT, hop.sockets.isEmpty, let reason = hop.socketFailure {
            return .end(.failure(failure(reason)))
        }
        guard code == CURLE_OK else {
            let isEarly = code == CURLE_OPERATION_TIMEDOUT && isAnsweredEarly
            return .end(.failure(isEarly ? failure(.answeredEarly(response())) : failure(after: code)))
        }
        guard let head = hop.response.final else { return .end(.failure(failure(.protocolError))) }
        if hop.receiver.isCutInCoding {
            // A message that came whole is an answer, and its coding is what is damaged.
            return .end(.failure(failure(hasStatedEnd(head.headers) ? .undecodable : .closedEarly)))
        }
        if acceptsUnsentBody { return .end(.failure(failure(.answeredEarly(response())))) }
        if !hop.request.body.isNone, isBodySent { reportSent() }
        guard rule.follows(status: head.status, headers: head.headers) else { return .end(.success(response())) }
        return follow(head.status, location: head.headers[.location] ?? "")
    }

    /// The reason for the end of an exchange on which nothing, or too little, moved for too long.
    func reason(afterSilence limit: ExchangeFailure.Timeout) -> ExchangeFailure.Reason {
        isAnsweredEarly ? .answeredEarly(response()) : .timedOut(limit)
    }

    /// True when the answer that has come whole accepts a body that is still on its way: libcurl goes on to send what
    /// nobody reads, over HTTP/2 and where the connection stays open.
    var isAnsweredEarly: Bool {
        guard let easy, let head = hop.response.final, acceptsUnsentBody else { return false }
        let length = head.headers[.contentLength].flatMap { Int64($0) }
        return head.status == 204 || length == easy.offset(CURLINFO_SIZE_DOWNLOAD_T)
    }

    /// True when the answer accepts a body of which the end never went out. Of an upload that goes on at an offset it says
    /// itself how much was taken (draft-ietf-httpbis-resumable-upload, section 4.4.2).
    private var acceptsUnsentBody: Bool {
        guard let head = hop.response.final, (200..<300).contains(head.status), !isBodySent else { return false }
        return HTTPField.Name("Upload-Offset").flatMap { head.headers[$0] } == nil
    }

    /// True once the network has all of the request's body.
    private var isBodySent: Bool {
        hop.request.body.isNone || (easy?.offset(CURLINFO_SIZE_UPLOAD_T) ?? 0) >= hop.request.body.length
    }

    private func follow(_ status: Int, location: String) -> Conclusion {
        guard facts.redirects < rule.limit else { return .end(.failure(failure(.tooManyRedirects))) }
        guard let url = CurlURL.resolve(location, against: hop.request.url) else {
            return .end(.failure(failure(.redirectRefused(location))))
        }
        let next: RequestDescription
        do throws(RedirectRule.Refusal) {
            next = try rule.next(after: hop.request, status: status, to: url)
        } catch {
            return .end(.failure(failure(error.reason)))
        }
        facts.redirects += 1
        let keepsIdentity = rule.keepsCredentials || URLParts.haveSameOrigin(hop.request.url, next.url)
        hop = CurlHop(next, options, showsCertificate: hop.showsCertificate && keepsIdentity)
        progress.sendTotal = next.body.length
        return .follow
    }

    /// Returns whether something other than the end of the connection says where the body ends (RFC 9112, section 6.3):
    /// libcurl has seen to it that it came that far.
    private func hasStatedEnd(_ headers: HTTPFields) -> Bool {
        headers[.contentLength] != nil || headers[.transferEncoding] != nil
            || easy?.version.hasPrefix("HTTP/1") == false
    }

    /// The answer as far as it has come.
    func response() -> HTTPExchangeResponse {
        var response = HTTPExchangeResponse(
            status: hop.response.final?.status ?? 0,
            headers: hop.response.final?.headers ?? [:],
            trailers: hop.response.parser.trailers,
            body: hop.receiver.body,
            url: hop.request.url,
            bytesSent: easy?.offset(CURLINFO_SIZE_UPLOAD_T) ?? 0,
            bytesReceived: easy?.offset(CURLINFO_SIZE_DOWNLOAD_T) ?? 0,
            timings: timings,
            redirects: facts.redirects
        )
        response.version = easy?.version ?? ""
        response.sample = hop.receiver.sample
        return response
    }

    var timings: ExchangeTimings { easy?.timings(sentAfter: hop.sentAfter) ?? ExchangeTimings() }

    private func failure(after code: CURLcode) -> ExchangeFailure {
        guard let easy else { return failure(.cancelled) }
        let detail = easy.explanation(of: code)
        let url = hop.request.url
        let origin = URLParts(url)?.origin ?? ""
        let target = origin.firstRange(of: "://").map { String(origin[$0.upperBound...]) } ?? ""
        let facts = CurlFailureFacts(
            code: code, text: detail, errno: Int32(easy.long(CURLINFO_OS_ERRNO)),
            verifyResult: easy.long(CURLINFO_SSL_VERIFYRESULT), isConnected: hop.isConnected,
            hasTotalTimeoutPassed: options.totalTimeout.map { MachineClock.monotonic() - startedAt >= $0 } ?? false,
            wasInformed: facts.wasInformed, target: target.filter { $0 != "[" && $0 != "]" },
            proxy: CurlProxy(to: url, option: options.proxy), connectStatus: easy.long(CURLINFO_HTTP_CONNECTCODE)
        )
        return failure(facts.reason, detail: detail)
    }
}
