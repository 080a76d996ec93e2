import JSONPath

/// Checks that inputs are used as what they are: a path is no content and has no members, and a file is no list.
struct InputUseCheck {
    private let kinds: [String: InputDefinition.Kind]
    private let findings: DiagnosticCollector

    init(definition: PipelineDefinition, findings: DiagnosticCollector) {
        kinds = Dictionary(
            definition.inputs.map { ($0.name, $0.kind) }, uniquingKeysWith: { first, _ in first })
        self.findings = findings
    }

    func run(_ draft: StageDraft) {
        for use in draft.uses { check(use, in: draft) }
        guard case .elements(let expression) = draft.options?.forEach, let name = expression.wholeInput,
            let kind = kinds[name],
            let place = draft.definition.place.members?.first(where: { $0.member.name == "forEach" })
        else { return }
        let hint: String
        switch kind {
        case .files, .json: return
        case .file:
            hint =
                "an input of type \"files\" has several; jsonLines(inputs.\(name)) gives the items that stand in the file"
        case .string, .url: hint = "split(inputs.\(name), ',') makes an array of a text"
        case .number, .boolean: hint = "an input of type \"json\" may be an array"
        }
        findings.report(
            place.place, "forEach needs an array, and the input '\(name)' is \(kind.noun)", hint: hint)
    }

    private func check(_ use: ReferenceUse, in draft: StageDraft) {
        guard let kind = kind(of: use.reference, in: draft) else { return }
        let shown = Self.text(of: use.reference)
        if let member = use.reference.member {
            checkMember(member, of: shown, kind, use)
        } else if let function = use.reference.function {
            check(function, of: shown, kind, use)
        }
    }

    /// Members of what has none: their value would always be null.
    private func checkMember(_ member: String, of shown: String, _ kind: InputDefinition.Kind, _ use: ReferenceUse) {
        if kind == .files || kind == .json || use.reference.toleratesNull { return }
        let place = use.place.descendant(at: use.reference.range.start)
        findings.reportLately(
            range: use.reference.range, pointer: place.pointer,
            "\(shown) is \(kind.noun), and has no member '\(member)'",
            hint: Self.function(for: member.lowercased(), of: kind).map { "write \($0)(\(shown))" }
                ?? "an input of type \"json\" may have members")
    }

    /// The function that gives what other languages have as a member.
    private static func function(for member: String, of kind: InputDefinition.Kind) -> String? {
        switch (member, kind) {
        case ("length", .string): "len"
        case ("name", .file), ("filename", .file), ("basename", .file): "basename"
        case ("size", .file), ("length", .file): "size"
        case ("digest", .file), ("sha256", .file), ("hash", .file): "digest"
        case ("content", .file), ("contents", .file), ("text", .file): "text"
        case ("stem", .file), ("extension", .file), ("dirname", .file): member
        default: nil
        }
    }

    /// Functions that take a text, given a path: they would work on the path itself.
    private func check(
        _ function: ExpressionFunction, of shown: String, _ kind: InputDefinition.Kind, _ use: ReferenceUse
    ) {
        let (message, hint): (String, String)
        switch (function, kind) {
        case (.base64, .file):
            (message, hint) = (
                "base64(\(shown)) would encode the path, not the file", "fileBase64(\(shown)) encodes the file"
            )
        case (.sha256, .file), (.hex, .file):
            (message, hint) = (
                "\(function.rawValue)(\(shown)) would be of the path, not of the file",
                "digest(\(shown)) is the SHA-256 of the file, in hex"
            )
        case (.parse, .file):
            (message, hint) = (
                "parse(\(shown)) would read the path, not the file", "parse(text(\(shown))) reads the file"
            )
        default: return
        }
        let place = use.place.descendant(at: use.reference.range.start)
        findings.report(range: use.reference.range, pointer: place.pointer, message, hint: hint)
    }

    /// The type of what is referred to, where an input says it.
    private func kind(of reference: Reference, in draft: StageDraft) -> InputDefinition.Kind? {
        switch reference.root {
        case .input(let name): return kinds[name]
        case .item:
            guard case .elements(let expression) = draft.options?.forEach, let name = expression.wholeInput else {
                return nil
            }
            return kinds[name] == .files ? .file : nil
        default: return nil
        }
    }

    private static func text(of reference: Reference) -> String {
        if case .input(let name) = reference.root { "inputs.\(name)" } else { "item" }
    }
}
