/// XML that cannot be read, or that is refused as unsafe.
struct XMLFailure: Error, Hashable {
    /// The offset of the byte.
    let offset: Int
    /// The mistake in words, as a clause.
    let message: String
}
