import PipelineHTTP

/// The place up to which a list of pages was fetched, and where its items are.
struct PagingCheckpoint: Codable, Sendable, Equatable {
    var walk = PageWalk()
    /// The digest of the request of the first page; nil in checkpoints of 0.1.0.
    var request: String?
    /// How the pages are told apart, as the document had it (``PaginateDefinition/course``); nil in older checkpoints.
    var course: String?
    /// The most pages that ever had come: only more than these are progress, however often they come.
    var farthest: Int?
    /// The cursor of the next page as JSON, when it is no text.
    var cursor: String?
    /// The file that the items go to; nil when they are kept here or nobody wants them.
    var target: String?
    /// The path of the part; nil for the target's with `.part`.
    var part: String?
    /// The number of bytes of the part that count; what stands after them was not committed.
    var length: Int64 = 0
    /// The SHA-256 of these bytes in hex: it tells whether the part is still ours.
    var digest: String?
    /// The items as JSON Lines, when there is no file.
    var kept: String?
    /// True if the part is whole; what is left is its name.
    var isWhole = false

    var partPath: String? { part ?? target.map { $0 + ".part" } }
}
