import Synchronization

/// Digests of local files that a transfer has made out on its way, so that nobody reads the file for them again.
///
/// One process's memory: what is not here is read from the file. A digest holds for one state of a file only.
package final class DigestCache: Sendable {
    private struct Entry {
        let version: SourceVersion
        let digest: [UInt8]
    }

    private static let maximumEntries = 4096
    private let entries = Mutex<[String: Entry]>([:])

    package init() {}

    /// The SHA-256 of the file at an absolute path as it is now; nil when it is not known.
    package func sha256(ofFileAt path: String) -> [UInt8]? {
        let entry = entries.withLock { $0[path] }
        guard let entry, SourceVersion(path) == entry.version else { return nil }
        return entry.digest
    }

    func note(_ digest: [UInt8], of path: String, _ version: SourceVersion) {
        entries.withLock { entries in
            if entries.count >= Self.maximumEntries { entries = [:] }
            entries[path] = Entry(version: version, digest: digest)
        }
    }
}
