import HTTPTypes

extension RequestDescription {
    /// What decorators have done for its credentials.
    struct CredentialState: Sendable {
        var areClaimed = false
        /// Signs it anew, when a redirect has changed what the signature covers; nil for one that is not signed.
        var sign: (@Sendable (inout RequestDescription) throws(RequestFailure) -> Void)?
    }

    /// True once a decorator has put credentials in: of several only the innermost applies.
    public var hasCredentials: Bool { credentials.areClaimed }

    /// True while the request leads to the origin that its credentials belong to.
    package var isAtCredentialOrigin: Bool {
        credentialOrigin == nil || URLParts(url)?.origin == credentialOrigin
    }

    /// Takes out what must not reach the origin to which decorators have led the request, if that is another one: the
    /// fields and parameters that hold credentials, and the user of the URL.
    ///
    /// - Parameter first: the URL before the decorators.
    mutating func leaveCredentials(of first: String) {
        guard !isAtCredentialOrigin else { return }
        headers = HTTPFields(headers.filter { !credentialFields.contains($0.name) })
        // Whose work this is concerns the service alone.
        headers[.traceparent] = nil
        query.removeAll { credentialParameters.contains($0.name) }
        if let (bare, user, password) = URLParts.withoutUser(url), let before = URLParts.withoutUser(first),
            (user, password) == (before.user, before.password)
        {
            url = bare
        }
        guard !credentialParameters.isEmpty, let mark = url.utf8.firstIndex(of: UInt8(ascii: "?")) else { return }
        let kept = url[url.index(after: mark)...].split(separator: "&").filter {
            !credentialParameters.contains(PercentEncoding.decoded($0.prefix { $0 != "=" }))
        }
        url = url[..<mark] + (kept.isEmpty ? "" : "?\(kept.joined(separator: "&"))")
    }
}
