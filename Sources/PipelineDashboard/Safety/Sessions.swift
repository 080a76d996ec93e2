import PipelineCore
import PipelineKit
import Synchronization

/// The people who have signed in: links that work once, and the cookies that they were changed for. All of it is in
/// memory alone; after a restart a new link is asked for.
final class Sessions: Sendable {
    private struct State {
        var links: [(key: String, made: Timestamp)] = []
        var cookies: [String] = []
    }

    /// The name of the cookie of a listener: a browser sends the cookies of a host to all its ports (RFC 6265, section 8.5).
    static func cookieName(at port: Int) -> String { "pipeline_session_\(port)" }
    /// The time for which a link waits to be opened.
    private static let patience = Duration.seconds(600)
    private static let (linkLimit, cookieLimit) = (16, 64)
    private let state = Mutex(State())

    /// The key of a new link.
    func makeLink(at now: Timestamp) -> String {
        let key = Self.random()
        state.withLock { state in
            state.links.append((key, now))
            if state.links.count > Self.linkLimit { state.links.removeFirst() }
        }
        return key
    }

    /// The value of a new cookie for a link's key; nil for one that is unknown, used, or too old.
    func open(_ key: String, at now: Timestamp) -> String? {
        state.withLock { state in
            state.links.removeAll { now - $0.made > Self.patience }
            guard let place = state.links.firstIndex(where: { SecretText.isSame(key, as: $0.key) }) else { return nil }
            state.links.remove(at: place)
            let cookie = Self.random()
            state.cookies.append(cookie)
            if state.cookies.count > Self.cookieLimit { state.cookies.removeFirst() }
            return cookie
        }
    }

    func isKnown(_ cookies: [String]) -> Bool {
        let known = state.withLock { $0.cookies }
        return cookies.prefix(4).contains { given in known.contains { SecretText.isSame(given, as: $0) } }
    }

    /// 256 bits that nobody can guess, in hex.
    static func random() -> String {
        var generator = SystemRandomNumberGenerator()
        return (0..<4).map { _ in
            let text = String(generator.next() as UInt64, radix: 16)
            return String(repeating: "0", count: 16 - text.count) + text
        }.joined()
    }
}
