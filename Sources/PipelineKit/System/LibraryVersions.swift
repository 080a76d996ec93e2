import PipelineHTTP
import PipelineJournal

/// The versions of the C libraries that are loaded, which need not be those that were compiled with.
package struct LibraryVersions: Sendable, Hashable {
    package let curl: String
    package let sqlite: String
    /// The one that libcurl unpacks answers with.
    package let zlib: String

    package static var ofThisProcess: LibraryVersions {
        let transfers = CurlTransport.libraryVersions
        return LibraryVersions(
            curl: transfers.curl, sqlite: SQLiteJournal.libraryVersion, zlib: transfers.zlib ?? "none")
    }
}
