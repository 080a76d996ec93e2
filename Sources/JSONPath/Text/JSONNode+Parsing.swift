/// The result of reading a definition's text: the tree as far as it can be trusted, and every mistake that was found.
public struct JSONReading: Sendable {
    /// The tree; nil when a mistake left no way to go on. Beside ``errors`` it is only fit for finding more mistakes.
    public let node: JSONNode?
    /// The mistakes in the order of their places; empty when the text is sound.
    public let errors: [JSONSyntaxError]
}

extension JSONNode {
    /// Reads a definition: JSON with `//` and `/* */` comments and trailing commas, each value with its place.
    ///
    /// A byte-order mark is skipped. Names that stand twice in an object are errors, all of them reported; so are the
    /// mistakes that can be read over (a missing comma, single quotes, `True`), up to the first that can't.
    /// - Parameter maximumDepth: how deeply arrays and objects may be nested; never more than ``JSON/deepestNesting``.
    public static func parse(
        _ source: SourceText, maximumDepth: Int = JSON.deepestNesting
    ) throws(JSONSyntaxErrors) -> JSONNode {
        let reading = read(source, maximumDepth: maximumDepth)
        guard reading.errors.isEmpty, let node = reading.node else { throw JSONSyntaxErrors(errors: reading.errors) }
        return node
    }

    /// Reads a definition by the same rules and gives the tree also when there are mistakes that can be read over,
    /// so that a caller can report them together with those of its own.
    public static func read(_ source: SourceText, maximumDepth: Int = JSON.deepestNesting) -> JSONReading {
        source.bytes.withUnsafeBufferPointer { bytes in
            var parser = JSONNodeParser(
                bytes, lineNumber: source.lineNumber, maximumDepth: min(maximumDepth, JSON.deepestNesting))
            return parser.reading()
        }
    }
}
