import JSONPath
import PipelineCore
import PipelineHTTP

/// One entry of `multipart.files`: a part with a file name, or with `each` one for each element of an array.
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
    /// Gives the array whose elements are `item` in the templates.
    private let each: Expression?
    private let range: SourceRange

    static func type(_ roots: AllowedRoots) -> FieldType<MultipartFile> {
        FieldType(schema: type(roots, outer: roots).schema) { place, findings in
            let inner = place.node["each"] == nil ? roots : roots.union(.item)
            return type(inner, outer: roots).read(place, findings)
        }
    }

    /// - Parameter outer: what `each` itself may read.
    private static func type(_ roots: AllowedRoots, outer: AllowedRoots) -> FieldType<MultipartFile> {
        let name = Field("name", FieldType<Template>.template(roots), required: true, "The part's name in the form.")
        let file = Field("file", FieldType<Template>.template(roots), "The local file.")
        let text = Field("text", FieldType<Template>.template(roots), "The content itself.")
        let part = Field("part", FieldType<Bool>.boolean, "The bytes of the part that is being uploaded.")
        let filename = Field("filename", FieldType<Template>.template(roots), "The file name that is sent.")
        let contentType = Field("contentType", FieldType<Template>.template(roots), "Its media type.")
        let hasParts = roots.contains(.part)
        let each = Field(
            "each", FieldType<Expression>.expression(outer), examples: ["inputs.photos"],
            "An array: one part for each element, which is item in the other keys.")
        let fields: [any AnyField] = [name, file, text] + (hasParts ? [part] : []) + [filename, contentType, each]
        return .object(fields) { reader in
            let label = reader.required(name)
            let content = Self.content(reader, file: file, text: text, hasPart: hasParts)
            let title = reader.optional(filename)
            let type = reader.optional(contentType)
            let array = reader.optional(each)
            guard let label, let content else { return nil }
            return MultipartFile(
                name: label, content: content, filename: title, contentType: type, each: array,
                range: reader.place.node.range)
        }
    }

    private static func content(
        _ reader: ObjectReader, file: Field<Template>, text: Field<Template>, hasPart: Bool
    ) -> Content? {
        let present = ["file", "text", "part"].filter { reader.has($0) && ($0 != "part" || hasPart) }
        guard present.count == 1, let place = reader.place(of: present[0]) else {
            reader.findings.report(
                reader.place, "a file of a form has either \"file\" or \"text\"",
                hint: present.isEmpty
                    ? "add for example \"file\": \"photo.jpg\"" : "keep one of " + present.joined(separator: ", "))
            return nil
        }
        switch present[0] {
        case "file": return reader.optional(file).map { .file($0, range: place.node.range) }
        case "text": return reader.optional(text).map(Content.text)
        default: return .part
        }
    }

    /// The part, or one for each element of the array.
    func parts(in context: DecorationScope) throws(EvaluationFailure) -> [MultipartBody.Part] {
        guard let each else { return [try part(in: context)] }
        let value = try each.evaluate(in: context.scope)
        guard case .array(let elements) = value else {
            throw .wrong(
                message: "'each' of a form's files is \(value.kindName), and an array is needed",
                hint: value.isNull ? "give a default: \(each.text) ?? []" : nil, range: range)
        }
        var parts: [MultipartBody.Part] = []
        for element in elements {
            var context = context
            context.scope.item = element
            parts.append(try part(in: context))
        }
        return parts
    }

    private func part(in context: DecorationScope) throws(EvaluationFailure) -> MultipartBody.Part {
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
