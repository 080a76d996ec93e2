package import JSONPath
package import PipelineCore

/// All decorators that a program knows. Built-in ones are registered like any other.
package struct DecoratorCatalogue: Sendable {
    private var kinds: [String: DecoratorKind] = [:]

    /// A catalogue of these kinds alone.
    package init(_ kinds: [DecoratorKind]) {
        for kind in kinds { register(kind) }
    }

    /// `headers`, `query`, `prefer`, `multipart`, `idempotencyKey`, `bearer`, `basic`, `apiKey`, `oauth2`, `jwt`, `sigv4`,
    /// `digest`, `gzip` and `cache`.
    package static let standard = DecoratorCatalogue([
        .headers, .query, .prefer, .multipart, .idempotencyKey, .bearer, .basic, .apiKey, .oauth2, .jwt, .sigv4,
        .digest, .gzip, .cache,
    ])

    /// Adds a kind; one of the same name is replaced.
    package mutating func register(_ kind: DecoratorKind) { kinds[kind.name] = kind }

    /// Every name that is taken.
    package var reservedNames: Set<String> { Set(names) }

    /// The names in order of the alphabet.
    package var names: [String] { kinds.keys.sorted() }

    /// Reads one entry of a `with` list; nil after having reported mistakes.
    package func read(
        _ definition: DecoratorDefinition, roots: AllowedRoots, findings: DiagnosticCollector
    ) -> DecoratorTemplate? {
        if let kind = kinds[definition.name] { return kind.read(definition.configuration, roots, findings) }
        let guess = Suggestion.nearest(to: definition.name, among: names)
        findings.report(
            range: definition.nameRange, pointer: definition.configuration.pointer,
            "there is no decorator called '\(definition.name)'",
            hint: guess.map { "did you mean '\($0)'?" }
                ?? "known decorators: \(names.joined(separator: ", ")); another is a program called "
                + "pipeline-decorator-\(definition.name), and none is installed: 'pipeline plugins' lists what is")
        return nil
    }

    /// Reports the mistakes of a `with` list of a service or of the whole document: the planner's hook.
    @Sendable package func check(_ definitions: [DecoratorDefinition], findings: DiagnosticCollector) {
        Self.warnOfOtherCredentials(definitions, findings)
        for definition in definitions { _ = read(definition, roots: .service, findings: findings) }
    }

    /// The kinds of credentials of which a request has one.
    private static let credentialNames: Set = ["bearer", "basic", "apiKey", "oauth2", "jwt", "sigv4"]

    private static func warnOfOtherCredentials(_ list: [DecoratorDefinition], _ findings: DiagnosticCollector) {
        let credentials = list.filter { credentialNames.contains($0.name) }
        guard let first = credentials.first else { return }
        for other in credentials.dropFirst() {
            findings.warn(
                range: other.nameRange, pointer: other.configuration.pointer,
                "'\(other.name)' applies only where '\(first.name)' before it has no value: a request has one of them",
                hint: "what a service wants besides is a header: \"headers\": { \"X-API-Key\": \"${{ secrets.KEY }}\" }"
            )
        }
    }

    /// The JSON Schema of one entry of a `with` list.
    package var entrySchema: JSON {
        let properties = JSONObject(kinds.values.sorted { $0.name < $1.name }.map { ($0.name, $0.annotatedSchema) })
        return [
            "type": "object", "minProperties": 1, "maxProperties": 1, "properties": .object(properties),
            "additionalProperties": false,
        ]
    }

    /// The type of a `with` list whose templates may read the roots.
    func type(_ roots: AllowedRoots) -> FieldType<[DecoratorTemplate]> {
        FieldType(schema: ["type": "array", "items": entrySchema]) { place, findings in
            let definitions = DecoratorDefinition.field.type.read(place, findings)
            Self.warnOfOtherCredentials(definitions ?? [], findings)
            return definitions?.compactMap { read($0, roots: roots, findings: findings) }
        }
    }
}
