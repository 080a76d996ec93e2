import CLibrary

/// The words for a failure in plain English.
enum FailureText {
    /// - Parameter detail: libcurl's own words, added in brackets when there are any.
    static func message(_ reason: ExchangeFailure.Reason, host: String, detail: String) -> String {
        let text = sentence(reason, host: host.forDisplay)
        return detail.isEmpty ? "\(text)." : "\(text) (\(detail.forDisplay))."
    }

    private static func sentence(_ reason: ExchangeFailure.Reason, host: String) -> String {
        switch reason {
        case .cancelled: "The request was cancelled"
        case .nameNotResolved: "The name of \(host) could not be resolved"
        case .connectionRefused: "\(host) refused the connection"
        case .unreachable: "\(host) could not be reached"
        case .proxy(let name, let failure): proxy(failure, name.isEmpty ? "proxy" : "proxy \(name.forDisplay)", host)
        case .tls(let failure): tls(failure, host)
        case .timedOut(.connect): "Connecting to \(host) took too long"
        case .timedOut(.total): "The exchange with \(host) took too long"
        case .timedOut(.idle): "Nothing moved to or from \(host) for too long"
        case .timedOut(.stall): "The transfer with \(host) had become too slow and was cut"
        case .connectionReset: "The connection to \(host) was lost"
        case .closedEarly: "\(host) closed the connection before its answer was complete"
        case .answeredEarly(let response): "\(host) answered \(response.status) before it had the whole body"
        case .protocolError: "\(host) answered with something that is not valid HTTP"
        case .undecodable: "The content coding of what \(host) answered is damaged"
        case .foreignCoding(let coding, let status):
            "\(host) answered \(status) in the content coding '\(coding.forDisplay)', which is not undone here"
        case .held: "\(host) takes no requests now"
        case .outOfResources(let code): "This machine could not begin the exchange with \(host): \(words(code))"
        case .addressRefused(let address): "\(host) leads to \(address), which is no public address"
        case .localRead(let code, let path): "\(path) could not be read: \(words(code))"
        case .sourceChanged(let path): "\(path) is shorter than it was when the transfer began"
        case .localWrite(let code, let path):
            "\(path.isEmpty ? "The file for the answer" : path) could not be written: \(words(code))"
        case .bodyTooLarge: "The answer of \(host) is too large to be kept in memory"
        case .tooManyRedirects: "\(host) redirected too many times"
        case .redirectRefused(let location): "\(host) redirected to \(location.forDisplay), which is not followed"
        case .bodyWithheld(let origin):
            "\(host) redirected to \(origin.forDisplay), and the body is made from a secret, which may not go there"
        case .invalidRequest(let text): "The request is not valid: \(text)"
        case .notReady(let text): "The request can't be put together now: \(text)"
        case .tokenRefused(let status): "The token endpoint for \(host) gave no token (\(status))"
        case .tokenUnavailable(let status, _): "The token endpoint for \(host) gives no token now (\(status))"
        case .other: "The exchange with \(host) failed"
        }
    }

    private static func tls(_ failure: ExchangeFailure.TLSFailure, _ host: String) -> String {
        switch failure {
        case .expired: "The certificate of \(host) has expired"
        case .notYetValid: "The certificate of \(host) is not valid yet"
        case .wrongHost: "The certificate is not for \(host)"
        case .unknownAuthority: "The certificate of \(host) comes from an authority that is not trusted here"
        case .pinMismatch: "The public key of \(host) is not one of those pinned"
        case .pinWithoutTLS: "Keys are pinned, and \(host) would be reached without TLS"
        case .notSpoken: "\(host) does not speak TLS"
        case .localFile: "A local certificate or key file could not be used"
        case .other: "No secure connection to \(host) could be made"
        }
    }

    private static func proxy(_ failure: ExchangeFailure.ProxyFailure, _ proxy: String, _ host: String) -> String {
        switch failure {
        case .nameNotResolved: "The name of the \(proxy) could not be resolved"
        case .connectionRefused: "The \(proxy) refused the connection to \(host)"
        case .unreachable: "The \(proxy) could not be reached"
        case .noPassage: "The \(proxy) made no connection to \(host)"
        case .refused(let status): "The \(proxy) refused the way to \(host) with \(status)"
        case .unsupported: "The \(proxy) has a URL with a scheme by which no proxy is reached"
        }
    }

    private static func words(_ code: Int32) -> String {
        String(cString: strerror(code))
    }
}
