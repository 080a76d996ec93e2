import HTTPTypes

/// Makes the body `multipart/form-data` (RFC 7578), streamed, with the parts in their order. Under the key of a
/// ``DecorationContext`` all attempts have the same boundary.
public struct Multipart: RequestDecorator {
    /// The parts, in their order.
    public let parts: [MultipartBody.Part]

    /// Makes the body a form of parts (RFC 7578), which are read while they are sent.
    public init(_ parts: [MultipartBody.Part]) {
        self.parts = parts
    }

    public var phase: DecorationPhase { .shape }

    /// The form with a field set: in its place, or else after the other fields and before the files.
    package func setting(_ name: String, to value: String) -> Multipart {
        var parts = parts
        let field = MultipartBody.Part.field(name, value)
        if let place = parts.firstIndex(where: { $0.name == name && $0.filename == nil }) {
            parts[place] = field
        } else {
            parts.insert(field, at: parts.firstIndex(where: { $0.filename != nil }) ?? parts.endIndex)
        }
        return Multipart(parts)
    }

    /// The request's own body wins, like everything that is further in.
    public func decorate(_ request: inout RequestDescription, in context: DecorationContext) {
        guard request.body.isNone else { return }
        let body = MultipartBody(boundary: context.boundary, parts: parts)
        request.body = .multipart(body)
        request.headers[.contentType] = body.contentType
    }
}
