import JSONPath
import PipelineCore
import PipelineHTTP

extension ExchangeFailure {
    /// The sentence as a clause: without its full stop and the capital of an article, and without libcurl's words in
    /// brackets where they say nothing more.
    var clause: String {
        var bare = message.hasSuffix(".") ? message.dropLast() : Substring(message)
        switch reason {
        // A proxy that makes no connection has words of its own.
        case .proxy(_, .noPassage): break
        case .connectionRefused, .nameNotResolved, .invalidRequest, .proxy:
            if let bracket = bare.firstRange(of: " (") { bare = bare[..<bracket.lowerBound] }
        default: break
        }
        for word in ["The ", "A ", "No ", "Nothing ", "Connecting "] where bare.hasPrefix(word) {
            return bare.prefix(1).lowercased() + bare.dropFirst()
        }
        return String(bare)
    }

    /// True if the service has no part in it: it happened on this machine, or at a proxy.
    var sparesService: Bool {
        switch reason {
        case .proxy, .localRead, .localWrite, .sourceChanged, .outOfResources, .addressRefused, .invalidRequest,
            .notReady, .tokenRefused, .tokenUnavailable, .bodyWithheld, .tls(.localFile):
            true
        case .cancelled, .nameNotResolved, .connectionRefused, .unreachable, .tls, .timedOut, .connectionReset,
            .closedEarly, .answeredEarly, .protocolError, .undecodable, .foreignCoding, .held, .bodyTooLarge,
            .tooManyRedirects, .redirectRefused, .other:
            false
        }
    }

    /// True if the request did not go out, for its token was not to be had.
    var isOfToken: Bool {
        switch reason {
        case .tokenRefused, .tokenUnavailable: true
        default: false
        }
    }

    /// How long the token endpoint wants to be left alone; nil for any other failure.
    var tokenWait: Duration? { if case .tokenUnavailable(_, let wait) = reason { wait } else { nil } }

    /// True if the time for the exchange was over while a body was on its way.
    var isTooLong: Bool {
        guard reason == .timedOut(.total) else { return false }
        return gotAnswer || requestBytesSent > 0 && requestBytesSent < requestBodyLength ?? 0
    }

    /// True when no service has got the request, or the one that has got it sent it on elsewhere.
    var cannotHaveArrived: Bool {
        if case .bodyWithheld = reason { return true }
        return !connectionMade
    }

    /// The meaning for another attempt.
    var kind: AttemptFailure.Kind {
        switch reason {
        // Something answered: a stranger on the way, or a program of this machine. A token endpoint that is out of order is
        // none: that passes, and costs no job its attempts.
        case .answeredEarly, .protocolError, .undecodable, .other, .notReady: .answered
        default: isRetryable ? .silent : .definite
        }
    }
}
