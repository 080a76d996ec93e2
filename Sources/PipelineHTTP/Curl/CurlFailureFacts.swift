import CLibrary
import CCurl

/// The facts that libcurl tells about a failed transfer, and what they mean.
///
/// Codes: https://curl.se/libcurl/c/libcurl-errors.html.
struct CurlFailureFacts {
    let code: CURLcode
    let text: String
    let errno: Int32
    /// OpenSSL's `X509_V_ERR_…`; zero when the chain is good.
    let verifyResult: Int
    let isConnected: Bool
    let hasTotalTimeoutPassed: Bool
    /// True when 1xx answers came.
    let wasInformed: Bool
    /// Host and port that the request is for, without brackets.
    let target: String
    /// The proxy that may be in between.
    let proxy: CurlProxy?
    /// The status of a proxy's answer to CONNECT; zero for none.
    let connectStatus: Int

    var reason: ExchangeFailure.Reason {
        if let failure = proxyFailure { return .proxy(proxy?.name ?? "", failure) }
        return switch code {
        case CURLE_COULDNT_RESOLVE_HOST: .nameNotResolved
        case CURLE_COULDNT_CONNECT: errno == ECONNREFUSED ? .connectionRefused : .unreachable
        case CURLE_OPERATION_TIMEDOUT: .timedOut(isConnected || hasTotalTimeoutPassed ? .total : .connect)
        case CURLE_GOT_NOTHING, CURLE_PARTIAL_FILE: .closedEarly
        case CURLE_RECV_ERROR where isHeadTooLarge: wasInformed ? .connectionReset : .protocolError
        case CURLE_SEND_ERROR, CURLE_RECV_ERROR: isTLSAlert ? .tls(.other) : .connectionReset
        case CURLE_HTTP2, CURLE_HTTP2_STREAM, CURLE_SEND_FAIL_REWIND: .connectionReset
        case CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY: .protocolError
        case CURLE_BAD_CONTENT_ENCODING: .undecodable
        case CURLE_OUT_OF_MEMORY: .outOfResources(errno: ENOMEM)
        case CURLE_URL_MALFORMAT: .invalidRequest(text)
        default: tlsReason ?? .other(code: Int(code.rawValue), text: text)
        }
    }

    /// The failure of a proxy; nil where none is the cause.
    private var proxyFailure: ExchangeFailure.ProxyFailure? {
        if code == CURLE_COULDNT_RESOLVE_PROXY { return .nameNotResolved }
        if code == CURLE_PROXY { return .noPassage }
        if connectStatus >= 300 { return .refused(status: connectStatus) }
        guard code == CURLE_COULDNT_CONNECT, proxy != nil else { return nil }
        if text.contains("Unsupported proxy") { return .unsupported }
        guard isBoundForProxy else { return nil }
        return errno == ECONNREFUSED ? .connectionRefused : .unreachable
    }

    /// True when libcurl's words name another place than the request's; newer ones name both.
    private var isBoundForProxy: Bool {
        if text.contains(#/ via \S+ after/#) { return true }
        guard let match = text.firstMatch(of: /connect to (?<name>\S+) port (?<port>\d+)/) else { return false }
        return "\(match.name):\(match.port)".lowercased() != target
    }

    private var tlsReason: ExchangeFailure.Reason? {
        switch code {
        case CURLE_PEER_FAILED_VERIFICATION: .tls(verification)
        case CURLE_SSL_PINNEDPUBKEYNOTMATCH: .tls(.pinMismatch)
        case CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER, CURLE_SSL_CRL_BADFILE:
            .tls(.localFile)
        case CURLE_SSL_CONNECT_ERROR:
            isBrokenHandshake ? .connectionReset : .tls(isAnsweredWithoutTLS ? .notSpoken : .other)
        case CURLE_USE_SSL_FAILED, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_INVALIDCERTSTATUS: .tls(.other)
        default: nil
        }
    }

    /// https://docs.openssl.org/3.0/man3/X509_STORE_CTX_get_error: 9 not yet valid, 10 expired, the rest a chain that
    /// leads nowhere. A good chain that fails all the same, or one not yet judged (1), is for another host.
    private var verification: ExchangeFailure.TLSFailure {
        switch verifyResult {
        case 0, 1: .wrongHost
        case 9: .notYetValid
        case 10: .expired
        case 2, 18, 19, 20, 21: .unknownAuthority
        default: .other
        }
    }

    private var isBrokenHandshake: Bool {
        text.contains("SYSCALL") || text.contains("unexpected eof") || text.contains("reset by peer")
    }

    /// True when the first bytes that came are no record of TLS, in the words of OpenSSL and of GnuTLS. With a proxy they
    /// are the service's once the proxy has made a connection.
    private var isAnsweredWithoutTLS: Bool {
        guard proxy == nil || connectStatus != 0 else { return false }
        let words = ["wrong version number", "packet length too long", "unknown protocol", "unexpected TLS packet"]
        return words.contains { text.contains($0) }
    }

    /// libcurl counts the 1xx answers of a transfer towards its limit of 300 KiB: after some thousand of them a long
    /// upload is cut off, and may be resumed like any other.
    private var isHeadTooLarge: Bool {
        text.contains("Too large response headers")
    }

    private var isTLSAlert: Bool {
        text.contains("alert")
    }
}
