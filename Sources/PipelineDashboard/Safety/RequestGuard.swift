import PipelineKit
import PipelineServer

/// The rules that each request must keep before anything is looked at. They hold for a listener whose port every user of
/// the machine can reach, and which a page from anywhere can make a person's browser send to.
struct RequestGuard: Sendable {
    /// The first label of the address for people: `NAME.localhost`. Nobody else can know it: to who knows it, and serves
    /// another port of it, a browser would send our cookie.
    let name: String
    let port: Int
    /// The literal address that it listens on, when that is not loopback.
    let boundHost: String?
    /// The hosts that a proxy in front of it names, with or without a port.
    let allowedHosts: [String]
    /// The token that programs bring as a Bearer; nil when none may.
    let token: String?

    enum Verdict: Equatable {
        /// A program with the token: nothing of a browser's rules holds for it.
        case program
        /// A browser at an address for people, which must show its cookie.
        case person
        /// A browser of our own user at an address for programs: it belongs to the one for people.
        case sendOn(to: String)
        case refuse(status: Int, reason: String)
    }

    func verdict(on request: IncomingRequest) -> Verdict {
        guard request.target.hasPrefix("/"), !request.target.hasPrefix("//") else {
            return .refuse(status: 400, reason: "the target is no path")
        }
        guard let host = request.value("Host")?.lowercased() else {
            return .refuse(status: 400, reason: "one Host is needed")
        }
        // A name of another site that leads here makes its pages same-origin with us (DNS rebinding).
        guard isForPeople(host) || isForPrograms(host) else {
            return .refuse(status: 421, reason: "this is not \(host)")
        }
        if let given = bearer(of: request) {
            guard let token, SecretText.isSame(given, as: token) else {
                return .refuse(status: 401, reason: "the token is not the one of --token-file")
            }
            return .program
        }
        guard isForPeople(host) else {
            let isBrowser =
                request.isSafe
                && (request.value("Sec-Fetch-Mode") == "navigate"
                    || request.values("Accept").contains { $0.contains("text/html") })
            guard isBrowser else {
                return .refuse(status: 401, reason: "a program needs the token of --token-file, as a Bearer")
            }
            guard request.isOfOwnUser() else {
                return .refuse(
                    status: 401, reason: "these pages are opened by a link: type 'pipeline dashboard' in a terminal")
            }
            return .sendOn(to: "http://\(ownHost)")
        }
        if !request.isSafe, !isOurOwn(request, host) {
            return .refuse(status: 403, reason: "another site asked for this")
        }
        return .person
    }

    /// The host and port of the address for people.
    var ownHost: String { "\(name).localhost\(port == 80 ? "" : ":\(port)")" }

    private func bearer(of request: IncomingRequest) -> String? {
        guard let value = request.value("Authorization"), value.lowercased().hasPrefix("bearer ") else { return nil }
        return value.dropFirst(7).trimmingPrefix(" ").description
    }

    private func isForPeople(_ host: String) -> Bool { host == ownHost || allowedHosts.contains(host) }

    private func isForPrograms(_ host: String) -> Bool {
        let own = ["127.0.0.1", "[::1]", "localhost"] + (boundHost.map { [$0.contains(":") ? "[\($0)]" : $0] } ?? [])
        return own.contains { host == "\($0):\(port)" || (port == 80 && host == $0) }
    }

    /// Returns whether a page of ours sent it. A browser says so itself (Fetch Metadata Request Headers); one that does
    /// not names the origin of the page.
    private func isOurOwn(_ request: IncomingRequest, _ host: String) -> Bool {
        let sites = request.values("Sec-Fetch-Site")
        guard sites.isEmpty else { return sites == ["same-origin"] }
        guard let origin = request.value("Origin") else { return false }
        // In front of a name that was allowed stands a proxy, and it may speak TLS.
        return origin == "http://\(host)" || (allowedHosts.contains(host) && origin == "https://\(host)")
    }
}
