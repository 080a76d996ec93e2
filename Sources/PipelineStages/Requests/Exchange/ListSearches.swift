import JSONPath
import PipelineHTTP
import Synchronization

/// The searches through lists with pages that were broken off, for instance by a service that takes no requests for a while:
/// each goes on at the page reached.
///
/// One process's memory: a search that is not here begins with the first page.
final class ListSearches: Sendable {
    /// The part of a list that was seen, and what was found there.
    struct Progress: Sendable {
        var walk = PageWalk()
        /// The cursor of the next page, of its JSON type.
        var cursor: JSON?
        /// The entries that were looked for, each once: a list that grows meanwhile shows some twice.
        var matches: [JSON] = []
    }

    private static let maximumEntries = 1024
    private let entries = Mutex<[String: Progress]>([:])

    /// Takes a search out that goes on; nil for one that begins.
    func take(_ key: String) -> Progress? { entries.withLock { $0.removeValue(forKey: key) } }

    /// Keeps a search that was broken off.
    func keep(_ progress: Progress, of key: String) {
        guard progress.walk.pages > 0 else { return }
        entries.withLock { entries in
            if entries.count >= Self.maximumEntries { entries = [:] }
            entries[key] = progress
        }
    }
}
