import JSONPath
import PipelineCore

/// The body of a command as a document has it.
struct CurlBody {
    /// The member of the request; nil for none.
    var member: String?
    /// The type that the document gives it unless it is said otherwise.
    var type: String?
    /// The decorator that makes it; nil for none.
    var decorator: String?
}

extension CurlDocument {
    /// The body of a command. What has no place in a document becomes a remark.
    mutating func body(of command: CurlInvocation, _ target: CurlTarget) -> CurlBody {
        if !command.parts.isEmpty { return CurlBody(decorator: multipart(command.parts, target)) }
        if command.data.count == 1, case .file(let path) = command.data[0] {
            return CurlBody(member: "\"file\": \"\(inputs.file(path))\"", type: "application/octet-stream")
        }
        if command.data.isEmpty { return CurlBody() }
        for data in command.data {
            guard case .file(let path) = data else { continue }
            remarks.append(
                "left out: the file \(path.prefix(60)), which stands next to other data; make it an input, and write "
                    + "${{ text(inputs.NAME) }} where it belongs")
        }
        let text = command.data.compactMap(Self.text).joined(separator: command.isJSON ? "" : "&")
        let type = command.contentType ?? ""
        if Self.mayBeJSON(type), let json = try? JSON.parse(text), json.object != nil || json.array != nil {
            return CurlBody(member: "\"json\": \(Self.literal(json, target.label).text)", type: "application/json")
        }
        var fields: [(name: String, value: String)]? = []
        for data in command.data where Self.text(data) != nil {
            fields = fields.flatMap { all in Self.fields(data).map { all + $0 } }
        }
        if type.lowercased().hasPrefix(CurlInvocation.formType), let fields {
            let form = Self.object(fields, secretsFor: target.label)
            return CurlBody(member: "\"form\": \(form)", type: CurlInvocation.formType)
        }
        let open = Self.withoutSecrets(text, type, target.label)
        return CurlBody(member: "\"text\": \(Self.quoted(open))", type: "text/plain; charset=utf-8")
    }

    private mutating func multipart(_ parts: [CurlInvocation.Part], _ target: CurlTarget) -> String {
        var fields: [(name: String, value: String)] = []
        var files: [String] = []
        for part in parts {
            switch part {
            case .field(let name, let value): fields.append((name, value))
            case .text(let name, let path): fields.append((name, inputs.text(path, field: name)))
            case .file(let name, let path, let type, let fileName):
                var members = ["\"name\": \(Self.quoted(name))", "\"file\": \"\(inputs.file(path, field: name))\""]
                if let fileName { members.append("\"filename\": \(Self.quoted(fileName))") }
                if let type { members.append("\"contentType\": \(Self.quoted(type))") }
                files.append("{ \(members.joined(separator: ", ")) }")
            }
        }
        var members: [String] = []
        if !fields.isEmpty { members.append("\"fields\": \(Self.object(fields, secretsFor: target.label))") }
        if !files.isEmpty { members.append("\"files\": [\(files.joined(separator: ", "))]") }
        return "{ \"multipart\": { \(members.joined(separator: ", ")) } }"
    }

    /// Returns whether data of that type is written as JSON if it is some: also where nothing is said of it.
    private static func mayBeJSON(_ type: String) -> Bool {
        let essence = type.lowercased().prefix { $0 != ";" && $0 != " " }
        return essence.hasSuffix("/json") || essence.hasSuffix("+json") || essence.hasPrefix("application/x-amz-json")
            || essence == CurlInvocation.formType
    }

    /// The data as curl sends it; nil for a file.
    private static func text(_ data: CurlInvocation.Data) -> String? {
        switch data {
        case .file: nil
        case .text(let text): text
        case .field(let name, let value):
            // An expression is there before it could be encoded.
            (name.isEmpty ? "" : "\(name)=") + (value.contains("${{") ? value : PercentEncoding.component(value))
        }
    }

    /// The pairs of form data; nil for what is none.
    static func fields(_ data: CurlInvocation.Data) -> [(name: String, value: String)]? {
        switch data {
        case .field(let name, let value): return [(name, value)]
        case .file: return nil
        case .text(let text):
            var fields: [(name: String, value: String)] = []
            for pair in text.split(separator: "&") {
                guard let equals = pair.firstIndex(of: "="), equals > pair.startIndex else { return nil }
                fields.append(
                    (
                        PercentEncoding.formDecoded(pair[..<equals]),
                        PercentEncoding.formDecoded(pair[pair.index(after: equals)...])
                    ))
            }
            return fields
        }
    }

    // MARK: Literals

    /// A value as it stands in a document: texts whose names are those of secrets become references, called by the names
    /// around them too, and a `?` at the end of a name is doubled, which else leaves a member out.
    ///
    /// - Parameter escapesNames: false for a value that stands in a text.
    private static func literal(
        _ json: JSON, _ label: String, escapesNames: Bool = true, under name: String = "", isSecret: Bool = false
    ) -> JSON {
        switch json {
        case .object(let members):
            .object(
                JSONObject(
                    members.map { member in
                        let path = name.isEmpty ? member.name : "\(name)_\(member.name)"
                        let value = literal(
                            member.value, label, escapesNames: escapesNames, under: path,
                            isSecret: CurlSecretNames.isSecret(member.name))
                        return (escapesNames && member.name.hasSuffix("?") ? "\(member.name)?" : member.name, value)
                    }))
        case .array(let elements):
            .array(
                elements.enumerated().map { index, element in
                    literal(
                        element, label, escapesNames: escapesNames, under: index == 0 ? name : "\(name)_\(index + 1)",
                        isSecret: isSecret)
                })
        case .string(let text) where isSecret && CurlSecretNames.namesOneOrder(name, text):
            "${{ self.key }}"
        case .string(let text) where isSecret && !text.isEmpty:
            .string(secret(text, named: CurlSecretNames.variable(name, of: label)))
        case .null, .bool, .number, .string: json
        }
    }

    /// The text with references in place of the secrets of its pairs, or of its lines if they are JSON.
    private static func withoutSecrets(_ text: String, _ type: String, _ label: String) -> String {
        if type.lowercased().hasPrefix(CurlInvocation.formType) {
            return text.split(separator: "&", omittingEmptySubsequences: false).map { pair in
                let name = pair.prefix { $0 != "=" }
                let value = pair.dropFirst(name.count + 1)
                let plain = PercentEncoding.formDecoded(name)
                guard CurlSecretNames.isSecret(plain), !value.isEmpty else { return String(pair) }
                let reference = secret(String(value), named: CurlSecretNames.variable(plain, of: label))
                return "\(name)=\(reference)"
            }.joined(separator: "&")
        }
        return text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            guard let json = try? JSON.parse(String(line)) else { return String(line) }
            let open = literal(json, label, escapesNames: false)
            return open == json ? String(line) : open.text
        }.joined(separator: "\n")
    }
}
