import JSONPath
import PipelineCore
import PipelineHTTP

/// The URL of a service with its values put in.
struct ServiceURL: Sendable {
    /// As it is.
    let text: String
    /// Scheme, host and port.
    let origin: String

    init(_ service: ServiceDefinition, in scope: Scope) throws(EvaluationFailure) {
        text = try service.url.evaluateText(in: scope)
        if let mistake = service.mistake(inAddress: text) {
            throw .wrong(message: mistake.title, hint: mistake.hint, range: SourceRange(start: 0, end: 0))
        }
        origin = URLParts(text)?.origin ?? text
    }

    /// The URL with a path appended; the service's own path stays, and so does a query that it has.
    ///
    /// - Parameter identifies: whether a user in it stays, whose name and password are credentials.
    func appending(_ path: String, identifies: Bool = true) -> String {
        let text = identifies ? text : URLParts.withoutUser(text)?.url ?? text
        let bare = text.prefix { $0 != "?" && $0 != "#" }
        let query = text.dropFirst(bare.count).prefix { $0 != "#" }.dropFirst()
        let base = bare.hasSuffix("/") ? bare.dropLast() : bare
        guard !query.isEmpty else { return base + path }
        return base + path + (path.contains("?") ? "&" : "?") + query
    }
}
