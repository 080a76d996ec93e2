/// The way to an element: `/CompleteMultipartUploadResult/ETag`, names without prefixes, from the root.
struct XMLPath: Sendable, Hashable {
    let steps: [String]

    /// Nil when the text is no such path.
    init?(_ text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count > 1, parts[0].isEmpty else { return nil }
        steps = parts.dropFirst().map { part in String(part.split(separator: ":").last ?? "") }
        guard steps.allSatisfy(Self.isName) else { return nil }
    }

    private static func isName(_ step: String) -> Bool {
        !step.isEmpty
            && step.utf8.allSatisfy { byte in
                ExpressionLexer.isNamePart(byte) || byte == 0x2D || byte == 0x2E || byte >= 0x80
            }
    }

    /// The text of each such element in the order of the document, its descendants' included, without the white space
    /// around it.
    func texts(in bytes: [UInt8]) throws(XMLFailure) -> [String] {
        var scanner = XMLScanner(bytes)
        var search = XMLPathSearch(steps: steps)
        while let event = try scanner.next() { search.take(event) }
        return search.texts
    }

    /// Returns whether the root of a document is the element that the path begins with.
    func beginsAtRoot(of bytes: [UInt8]) throws(XMLFailure) -> Bool {
        var scanner = XMLScanner(bytes)
        var root: String?
        while let event = try scanner.next() {
            if root == nil, case .start(let name) = event { root = name }
        }
        return root == steps[0]
    }
}

/// Follows a path through the events of a document without building a tree.
private struct XMLPathSearch {
    let steps: [String]
    private(set) var texts: [String] = []
    private var depth = 0
    /// The number of the open elements, from the root, that are those of the path.
    private var matched = 0
    private var text: [UInt8] = []

    init(steps: [String]) { self.steps = steps }

    mutating func take(_ event: XMLScanner.Event) {
        switch event {
        case .start(let name):
            if matched == depth, depth < steps.count, name == steps[depth] { matched += 1 }
            depth += 1
        case .text(let bytes): if matched == steps.count { text += bytes }
        case .end:
            depth -= 1
            if matched == steps.count, depth == steps.count - 1 {
                texts.append(Self.trimmed(text))
                text = []
            }
            matched = min(matched, depth)
        }
    }

    private static func trimmed(_ bytes: [UInt8]) -> String {
        let start = bytes.drop(while: XMLScanner.isSpace)
        let end = start.lastIndex { !XMLScanner.isSpace($0) }.map { $0 + 1 } ?? start.startIndex
        return String(decoding: start[..<end], as: UTF8.self)
    }
}
