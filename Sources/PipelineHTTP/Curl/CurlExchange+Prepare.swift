import CCurl
import HTTPTypes

extension CurlExchange {
    /// Sets all options of the current hop; a reason when it can't be sent.
    func prepare(_ configuration: CurlConfiguration) -> ExchangeFailure.Reason? {
        guard let easy else { return .cancelled }
        if let reason = hop.reader.check() { return reason }
        // Without TLS there is no key that could match, as behind a redirect to http.
        if !options.tls.pinnedPublicKeys.isEmpty, URLParts(hop.request.url)?.scheme == "http" {
            return .tls(.pinWithoutTLS)
        }
        hop.startedAt = MachineClock.monotonic()
        easy.reset()
        setBasics(easy, configuration)
        setTimeouts(easy)
        setMethodAndBody(easy, configuration)
        setHeaders(easy)
        setTLS(easy)
        setCallbacks(easy)
        return nil
    }

    private func setBasics(_ easy: EasyHandle, _ configuration: CurlConfiguration) {
        easy.set(CURLOPT_URL, hop.request.url)
        easy.set(CURLOPT_PROTOCOLS_STR, "http,https")
        easy.set(CURLOPT_NOSIGNAL, 1)
        easy.set(CURLOPT_PATH_AS_IS, 1)  // What was signed is what is sent.
        easy.set(CURLOPT_QUICK_EXIT, 1)  // Cancelling must not wait for a name server.
        easy.set(CURLOPT_TCP_KEEPALIVE, 1)
        easy.set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        easy.set(CURLOPT_USERAGENT, configuration.userAgent)
        easy.set(CURLOPT_HEADEROPT, Int(CURLHEADER_SEPARATE))  // Credentials are not for the proxy.
        easy.set(CURLOPT_HTTP_VERSION, options.avoidsHTTP2 ? CURL_HTTP_VERSION_1_1 : CURL_HTTP_VERSION_2TLS)
        if options.freshConnection {
            easy.set(CURLOPT_FRESH_CONNECT, 1)
            easy.set(CURLOPT_FORBID_REUSE, 1)
        }
        if let proxy = options.proxy { easy.set(CURLOPT_PROXY, proxy) }
        if let rate = options.maximumSendRate { easy.set(CURLOPT_MAX_SEND_SPEED_LARGE, offset: rate) }
        if let rate = options.maximumReceiveRate { easy.set(CURLOPT_MAX_RECV_SPEED_LARGE, offset: rate) }
        if case .file = options.receive {
            hop.receiver.mostGathered = share(of: BodyWriter.mostBytes)
            easy.set(CURLOPT_BUFFERSIZE, receiveBuffer(configuration.receiveBufferBytes))
        }
        ccurl_set_pointer(easy.pointer, CURLOPT_ERRORBUFFER, easy.errorText)
    }

    /// A piece that has come is taken whole: with a rate it is small, so that the rate is even.
    private func receiveBuffer(_ most: Int) -> Int {
        let usual = share(of: most)
        guard let rate = options.limits?.receiveRate else { return usual }
        return max(1024, min(usual, Int(min(rate / 10, 1 << 20))))
    }

    /// Of buffers that would be so large for one: four have theirs whole, more share what these have. Where many bring
    /// more than few none of them is fast.
    private func share(of most: Int) -> Int { max(min(most, 128 << 10), min(most, most * 4 / allotment.sharers)) }

    private func setTimeouts(_ easy: EasyHandle) {
        if let total = options.totalTimeout {
            let left = total - (MachineClock.monotonic() - startedAt)
            easy.set(CURLOPT_TIMEOUT_MS, max(1, Int(left.wholeMilliseconds)))
        }
        // Zero would mean libcurl's own limit of five minutes.
        easy.set(CURLOPT_CONNECTTIMEOUT_MS, max(1, Int(options.connectTimeout?.wholeMilliseconds ?? 86_400_000)))
    }

    private func setMethodAndBody(_ easy: EasyHandle, _ configuration: CurlConfiguration) {
        let method = hop.request.method
        switch hop.request.body {
        case .none where method == .head: easy.set(CURLOPT_NOBODY, 1)
        case .none where method == .get: easy.set(CURLOPT_HTTPGET, 1)
        case .none where method != .post && method != .put && method != .patch:
            easy.set(CURLOPT_HTTPGET, 1)
            easy.set(CURLOPT_CUSTOMREQUEST, method.rawValue)
        case .none: setSmallBody([], easy)
        // libcurl sends a body below 64 KiB together with the head, one packet, one system call, and asks nobody for it:
        // not where a rate says when it may go.
        case .bytes(let bytes) where bytes.count < 60 << 10 && allotment.throttle?.limits.sendRate == nil:
            setSmallBody(bytes, easy)
        default: setStreamedBody(easy, configuration)
        }
    }

    private func setSmallBody(_ bytes: [UInt8], _ easy: EasyHandle) {
        easy.set(CURLOPT_POST, 1)
        easy.set(CURLOPT_POSTFIELDSIZE_LARGE, offset: Int64(bytes.count))
        if bytes.isEmpty {
            easy.set(CURLOPT_COPYPOSTFIELDS, "")
        } else {
            bytes.withUnsafeBytes { easy.set(CURLOPT_COPYPOSTFIELDS, pointer: $0.baseAddress!) }
        }
        if hop.request.method != .post { easy.set(CURLOPT_CUSTOMREQUEST, hop.request.method.rawValue) }
    }

    private func setStreamedBody(_ easy: EasyHandle, _ configuration: CurlConfiguration) {
        let length = hop.request.body.length
        let fitting = max(64 << 10, Int(min(length, Int64(share(of: configuration.sendBufferBytes)))))
        easy.set(CURLOPT_UPLOAD, 1)
        easy.set(CURLOPT_INFILESIZE_LARGE, offset: length)
        easy.set(CURLOPT_UPLOAD_BUFFERSIZE, min(fitting, 2 << 20))
        if hop.request.method != .put { easy.set(CURLOPT_CUSTOMREQUEST, hop.request.method.rawValue) }
    }

    private func setHeaders(_ easy: EasyHandle) {
        var lines = ["Expect:"]  // Many servers never answer 100-continue, and libcurl would wait a second for it.
        for field in hop.request.headers {
            lines.append(field.value.isEmpty ? "\(field.name.rawName);" : "\(field.name.rawName): \(field.value)")
        }
        // libcurl would call the body of a POST a form, also one that is not there.
        if hop.request.headers[.contentType] == nil { lines.append("Content-Type:") }
        if hop.request.headers[.acceptEncoding] == nil { lines.append("Accept-Encoding: \(options.codingsAskedFor)") }
        let list = HeaderList(lines)
        hop.headerList = list
        ccurl_set_list(easy.pointer, CURLOPT_HTTPHEADER, list.first)
    }

    private func setTLS(_ easy: EasyHandle) {
        var tls = options.tls
        if !hop.showsCertificate { tls.forgetIdentity() }
        if let file = tls.ca { easy.trust(onlyFile: file) }
        if let file = tls.certificate { easy.set(CURLOPT_SSLCERT, file) }
        if let file = tls.key { easy.set(CURLOPT_SSLKEY, file) }
        if let password = tls.keyPassword { easy.set(CURLOPT_KEYPASSWD, password) }
        if !tls.pinnedPublicKeys.isEmpty {
            easy.set(CURLOPT_PINNEDPUBLICKEY, tls.pinnedPublicKeys.joined(separator: ";"))
        }
        switch tls.minimumVersion {
        case .tls13: easy.set(CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_3)
        case .tls12, nil: easy.set(CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2)
        }
    }
}
