import JSONPath
import PipelineCore
import PipelineHTTP

/// One entry of `multipart.files`: a part with a file name.
struct MultipartFile: Sendable {
    private enum Content: Sendable {
        case file(Template, range: SourceRange)
        case text(Template)
        /// The bytes of the part that an upload is sending.
        case part
    }

    private let name: Template
    private let content: Content
    private let filename: Template?
    private let contentType: Template?

    static func type(_ roots: AllowedRoots) -> FieldType<MultipartFile> {
        let name = Field("name", FieldType<Template>.template(roots), required: true, "The part's name in the form.")
        let file = Field("file", FieldType<Template>.template(roots), "The local file.")
        let text = Field("text", FieldType<Template>.template(roots), "The content itself.")
        let part = Field("part", FieldType<Bool>.boolean, "The bytes of the part that is being uploaded.")
        let filename = Field("filename", FieldType<Template>.template(roots), "The file name that is sent.")
        let contentType = Field("contentType", FieldType<Template>.template(roots), "Its media type.")
        let hasParts = roots.contains(.part)
        let fields: [any AnyField] = [name, file, text] + (hasParts ? [part] : []) + [filename, contentType]
        return .object(fields) { reader in
            let label = reader.required(name)
            let content = Self.content(reader, file: file, text: text, hasPart: hasParts)
            let title = reader.optional(filename)
            let type = reader.optional(contentType)
            guard let label, let content else { return nil }
            return MultipartFile(name: label, content: content, filename: title, contentType: type)
        }
    }

    private static func content(
        _ reader: ObjectReader, file: Field<Template>, text: Field<Template>, hasPart: Bool
    ) -> Content? {
        let present = ["file", "text", "part"].filter { reader.has($0) && ($0 != "part" || hasPart) }
        guard present.count == 1, let place = reader.place(of: present[0]) else {
            reader.findings.report(reader.place, "a file of a form has either \"file\" or \"text\"")
            return nil
        }
        switch present[0] {
        case "file": return reader.optional(file).map { .file($0, range: place.node.range) }
        case "text": return reader.optional(text).map(Content.text)
        default: return .part
        }
    }

    func part(in context: DecorationScope) throws(EvaluationFailure) -> MultipartBody.Part {
        let name = try name.evaluateText(in: context.scope)
        let filename = try filename.map { template throws(EvaluationFailure) in
            try template.evaluateText(in: context.scope)
        }
        let type = try contentType.map { template throws(EvaluationFailure) in
            try template.evaluateText(in: context.scope)
        }
        switch content {
        case .file(let template, let range):
            let source = try LocalSource(template, at: range, in: context.scope)
            return .file(
                name, path: source.path, length: source.size, filename: filename, contentType: type)
        case .text(let template):
            let text = try template.evaluateText(in: context.scope)
            return MultipartBody.Part(
                name: name, filename: filename ?? name, contentType: type ?? "text/plain; charset=utf-8",
                content: .bytes(Array(text.utf8)))
        case .part:
            guard let segment = context.part else {
                throw .wrong(message: "there is no part to send here", hint: nil, range: SourceRange(start: 0, end: 0))
            }
            return MultipartBody.Part(
                name: name, filename: filename ?? "part", contentType: type ?? "application/octet-stream",
                content: segment)
        }
    }
}
