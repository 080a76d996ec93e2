import JSONPath
import PipelineCore

/// The body of a request as the document has it.
enum BodyDefinition: Sendable {
    case none
    /// `application/json`
    case json(JSONTemplate)
    /// `application/x-www-form-urlencoded`
    case form(ValueTable)
    /// `text/plain` in UTF-8
    case text(Template)
    /// A whole local file; relative to the document's folder.
    case file(Template, range: SourceRange)
    /// The bytes of the part that an upload is sending: `"part": true`.
    case part
}

/// The keys that name a body, of which a request has at most one.
struct BodyFields: Sendable {
    let json: Field<JSONTemplate>
    let form: Field<ValueTable>
    let text: Field<Template>
    let file: Field<Template>
    let part: Field<Bool>
    private let allowsPart: Bool

    init(_ roots: AllowedRoots, allowsPart: Bool) {
        json = Field("json", .json(roots), "The body as JSON; a member whose name ends in ? is left out when null.")
        form = Field("form", .table(roots), "The body as application/x-www-form-urlencoded, name → value.")
        text = Field("text", .template(roots), "The body as plain text.")
        file = Field("file", .template(roots), "The body is this local file.")
        part = Field("part", .boolean, "The body is the bytes of the part that is being uploaded.")
        self.allowsPart = allowsPart
    }

    var all: [any AnyField] { [json, form, text, file] + (allowsPart ? [part] : []) }

    /// The body; nil after having reported mistakes.
    func read(_ reader: ObjectReader) -> BodyDefinition? {
        let names = all.map(\.name).filter { reader.has($0) }
        if names.count > 1, let second = reader.place(of: names[1]) {
            reader.findings.report(
                second, "a request has one body, and this one has \(names.count)",
                hint: "keep one of " + names.map { "\"\($0)\"" }.joined(separator: ", "))
        }
        switch names.first {
        case "json": return reader.optional(json).map(BodyDefinition.json)
        case "form": return reader.optional(form).map(BodyDefinition.form)
        case "text": return reader.optional(text).map(BodyDefinition.text)
        case "file":
            guard let range = reader.place(of: "file")?.node.range else { return nil }
            return reader.optional(file).map { .file($0, range: range) }
        case "part": return reader.optional(part).map { $0 ? .part : .none }
        default: return BodyDefinition.none
        }
    }
}
