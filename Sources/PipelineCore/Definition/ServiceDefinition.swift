import JSONPath

/// A service: where it is and what holds for each request to it.
package struct ServiceDefinition: Sendable {
    package let name: String
    /// The URL that a request's path is appended to.
    package let url: Template
    package let decorators: [DecoratorDefinition]
    package let tls: TLSDefinition?
    package let limits: LimitsDefinition?
    package let proxy: Template?
    package let timeout: Setting<Duration>?
    /// The addresses that it, its redirects and captured URLs may lead to.
    package let network: Network
    /// True if its requests say which trace they belong to.
    package let isTraced: Bool

    /// The words for these addresses.
    package enum Network: String, Sendable, CaseIterable { case any, `public` }

    static let urlField = Field(
        "url", .template(.service), required: true, examples: ["https://api.example.com/v1"],
        "Where the service is: what the path of each request is appended to. Required, unless "
            + "'use' names a file that has it.")
    static let useField = Field(
        "use", FieldType<String>.string,
        "A file, relative to the document's folder, with an object of these keys: a service that documents share. What "
            + "stands beside it here wins.")
    static let tlsField = Field("tls", TLSDefinition.type, "Whom to trust, and as whom to appear.")
    static let limitsField = Field("limits", LimitsDefinition.type, "What the service may be asked at a time.")
    static let proxyField = Field("proxy", .template(.service), "The proxy's URL.")
    /// The schemes that libcurl knows (https://curl.se/libcurl/c/CURLOPT_PROXY.html); without one it is http.
    private static let proxySchemes = ["http", "https", "socks4", "socks4a", "socks5", "socks5h"]
    static let timeoutField = Field(
        "timeout", .duration(.service).warning(below: .milliseconds(1)),
        "The longest that a request may take. Without one it ends when nothing has moved for five minutes.")
    static let networkField = Field(
        "network", FieldType<Network>.word("network"), default: "any",
        "Which addresses its requests may go to, those of redirects and captured URLs too: any, or public, which refuses "
            + "loopback, link-local, private and metadata addresses after the name was resolved.")
    static let traceField = Field(
        "trace", .boolean, default: false,
        "Whether its requests carry `traceparent`, so that the service's own traces join the job's.")
    static let fields: [any AnyField] = [
        urlField, useField, DecoratorDefinition.field, tlsField, limitsField, proxyField, timeoutField, networkField,
        traceField,
    ]

    /// One of the two is needed.
    private static var schema: JSON {
        guard case .object(var schema) = fields.objectSchema else { return fields.objectSchema }
        schema["required"] = nil
        schema["anyOf"] = [["required": ["url"]], ["required": ["use"]]]
        return .object(schema)
    }

    /// A service is kept in spite of its mistakes, so that stages that name it have no mistake of their own.
    static var type: FieldType<ServiceDefinition> {
        let table = FieldTable(fields)
        return FieldType(schema: schema) { place, findings in
            guard let reader = ObjectReader(place, table: table, findings: findings) else { return placeholder }
            let url = reader.has("use") ? reader.optional(urlField) : reader.required(urlField)
            if reader.optional(useField) != nil, let place = reader.place(of: "use") {
                findings.report(
                    place, "the file of a service that documents share is not known here",
                    hint: "it is read with a document that stands in a file; or write the service itself")
            }
            if let url, let place = reader.place(of: "url") { checkScheme(of: url, at: place, findings) }
            let proxy = reader.optional(proxyField)
            if let proxy, let place = reader.place(of: "proxy") { checkScheme(ofProxy: proxy, at: place, findings) }
            let service = ServiceDefinition(
                name: "", url: url ?? placeholder.url, decorators: reader.value(DecoratorDefinition.field, default: []),
                tls: reader.optional(tlsField), limits: reader.optional(limitsField),
                proxy: proxy, timeout: reader.optional(timeoutField),
                network: reader.value(networkField, default: .any), isTraced: reader.value(traceField, default: false))
            reader.finish()
            return service
        }
    }

    /// Returns the mistake in what ``url`` has given; nil for a URL.
    package func mistake(inAddress text: String) -> StepFailure? {
        if URLReference.isWebURL(text) { return nil }
        return StepFailure(
            "the url of service '\(name)' is \"\(text)\", which is no absolute http or https URL",
            hint: "write it like https://api.example.com/v1")
    }

    private static func checkScheme(of url: Template, at place: SourceLocation, _ findings: DiagnosticCollector) {
        guard let text = url.constant?.lowercased() else { return }
        if text.hasPrefix("http://") || text.hasPrefix("https://") {
            if let mistake = URLReference(text).authorityMistake {
                findings.report(
                    place, "this URL leads nowhere: \(mistake)", hint: "write it like https://api.example.com:8443/v1")
            }
            return
        }
        let isHere = text.hasPrefix("127.") || text.hasPrefix("localhost") || text.hasPrefix("[::1]")
        findings.report(
            place, "a service's URL begins with http:// or https://",
            hint: text.contains("://") || text.isEmpty
                ? "write it like https://api.example.com/v1" : "write \"\(isHere ? "http" : "https")://\(url.text)\"")
    }

    private static func checkScheme(
        ofProxy proxy: Template, at place: SourceLocation, _ findings: DiagnosticCollector
    ) {
        guard let text = proxy.constant, let end = text.firstRange(of: "://")?.lowerBound else { return }
        let scheme = text[..<end].lowercased()
        guard !proxySchemes.contains(scheme) else { return }
        findings.report(
            place, "no proxy is reached by \(scheme)://", hint: "write one of \(proxySchemes.joined(separator: ", "))")
    }

    /// The placeholder for a service that could not be read; the document is refused anyway.
    static let placeholder = ServiceDefinition(
        name: "", url: Template(constant: "http://localhost"), decorators: [], tls: nil, limits: nil, proxy: nil,
        timeout: nil, network: .any, isTraced: false)

    func named(_ name: String) -> ServiceDefinition {
        ServiceDefinition(
            name: name, url: url, decorators: decorators, tls: tls, limits: limits, proxy: proxy, timeout: timeout,
            network: network, isTraced: isTraced)
    }
}

