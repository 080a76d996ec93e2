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
        receiver.finish()
        if let reason = stopReason ?? receiver.failure ?? reader.failure {
            return .end(.failure(failure(reason, detail: stopDetail)))
        }
        if receiver.isStopped { return .end(.success(response())) }
        if code == CURLE_COULDNT_CONNECT, sockets.isEmpty, let socketFailure {
            return .end(.failure(failure(socketFailure)))
        }
        guard code == CURLE_OK else { return .end(.failure(failure(after: code))) }
        guard let head else { return .end(.failure(failure(.protocolError))) }
        if receiver.isCutInCoding { return .end(.failure(failure(.closedEarly))) }
        if !request.body.isNone, easy?.offset(CURLINFO_SIZE_UPLOAD_T) == request.body.length { reportSent() }
        guard rule.follows(status: head.status, headers: head.headers) else { return .end(.success(response())) }
        return follow(head.status, location: head.headers[.location] ?? "")
    }

    private func follow(_ status: Int, location: String) -> Conclusion {
        guard redirects < rule.limit else { return .end(.failure(failure(.tooManyRedirects))) }
        guard let url = CurlURL.resolve(location, against: request.url) else {
            return .end(.failure(failure(.protocolError, detail: "redirected to \(location.forDisplay)")))
        }
        redirects += 1
        let former = request.url
        request = rule.next(after: request, status: status, to: url)
        if !rule.keepsCredentials, !URLParts.haveSameOrigin(former, request.url) { showsCertificate = false }
        head = nil
        isConnected = false
        parser = ResponseHeadParser()
        receiver = ResponseReceiver(
            options.receive, maximumBodyBytes: options.maximumBodyBytes, sampleBytes: options.sampleBytes)
        reader = BodyReader(request.body.segments)
        bodyPosition = 0
        progress.sendTotal = request.body.length
        return .follow
    }

    /// The answer as far as it has come.
    func response() -> HTTPExchangeResponse {
        var response = HTTPExchangeResponse(
            status: head?.status ?? 0,
            headers: head?.headers ?? [:],
            trailers: parser.trailers,
            body: receiver.body,
            url: request.url,
            bytesSent: easy?.offset(CURLINFO_SIZE_UPLOAD_T) ?? 0,
            bytesReceived: easy?.offset(CURLINFO_SIZE_DOWNLOAD_T) ?? 0,
            timings: timings(),
            redirects: redirects
        )
        response.version = version()
        response.sample = receiver.sample
        return response
    }

    /// https://curl.se/libcurl/c/CURLINFO_HTTP_VERSION.html
    private func version() -> String {
        switch easy?.long(CURLINFO_HTTP_VERSION) {
        case Int(CURL_HTTP_VERSION_1_0): "HTTP/1.0"
        case Int(CURL_HTTP_VERSION_1_1): "HTTP/1.1"
        case Int(CURL_HTTP_VERSION_2_0): "HTTP/2"
        case Int(CURL_HTTP_VERSION_3): "HTTP/3"
        default: ""
        }
    }

    func timings() -> ExchangeTimings {
        guard let easy else { return ExchangeTimings() }
        func seconds(_ info: CURLINFO) -> Double { Double(easy.offset(info)) / 1_000_000 }
        return ExchangeTimings(
            nameLookup: seconds(CURLINFO_NAMELOOKUP_TIME_T),
            connect: seconds(CURLINFO_CONNECT_TIME_T),
            tls: seconds(CURLINFO_APPCONNECT_TIME_T),
            sent: max(seconds(CURLINFO_PRETRANSFER_TIME_T), sentAfter.map { $0 / .seconds(1) } ?? 0),
            firstByte: seconds(CURLINFO_STARTTRANSFER_TIME_T),
            total: seconds(CURLINFO_TOTAL_TIME_T)
        )
    }

    private func failure(after code: CURLcode) -> ExchangeFailure {
        guard let easy else { return failure(.cancelled) }
        let detail = easy.explanation(of: code)
        let facts = CurlFailureFacts(
            code: code, text: detail, errno: Int32(easy.long(CURLINFO_OS_ERRNO)),
            verifyResult: easy.long(CURLINFO_SSL_VERIFYRESULT), isConnected: isConnected,
            hasTotalTimeoutPassed: options.totalTimeout.map { MachineClock.monotonic() - startedAt >= $0 } ?? false,
            wasInformed: wasInformed
        )
        return failure(facts.reason, detail: detail)
    }
}
