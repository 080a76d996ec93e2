public import HTTPTypes

extension RequestDescription {
    /// Sets a field from text that may come from anywhere.
    ///
    /// - Throws: ``RequestFailure`` for a name that is no token and for CR, LF or NUL in the value (RFC 9110 §5.5):
    ///   the field would smuggle in another one.
    public mutating func setHeader(_ name: String, to value: String) throws(RequestFailure) {
        let field = try HTTPField.checked(name: name, value: value)
        headers[field.name] = field.value
    }

    /// Appends a field from text that may come from anywhere, besides those of the same name.
    public mutating func addHeader(_ name: String, _ value: String) throws(RequestFailure) {
        headers.append(try HTTPField.checked(name: name, value: value))
    }

    /// Marks a field as holding credentials and sets it.
    public mutating func setCredentialHeader(_ name: String, to value: String) throws(RequestFailure) {
        let field = try HTTPField.checked(name: name, value: value)
        headers[field.name] = field.value
        credentialFields.insert(field.name)
    }

    /// True for a field that must not reach another origin.
    public func isCredential(_ name: HTTPField.Name) -> Bool {
        credentialFields.contains(name) || Self.isUsualCredential(name.canonicalName)
    }

    /// True for the name of a field that holds credentials wherever it stands.
    package static func isUsualCredential(_ name: String) -> Bool {
        usualCredentialFields.contains(name.lowercased())
    }

    private static let usualCredentialFields: Set<String> = [
        "authorization", "cookie", "proxy-authorization", "x-api-key", "api-key", "apikey", "x-auth-token",
        "x-access-token", "x-amz-security-token", "x-goog-api-key", "x-slurm-user-token", "private-token",
        "ocp-apim-subscription-key",
    ]
}

extension HTTPField {
    /// A field from text that may come from anywhere.
    ///
    /// `HTTPField` itself mends a bad value silently; here it is an error, so that nothing is sent that nobody wrote.
    package static func checked(name: String, value: String) throws(RequestFailure) -> HTTPField {
        guard let fieldName = HTTPField.Name(name) else {
            throw RequestFailure("\"\(name.forDisplay)\" is not a valid header name")
        }
        guard !value.utf8.contains(where: { $0 == 0 || $0 == 10 || $0 == 13 }) else {
            throw RequestFailure("the header \(name) contains a line break or a NUL character")
        }
        return HTTPField(name: fieldName, value: value)
    }
}

extension String {
    /// The text with control characters replaced and cut to a length that fits a message; whoever shows less of it can
    /// first take a secret out, which is whole in it.
    var forDisplay: String {
        String(
            String.UnicodeScalarView(unicodeScalars.prefix(4096).map { $0.value < 32 || $0.value == 127 ? "?" : $0 }))
    }
}
