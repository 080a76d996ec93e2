import HTTPTypes

/// Turns a description and its decorators into the request that is sent.
package struct RequestBuilder: Sendable {
    package init() {}

    /// Applies the decorators by phase, inside a phase from the innermost out, then merges the query into the URL.
    ///
    /// - Parameter decorators: innermost first.
    /// - Returns: a description with an empty `query`, a checked URL and checked header fields.
    package func build(
        _ description: RequestDescription,
        decorators: [any RequestDecorator] = [],
        context: DecorationContext
    ) async throws(RequestFailure) -> RequestDescription {
        var request = description
        for decorator in ordered(decorators) {
            try await decorator.decorate(&request, in: context)
        }
        request.leaveCredentials(of: description.url)
        return try finished(request)
    }

    /// The last step alone, for a description that needs no decorators.
    package func finished(_ description: RequestDescription) throws(RequestFailure) -> RequestDescription {
        var request = description
        try takeUserFromURL(&request)
        request.url = try request.absoluteURL()
        request.query = []
        try checkHeaders(&request)
        return request
    }

    /// A stable sort: inside a phase the inner one stays first.
    func ordered(_ decorators: [any RequestDecorator]) -> [any RequestDecorator] {
        decorators.enumerated()
            .sorted { ($0.element.phase, $0.offset) < ($1.element.phase, $1.offset) }
            .map(\.element)
    }

    /// `user:password@` in a URL becomes a credential like any other, so that it never shows up in a log or a redirect.
    private func takeUserFromURL(_ request: inout RequestDescription) throws(RequestFailure) {
        guard let (url, user, password) = URLParts.withoutUser(request.url) else { return }
        request.url = url
        guard request.headers[.authorization] == nil else { return }
        try request.setCredentialHeader("Authorization", to: Basic.value(user: user, password: password))
    }

    private func checkHeaders(_ request: inout RequestDescription) throws(RequestFailure) {
        request.headers[.contentLength] = nil
        guard request.headers[.transferEncoding] == nil else {
            throw RequestFailure("Transfer-Encoding can't be set: a body is always sent with its exact length")
        }
        if case .multipart(let body) = request.body {
            guard (1...70).contains(body.boundary.utf8.count),
                body.boundary.utf8.allSatisfy({ (33...126).contains($0) })
            else { throw RequestFailure("the multipart boundary is not valid") }
            request.headers[.contentType] = body.contentType
        }
        guard request.body.segments.allSatisfy({ $0.length >= 0 }) else {
            throw RequestFailure("the length of a body can't be negative")
        }
    }
}
