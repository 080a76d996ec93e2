import JSONPath
import PipelineCore

/// The kind `write`: a value becomes a file.
enum WriteKind {
    static func make() -> StageKind {
        let to = Field("to", FieldType<Template>.outputPath(), required: true, "The file to write.")
        let json = Field("json", FieldType<JSONTemplate>.json(), "The content as JSON.")
        let text = Field("text", FieldType<Template>.template(), "The content as text.")
        let base64 = Field("base64", FieldType<Template>.template(), "The content in base64.")
        return StageKind(
            name: "write", summary: "Writes a value to a file.", fields: [to, json, text, base64]
        ) { reading in
            let reader = reading.reader
            reading.declare([CaptureDeclaration(name: "path")])
            let target = reader.required(to)
            let present = ["json", "text", "base64"].filter { reader.has($0) }
            let content: WriteStage.Content? =
                switch present.first {
                case "json": reader.optional(json).map(WriteStage.Content.json)
                case "text": reader.optional(text).map(WriteStage.Content.text)
                default: reader.optional(base64).map(WriteStage.Content.base64)
                }
            if present.count != 1 {
                reader.findings.report(
                    reader.place, "a write has one content, and this one has \(present.count)",
                    hint: "give it one of \"json\", \"text\", \"base64\"")
            }
            if case .base64(let template)? = content, let text = template.constant, WriteStage.decoded(text) == nil,
                let place = reader.place(of: "base64")
            {
                reader.findings.report(place, WriteStage.noBase64, hint: WriteStage.base64Hint)
            }
            guard let target, let content else { return nil }
            return AnyStage(WriteStage(to: target, content: content), coding: .json)
        }
    }
}

/// Writes one value to one file.
struct WriteStage: Stage {
    /// There is nothing between before and after.
    struct Checkpoint: Codable, Sendable {}

    enum Content: Sendable {
        case json(JSONTemplate)
        case text(Template)
        case base64(Template)
    }

    static let noBase64 = "the value of 'base64' is no base64"
    static let base64Hint = "it must be of the standard or the URL-safe alphabet (RFC 4648)"

    let to: Template
    let content: Content

    func resume(
        from checkpoint: Checkpoint?, in context: StageContext<Checkpoint>
    ) async throws(StageFailure) -> StageOutcome<Checkpoint> {
        let path = try await context.outputFile(to)
        let written = try await ResultFile.write(try await bytes(in: context), to: path, in: context)
        return .finished(["path": .string(written.path)])
    }

    func preflight(at start: JobStart) async -> StepFailure? { start.preflight(toWritingFile: to) }

    private func bytes(in context: StageContext<Checkpoint>) async throws(StageFailure) -> [UInt8] {
        switch content {
        case .json(let template):
            let value = try await context.evaluate { scope throws(EvaluationFailure) in try template.evaluate(in: scope)
            }
            return Array((value.prettyText() + "\n").utf8)
        case .text(let template): return Array(try await text(template, in: context).utf8)
        case .base64(let template):
            let text = try await text(template, in: context)
            guard let bytes = Self.decoded(text) else {
                throw .definite(
                    StepFailure(Self.noBase64, hint: Self.base64Hint, place: context.facts.place))
            }
            return bytes
        }
    }

    private func text(_ template: Template, in context: StageContext<Checkpoint>) async throws(StageFailure) -> String {
        try await context.evaluate { scope throws(EvaluationFailure) in try template.evaluateText(in: scope) }
    }

    /// Both alphabets of RFC 4648, with or without padding and line breaks; a `data:` URL's head is left out.
    static func decoded(_ text: String) -> [UInt8]? {
        let content = text.hasPrefix("data:") ? text.drop { $0 != "," }.dropFirst() : Substring(text)
        let blanks: Set<UInt8> = [9, 10, 13, 32]
        return Base64Bytes.decode(String(decoding: content.utf8.filter { !blanks.contains($0) }, as: UTF8.self))
    }
}