/// Whom a service's connections trust, and as whom they appear.
package struct TLSDefinition: Sendable {
    /// The versions of TLS that can be asked for at least.
    package enum Version: String, Sendable, CaseIterable { case tls12 = "1.2", tls13 = "1.3" }

    package let authority: Template?
    package let certificate: Template?
    package let key: Template?
    package let keyPassword: Template?
    package let pinnedPublicKeys: [Template]
    package let minimumVersion: Version?

    static let authorityField = Field("ca", .template(.service), "A PEM file of authorities instead of the system's.")
    static let certificateField = Field("certificate", .template(.service), "A PEM file with our own certificate.")
    static let keyField = Field("key", .template(.service), "A PEM file with our certificate's key.")
    static let passwordField = Field("keyPassword", .template(.service), "The password of that key.")
    static let pinsField = Field(
        "pinnedPublicKeys", .array(of: pin),
        "sha256//BASE64 of public keys, one of which the server must have.")
    /// A pin as libcurl takes it (CURLOPT_PINNEDPUBLICKEY(3)); what an expression gives is known later.
    private static let pin: FieldType<Template> = {
        let text = FieldType<Template>.template(.service)
        return FieldType(schema: text.schema) { place, findings in
            let pin = text.read(place, findings)
            guard let written = pin?.constant, !isPin(written) else { return pin }
            findings.report(
                place, "this is no pin of a public key: sha256// and 32 bytes in base64",
                hint: "openssl x509 -pubkey -noout | openssl pkey -pubin -outform der | openssl dgst -sha256 -binary "
                    + "| base64 makes one of a certificate; write sha256// before it")
            return nil
        }
    }()

    private static func isPin(_ text: String) -> Bool {
        text.hasPrefix("sha256//") && Base64Bytes.decode(String(text.dropFirst(8)))?.count == 32
    }

    static let versionField = Field("minimumVersion", FieldType<Version>.word("TLS version"), "The oldest TLS version.")

    static var type: FieldType<TLSDefinition> {
        let fields: [any AnyField] = [
            authorityField, certificateField, keyField, passwordField, pinsField, versionField,
        ]
        return .object(fields) { reader in
            TLSDefinition(
                authority: reader.optional(authorityField), certificate: reader.optional(certificateField),
                key: reader.optional(keyField), keyPassword: reader.optional(passwordField),
                pinnedPublicKeys: reader.value(pinsField, default: []), minimumVersion: reader.optional(versionField))
        }
    }
}

/// The limits of what a service may be asked at a time, over all jobs of the process.
package struct LimitsDefinition: Sendable {
    package let connections: Setting<Int>?
    package let requestsPerSecond: Setting<Double>?
    /// The number of jobs that are submitted there and not ended, over all jobs of all processes on the journal.
    package let computations: Setting<Int>?
    /// Bytes per second.
    package let send: Setting<Int64>?
    package let receive: Setting<Int64>?
    /// The rule by which a transfer counts as stalled, and is cut so that the next try goes on; nil for what holds
    /// without it.
    package let stall: Stall?

    /// Fewer bytes per second than `below` for `time`.
    package struct Stall: Sendable {
        package let below: Setting<Int64>
        package let time: Setting<Duration>
    }

    static let connectionsField = Field("connections", .count(1...1024, roots: .service), "Connections per origin.")
    static let requestsField = Field(
        "requestsPerSecond", .quantity(0.001...100_000, roots: .service), "Requests begun per second.")
    static let computationsField = Field(
        "computations", .count(1...1_000_000, roots: .service), examples: [20],
        "Remote jobs that are submitted there and have not ended, over all jobs; more wait for their turn.")
    static let sendField = Field("send", .rate(.service), "Bytes per second sent, for example 500KB/s.")
    static let receiveField = Field("receive", .rate(.service), "Bytes per second received.")

    static let belowField = Field(
        "below", .rate(.service), default: "1KiB/s", "The rate below which a transfer is stalled.")
    static let stallTimeField = Field(
        "for", .duration(.service), default: "60s", "How long it must have been that slow.")
    static let stallField = Field(
        "stall",
        FieldType<Stall>.object([belowField, stallTimeField]) { reader in
            Stall(
                below: reader.value(belowField, default: .constant(1 << 10)),
                time: reader.value(stallTimeField, default: .constant(.seconds(60))))
        }, "When a transfer is cut as stalled and goes on with another try.")

    static var type: FieldType<LimitsDefinition> {
        .object([connectionsField, requestsField, computationsField, sendField, receiveField, stallField]) { reader in
            LimitsDefinition(
                connections: reader.optional(connectionsField), requestsPerSecond: reader.optional(requestsField),
                computations: reader.optional(computationsField), send: reader.optional(sendField),
                receive: reader.optional(receiveField),
                stall: reader.optional(stallField))
        }
    }
}
