package import JSONPath

/// One row of what a batch is read from, before its values are checked.
package struct ItemRow: Sendable, Equatable {
    /// The place where the row begins: the line of a file or of standard input, from 1; nil for files that a pattern
    /// found.
    package let line: Int?
    package let content: Content

    /// The content of a row.
    package enum Content: Sendable, Equatable {
        /// A value of the input that the source names: a path or a line.
        case value(String)
        /// The fields of a table's row, in the order of its header; texts as `-i` reads them.
        case fields([String])
        /// The members of a JSON object.
        case members(JSONObject)
        /// The row can't be read; one sentence that says why.
        case bad(String)
        /// The name of a file is no text; as it can be shown.
        case badName(String)
    }

    package init(line: Int?, content: Content) {
        self.line = line
        self.content = content
    }
}

/// Reads the rows of a source one after the other.
///
/// Belongs to one reader and is used by one thread at a time. Memory is that of one row and one block.
package protocol ItemReader: AnyObject {
    /// The next row; nil at the end.
    ///
    /// - Throws: ``ItemSourceError`` when the source itself can't be read any further.
    func next() throws(ItemSourceError) -> ItemRow?

    /// The place where reading goes on after the row that was given last: a byte of the source, or for files the last
    /// path. A reader that is given it passes over what came before.
    var place: ItemPlace { get }

    /// Has `body` called before the rest of a row is waited for, of a pipe in which nothing is now.
    func willWait(_ body: @escaping () -> Void)
}

/// The place up to which a source was read.
package enum ItemPlace: Sendable, Equatable {
    /// The byte at which the next row begins, and its line from 1.
    case byte(Int64, line: Int)
    /// The path that was given last.
    case path(String)
}
