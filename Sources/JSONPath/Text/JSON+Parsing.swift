extension JSON {
    /// The treatment of a name that stands twice in an object (RFC 8259, section 4, leaves it open).
    public enum DuplicateNames: Sendable, Hashable {
        /// The last value counts, at the place of the first, as most parsers do.
        case lastWins
        case error
    }

    /// Reads a document as strictly as RFC 8259 has it: no comments, no trailing commas, UTF-8 only.
    ///
    /// For answers of servers. One pass over contiguous bytes; a byte-order mark is skipped (section 8.1). Half of a
    /// surrogate pair, which the grammar allows and no text has (section 8.2), becomes U+FFFD: servers write it where they
    /// cut a text, and what is looked for stands mostly elsewhere.
    /// - Parameter maximumDepth: how deeply arrays and objects may be nested; never more than ``deepestNesting``.
    public static func parse(
        _ bytes: some Collection<UInt8>, maximumDepth: Int = deepestNesting, duplicates: DuplicateNames = .lastWins
    ) throws(JSONSyntaxError) -> JSON {
        let result = bytes.withContiguousStorageIfAvailable { buffer in
            JSONParser.parse(buffer, maximumDepth: min(maximumDepth, deepestNesting), duplicates: duplicates)
        }
        if let result { return try result.get() }
        return try parse(Array(bytes), maximumDepth: maximumDepth, duplicates: duplicates)
    }

    /// Reads a document from text, by the same rules.
    public static func parse(
        _ text: String, maximumDepth: Int = deepestNesting, duplicates: DuplicateNames = .lastWins
    ) throws(JSONSyntaxError) -> JSON {
        var text = text
        return try text.withUTF8 { buffer in
            JSONParser.parse(buffer, maximumDepth: min(maximumDepth, deepestNesting), duplicates: duplicates)
        }.get()
    }

    /// Reads what a program keeps itself, by the same rules, as deeply nested as ``deepestKept``.
    package static func parseKept(_ bytes: some Collection<UInt8>) throws(JSONSyntaxError) -> JSON {
        let result = bytes.withContiguousStorageIfAvailable { buffer in
            JSONParser.parse(buffer, maximumDepth: deepestKept, duplicates: .lastWins)
        }
        if let result { return try result.get() }
        return try parseKept(Array(bytes))
    }

    /// Returns the same of a text; nil for one that is no JSON.
    package static func kept(_ text: String) -> JSON? {
        var text = text
        return text.withUTF8 { try? parseKept($0) }
    }
}
