import HTTPTypes

/// The rule of what may be the name of a header field in a document.
enum HeaderName {
    /// The mistake in a name; nil when nothing is.
    static let mistake: @Sendable (String) -> String? = { name in
        guard let field = HTTPField.Name(name) else { return "\"\(name)\" is no name of a header" }
        switch field {
        case .contentLength, .transferEncoding:
            return "\(name) cannot be set: a body is always sent with its exact length"
        default: return nil
        }
    }
}
