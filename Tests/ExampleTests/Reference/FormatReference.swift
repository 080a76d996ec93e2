import JSONPath

/// The reference of the format: the tables of fields as people read them, made from the schema that comes from the same
/// tables.
struct FormatReference {
    private struct Section {
        let title: String
        let text: String
    }

    private let root: JSON
    private var sections: [Section] = []
    /// What has a section of its own already, by its name under `$defs`.
    private var written: Set<String> = []

    init(schema: JSON) { root = schema }

    /// The whole page.
    static func page(of schema: JSON) -> String {
        var reference = FormatReference(schema: schema)
        reference.write()
        return reference.sections.reduce(into: head) { $0 += "\n## \($1.title)\n\n\($1.text)" }
    }

    private static let head = """
        # The format

        Every key of a pipeline document.

        ## Overview

        A document is JSON; comments and trailing commas are let through. An unknown key is an error with its place and a
        guess, except `$schema` and keys that begin with `x-`. `pipeline validate` tells all mistakes at once, and
        `pipeline schema` prints the JSON Schema from which editors complete. This page is made from the same tables.

        - **template**: a string with `${{ … }}` in it; most strings may have them. **expression**: the same without the
          braces. See <doc:Expressions>.
        - **duration**: `"250ms"`, `"30s"`, `"5m"`, `"1h30m"`, `"7d"`. **size**: `"64KiB"`, `"8MiB"`, `"1GB"`. **rate**:
          `"500KB/s"`.
        - **selector**: what takes a value out of an answer; see <doc:Expressions>.
        - Numbers, booleans, durations and sizes may be templates too. What they give is checked as soon as it is known: with
          the document, when the job starts, or else when it is used.

        Programs of your own add kinds of stage, decorators and notification sinks: <doc:PluginProtocol>,
        <doc:WritingAStage>.

        """

