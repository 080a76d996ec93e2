import JSONPath
package import PipelineCore

/// The description that a plugin gives of itself when it is asked to `describe`.
package struct PluginDescription: Sendable {
    /// The kind of stage that it does, or the name of the decorator or sink that it is.
    package let kind: String
    /// Its own version, for people.
    package let version: String
    /// One sentence for people; nil when it gives none.
    package let summary: String?
    /// The JSON Schema (2020-12) of its configuration.
    package let schema: JSONSchema
    /// The values that later stages may read.
    package let captures: [CaptureDeclaration]
    /// True if it can send a submit again under the same key without making a second one (`"once": "key"`): then a
    /// submit whose answer was lost is sent again, else it is *unknown*.
    package let submitsOnce: Bool
    /// True if a decorator wants the digest of the body (`"digest": false` does without: a file need not be read).
    package let wantsDigest: Bool

    /// Reads a `description` message; whatever is wrong with it is thrown.
    init(_ message: JSONObject) throws(PluginFault) {
        let version = message["protocol"]?.number?.int
        guard version == PluginProtocol.version else {
            throw PluginFault(
                .nonsense,
                "speaks version \(message["protocol"]?.text ?? "?") of the plugin protocol, not \(PluginProtocol.version)",
                hint: "another version of the plugin, or of this program, fits")
        }
        guard let kind = message["kind"]?.string, PluginFolders.isName(kind) else {
            throw Self.wrong("'kind' must be a name such as \"transcode\"")
        }
        let schema = message["schema"] ?? .bool(true)
        guard schema.object != nil || schema.bool != nil else { throw Self.wrong("'schema' must be a JSON Schema") }
        self.kind = kind
        self.version = message["version"]?.string ?? message["version"]?.number?.literal ?? "?"
        self.schema = JSONSchema(schema)
        summary = message["summary"]?.string ?? schema["description"]?.string
        captures = try Self.captures(message["captures"])
        wantsDigest = message["digest"]?.bool ?? true
        submitsOnce = message["once"]?.string == "key"
    }

    private static func captures(_ json: JSON?) throws(PluginFault) -> [CaptureDeclaration] {
        guard let json, !json.isNull else { return [] }
        guard let entries = json.array else { throw wrong("'captures' must be an array of names") }
        var captures: [CaptureDeclaration] = []
        for entry in entries {
            guard let name = entry.string ?? entry["name"]?.string, !name.isEmpty else {
                throw wrong("'captures' must hold names, or objects with a \"name\"")
            }
            captures.append(
                CaptureDeclaration(
                    name: name, isSecret: entry["secret"]?.bool ?? false,
                    isSubmitted: entry["submitted"]?.bool ?? false))
        }
        // Where none is said to be of the submit, each may be: a person gives the id of one that is unknown.
        if captures.contains(where: \.isSubmitted) { return captures }
        return captures.map { capture in
            var capture = CaptureDeclaration(name: capture.name, isSecret: capture.isSecret, isSubmitted: true)
            // It may be one of those that come with the end.
            capture.isOptional = true
            return capture
        }
    }

    private static func wrong(_ what: String) -> PluginFault {
        PluginFault(.nonsense, "describes itself wrongly: \(what)")
    }
}
