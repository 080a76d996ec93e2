import PipelineCore

/// The content of a page that is kept.
enum PageContent: Sendable {
    /// The entries of a list.
    case items(PageItems)
    /// Its text, such as CSV, without its first lines: those stand in the first page already.
    case text(skipLines: Setting<Int>)

    /// The entries of a list; nil for text.
    var items: PageItems? { if case .items(let items) = self { items } else { nil } }
}

/// The text of one page.
struct PageText: Sendable {
    /// The lines that are kept, each with its line feed.
    let kept: [UInt8]
    /// The number of lines that it has beyond those that each page begins with.
    let count: Int

    init(_ body: [UInt8], isFirst: Bool, skipLines: Int) {
        var bytes = body
        if let last = bytes.last, last != UInt8(ascii: "\n") { bytes.append(UInt8(ascii: "\n")) }
        var start = 0
        for _ in 0..<skipLines {
            guard let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) else { break }
            start = end + 1
        }
        count = bytes[start...].count { $0 == UInt8(ascii: "\n") }
        kept = isFirst ? bytes : Array(bytes[start...])
    }
}
