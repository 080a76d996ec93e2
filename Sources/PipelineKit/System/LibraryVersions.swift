import PipelineHTTP
import PipelineJournal

/// The versions of the C libraries that are loaded, which need not be those that were compiled with.
public struct LibraryVersions: Sendable, Hashable {
    public let curl: String
    public let sqlite: String
    /// The one that libcurl unpacks answers with.
    public let zlib: String

    public static var ofThisProcess: LibraryVersions {
        let transfers = CurlTransport.libraryVersions
        return LibraryVersions(
            curl: transfers.curl, sqlite: SQLiteJournal.libraryVersion, zlib: transfers.zlib ?? "none")
    }
}