    private static let methods: Set = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]

    private mutating func write() {
        add("The document", root)
        let kinds = (root["$defs"]?["stage"]?["allOf"]?.array ?? []).compactMap { branch -> (String, JSON)? in
            guard let name = branch["if"]?["properties"]?["kind"]?["const"]?.string, let then = branch["then"] else {
                return nil
            }
            return (name, resolved(then))
        }
        let names = kinds.map { Set(($0.1["properties"]?.object ?? [:]).map(\.name)) }
        let common = names.dropFirst().reduce(names.first ?? []) { $0.intersection($1) }
        if let first = kinds.first { add("Every stage", first.1, only: common) }
        for (name, schema) in kinds { add("A stage of kind `\(name)`", schema, without: common) }
        add("A request", resolved(["$ref": "#/$defs/request"]), as: "request")
        for name in ["poll", "once", "next", "callback", "retry", "expires"] {
            add("`\(name)`", resolved(["$ref": .string("#/$defs/\(name)")]), as: name)
        }
        addDecorators()
        add("A notification", resolved(["$ref": "#/$defs/notification"]), as: "notification")
    }

    private mutating func addDecorators() {
        let decorators = root["$defs"]?["decorator"]?["properties"]?.object ?? [:]
        written.insert("decorator")
        var rows: [(String, JSON)] = []
        for (name, schema) in decorators { rows.append((name, schema)) }
        let text =
            """
            Each is an object with one key; the first in a list is the innermost. Whatever their place, they apply in this
            order: `headers`, `query`, `prefer`, `multipart` and programs; `gzip`; `digest`; `idempotencyKey`; credentials;
            `sigv4`. Of several credentials only the innermost applies.


            """
            + table(rows.map { ($0.0, resolved($0.1), false) })
        sections.append(Section(title: "Decorators", text: text))
        for (name, schema) in rows where resolved(schema)["properties"] != nil {
            add("The decorator `\(name)`", resolved(schema))
        }
    }

    /// A section of an object, and those of the objects in it that have none yet.
    private mutating func add(
        _ title: String, _ schema: JSON, as name: String? = nil, only: Set<String>? = nil, without: Set<String> = []
    ) {
        if let name, !written.insert(name).inserted { return }
        let required = Set((schema["required"]?.array ?? []).compactMap(\.string))
        let request = requestKeys
        let properties = schema["properties"]?.object ?? [:]
        let isMore = name != "request" && Self.methods.isSubset(of: properties.map(\.name))
        var rows = properties.map { ($0.name, $0.value, required.contains($0.name)) }
            .filter { only?.contains($0.0) ?? !without.contains($0.0) }
        if isMore { rows.removeAll { request.contains($0.0) && !["onUnknown", "once"].contains($0.0) } }
        var text = schema["description"]?.string.map { "\($0)\n\n" } ?? ""
        if isMore { text += "It has all keys of a request, and:\n\n" }
        sections.append(Section(title: title, text: text + table(rows)))
        for (key, value, _) in rows where key != "kind" {
            for (object, label) in inner(value, key) { add("\(Self.place(title))\(label)`", object) }
        }
    }

    /// The objects with keys of their own that stand in a value.
    private func inner(_ value: JSON, _ key: String) -> [(JSON, String)] {
        if let properties = value["properties"]?.object {
            return requestKeys.isSuperset(of: properties.map(\.name)) ? [] : [(value, key)]
        }
        if let items = value["items"] { return inner(items, "\(key)[]") }
        if let entries = value["additionalProperties"], entries != false { return inner(entries, "\(key).NAME") }
        return (value["anyOf"]?.array ?? []).flatMap { inner($0, key) }
    }

    private var requestKeys: Set<String> {
        Set((root["$defs"]?["request"]?["properties"]?.object ?? [:]).map(\.name))
    }

    private static func isRequest(_ schema: JSON) -> Bool {
        methods.isSubset(of: (schema["properties"]?.object ?? [:]).map(\.name))
    }

    /// The path before a key: nothing at the top.
    private static func place(_ title: String) -> String {
        guard title.hasPrefix("`") else {
            let kind = title.firstMatch(of: /`(.+)`/).map { "\($0.output.1): " } ?? ""
            return "`\(kind)"
        }
        return "`\(title.dropFirst().dropLast())."
    }

    // MARK: - Rows

    private func table(_ rows: [(String, JSON, Bool)]) -> String {
        var text = "| key | value | |\n|---|---|---|\n"
        var hasMethod = false
        for (name, schema, isRequired) in rows {
            if Self.methods.contains(name) {
                if !hasMethod { text += Self.methodRow }
                hasMethod = true
                continue
            }
            let meaning = [
                schema["description"]?.string, isRequired ? "Required." : nil,
                schema["default"].map { "Default: `\(Self.cell($0.text))`." },
            ].compactMap { $0.map(Self.cell) }.joined(separator: " ")
            text += "| `\(name)` | \(Self.cell(value(schema))) | \(meaning) |\n"
        }
        return text
    }

    private static let methodRow =
        "| `GET` `HEAD` `POST` `PUT` `PATCH` `DELETE` `OPTIONS` | template | One of them: the path at the service, or an "
        + "absolute URL. |\n"

    private static func cell(_ text: String) -> String {
        text.replacing("\\|", with: "|").replacing("|", with: "\\|").replacing("\n", with: " ")
    }

    /// Returns what a value may be, in words.
    private func value(_ schema: JSON) -> String {
        if let name = schema["$ref"]?.string?.split(separator: "/").last {
            switch name {
            case "plainDuration": return "duration"
            case "cancel": return "request"
            default: return String(name)
            }
        }
        if let constant = schema["const"] { return "`\(constant.text)`" }
        if let words = schema["enum"]?.array {
            return words.map { $0.string.map { "`\($0)`" } ?? "`\($0.text)`" }.joined(separator: ", ")
        }
        if let choices = schema["anyOf"]?.array {
            let words = choices.map(value).filter { $0 != "template" }
            return words.reduce(into: [String]()) { if !$0.contains($1) { $0.append($1) } }.joined(separator: " or ")
        }
        return plain(schema)
    }

    private func plain(_ schema: JSON) -> String {
        if Self.isRequest(schema) { return "request" }
        switch schema["type"]?.string {
        case "array":
            return "array" + (schema["items"].map { " of \(value($0))" }.flatMap { $0 == " of any" ? nil : $0 } ?? "")
        case "object":
            guard let entries = schema["additionalProperties"], entries != false else { return "object" }
            return "name → \(value(entries))"
        case let type?: return type
        case nil:
            guard let types = schema["type"]?.array?.compactMap(\.string) else { return "any" }
            if Set(types) == ["string", "object", "array"] { return "selector" }
            return types.dropLast().joined(separator: ", ") + " or " + (types.last ?? "")
        }
    }

    private func resolved(_ schema: JSON) -> JSON {
        guard let name = schema["$ref"]?.string?.split(separator: "/").last else { return schema }
        return root["$defs"]?[String(name)] ?? .null
    }
}
