import JSONPath

extension JSONNode.Member {
    /// True if it means nothing in any object of the format: `$schema`, for editors, and the author's own `x-…`.
    var isIgnored: Bool { name == "$schema" || name.hasPrefix("x-") }
}
