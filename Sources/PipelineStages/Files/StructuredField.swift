import RawStructuredFieldValues

/// Values of structured fields (RFC 9651) of the few types that transfers need; nil for anything else.
enum StructuredField {
    /// `123`
    static func integer(_ text: String) -> Int64? {
        guard case .integer(let number)? = item(text) else { return nil }
        return number
    }

    /// `?1`
    static func boolean(_ text: String) -> Bool? {
        guard case .bool(let flag)? = item(text) else { return nil }
        return flag
    }

    /// A dictionary whose values are whole numbers; nil as soon as one is something else.
    static func integers(_ text: String) -> [String: Int64]? {
        guard let entries = dictionary(text) else { return nil }
        var numbers: [String: Int64] = [:]
        for (key, value) in entries {
            guard case .integer(let number) = value else { return nil }
            numbers[key] = number
        }
        return numbers
    }

    /// The byte sequences of a dictionary, in base64 as they stand; members of other types are left out.
    static func byteSequences(_ text: String) -> [String: String] {
        var sequences: [String: String] = [:]
        for case (let key, .undecodedByteSequence(let bytes)) in dictionary(text) ?? [] { sequences[key] = bytes }
        return sequences
    }

    private static func item(_ text: String) -> RFC9651BareItem? {
        var parser = StructuredFieldValueParser(Array(text.utf8))
        return (try? parser.parseItemFieldValue())?.rfc9651BareItem
    }

    private static func dictionary(_ text: String) -> [(key: String, value: RFC9651BareItem)]? {
        var parser = StructuredFieldValueParser(Array(text.utf8))
        guard let entries = try? parser.parseDictionaryFieldValue() else { return nil }
        return entries.compactMap { key, value in
            guard case .item(let item) = value else { return nil }
            return (key, item.rfc9651BareItem)
        }
    }
}
