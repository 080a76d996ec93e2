import PipelineHTTP

/// The advice to a person about an exchange that gave no whole response.
struct ExchangeAdvice {
    /// The other side, as messages call it.
    let name: String
    /// True if it is a service of the document, and not an address of a request.
    let isService: Bool
    /// True if the document names a proxy for it.
    let hasOwnProxy: Bool

    /// The advice about a body that is made from a secret, and would go where credentials may not.
    static let secretBody = "\"credentials\": \"any-origin\" lets it go there"
    /// The advice about captures that expire before a request that reads them has its turn.
    static let longLine =
        "requests wait longer for their turn than that is good for: raise \"limits\", or lower --at-once"

    /// Returns the advice; nil where none is better than another try.
    func text(after reason: ExchangeFailure.Reason) -> String? {
        let owner = isService ? "the url of \(name)" : "the URL of the request"
        switch reason {
        case .nameNotResolved: return "check the network and \(owner)"
        case .connectionRefused: return "is the service running? check \(owner)"
        case .unreachable: return "check the network and \(owner)"
        case .proxy(_, let problem):
            let place =
                !hasOwnProxy
                ? "http_proxy, https_proxy, all_proxy and no_proxy in the environment" : "\"proxy\" of \(name)"
            return problem == .refused(status: 407)
                ? "its URL has to bring user and password: check \(place)" : "check \(place)"
        case .tls(.localFile): return "check \"tls\" of \(name)"
        case .tls(.unknownAuthority): return "name its authority in \"tls\": { \"ca\": … } if you trust it"
        case .tls(.expired), .tls(.notYetValid):
            return "check the clock of this machine; otherwise its owner must renew it"
        case .tls(.wrongHost): return "check \(owner)"
        case .tls(.notSpoken): return "does it speak http:// and not https://? check \(owner)"
        case .tls(.pinMismatch): return "if the service has a new key, change \"pinnedPublicKeys\""
        case .tls(.pinWithoutTLS): return "only https has keys: check \(owner), and where it redirects to"
        case .timedOut(.total): return "a longer \"timeout\" may help"
        case .bodyTooLarge: return "a 'download' stage takes bodies of any size"
        case .tooManyRedirects: return "a larger number in \"redirects\" may help"
        case .redirectRefused: return "only http and https are followed: check \(owner)"
        case .bodyWithheld: return Self.secretBody
        case .tokenRefused:
            return
                "check tokenURL, clientID, clientSecret and scope of \"oauth2\"; a refresh token that has ended needs a "
                + "new one, by a login"
        case .addressRefused:
            return "\"network\": \"public\" of \(name) keeps private addresses out; leave it out if this one is meant"
        case .outOfResources(ExchangeFailure.noLibrary):
            return "install libcurl: 'apt install libcurl4', on Fedora 'dnf install libcurl'"
        case .outOfResources: return "it is tried again; a larger 'ulimit -n' lets more go on at once"
        case .foreignCoding:
            return "it was not asked for: see what the service, or a proxy before it, makes of Accept-Encoding"
        case .protocolError: return "check the port and scheme in \(owner)"
        default: return nil
        }
    }
}
