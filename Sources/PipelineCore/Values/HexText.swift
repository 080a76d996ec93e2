extension Sequence<UInt8> {
    /// Two lower-case digits for each byte.
    public var hex: String {
        String(decoding: flatMap { PercentEncoding.hex($0) }, as: UTF8.self)
    }
}
