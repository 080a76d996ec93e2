import HTTPTypes
import PipelineCore

/// The rule of what may be the name of a header field in a document.
enum HeaderName {
    /// The mistake in a name; nil when nothing is.
    static let mistake: @Sendable (String) -> ValueSyntaxError? = { name in
        guard let field = HTTPField.Name(name) else {
            return ValueSyntaxError(
                "\"\(name)\" is no name of a header",
                hint: "write one of letters, digits and '-', such as X-Request-ID")
        }
        switch field {
        case .contentLength, .transferEncoding:
            return ValueSyntaxError(
                "\(name) cannot be set: a body is always sent with its exact length", hint: "take it out")
        default: return nil
        }
    }
}
