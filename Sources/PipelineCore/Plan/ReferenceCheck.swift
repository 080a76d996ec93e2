import JSONPath

/// Checks that every reference of a document leads somewhere and may stand where it stands.
final class ReferenceCheck {
    private let drafts: [StageDraft]
    private let findings: DiagnosticCollector
    private let inputs: KnownNames?
    private let stages: KnownNames
    private let positions: [String: Int]
    /// Which stage makes a capture of that name; of several the first.
    private lazy var makers = Dictionary(
        drafts.flatMap { draft in draft.captures.map { ($0.name, draft.definition.id) } },
        uniquingKeysWith: { first, _ in first })
    /// The places of the references that were reported.
    private(set) var broken: Set<SourceRange> = []

    init(definition: PipelineDefinition, drafts: [StageDraft], findings: DiagnosticCollector) {
        self.drafts = drafts
        self.findings = findings
        inputs = definition.inputNames.map(KnownNames.init)
        stages = KnownNames(drafts.map(\.definition.id).filter { !$0.isEmpty })
        positions = Dictionary(
            drafts.enumerated().map { ($1.definition.id, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// Checks the references of the document itself, then those of its stages: what a service says is read again for
    /// each stage that names it, and is told as what it is in the service.
    func run(documentUses: [ReferenceUse]) {
        for use in documentUses { check(use, in: nil) }
        for draft in drafts {
            for use in draft.uses { check(use, in: draft) }
            checkNeeds(of: draft)
            checkFollowed(by: draft)
            checkRenewal(by: draft)
        }
    }

    private func checkFollowed(by draft: StageDraft) {
        guard case .items(let id, let place) = draft.options?.forEach else { return }
        if id == draft.definition.id {
            return findings.report(
                place, "a stage cannot follow its own items",
                hint: "name the stage before it whose items it follows, or give an array")
        }
        guard let position = positions[id], stages.contains(id) else {
            return findings.report(place, "there is no stage called '\(id)'", hint: stageHint(for: id))
        }
        if drafts[position].options?.forEach == nil {
            findings.report(
                place, "stage '\(id)' has no forEach, so it has no items",
                hint: "name a stage with forEach, or give an array: \"forEach\": \"stages.\(id).NAME\"")
        }
    }

    private func checkRenewal(by draft: StageDraft) {
        guard let place = draft.options?.renew, let id = place.text else { return }
        if id == draft.definition.id {
            return findings.report(place, "a stage cannot renew itself", hint: "name the stage whose captures it reads")
        }
        guard let position = positions[id], stages.contains(id) else {
            return findings.report(place, "there is no stage called '\(id)'", hint: stageHint(for: id))
        }
        if draft.isFinal || drafts[position].isFinal {
            findings.report(place, "a stage of 'finally' can't be run again", hint: "take 'renew' away")
        } else if drafts[position].options?.forEach != nil {
            findings.report(
                place, "stage '\(id)' has forEach, and can't be run again for one of its items",
                hint: "make the fresh captures in a stage without forEach")
        } else if drafts[position].stage?.endsByCallback == true {
            findings.reportLately(
                range: place.node.range, pointer: place.pointer,
                "stage '\(id)' ends by a callback alone, and gives the same captures when it is run again",
                hint: "give it a \"poll\", which asks for fresh ones")
        }
    }

    private func checkNeeds(of draft: StageDraft) {
        for place in draft.options?.needs ?? [] {
            guard let id = place.text else { continue }
            if id == draft.definition.id {
                findings.report(place, "a stage cannot need itself", hint: "take it out; [] means no stage")
            } else if !stages.contains(id) {
                findings.report(place, "there is no stage called '\(id)'", hint: stageHint(for: id))
            }
        }
    }

    private func check(_ use: ReferenceUse, in draft: StageDraft?) {
        guard !broken.contains(use.reference.range), isAllowed(use, in: draft) else { return }
        switch use.reference.root {
        case .input(let name): checkInput(name, use)
        case .capture(let stage, let name): checkCapture(stage, name, use, in: draft)
        case .own(let name?): checkOwn(name, use, in: draft)
        case .secret(let name): checkSecret(name, use)
        case .environment(let name):
            if name.isEmpty || name.utf8.contains(where: { $0 == 0 || $0 == UInt8(ascii: "=") }) {
                report(use, "'\(name)' cannot be the name of an environment variable", hint: "write env.NAME")
            }
        case .own, .ownKey, .callbackURL, .ownParts, .item, .index, .response, .part, .ids, .job: break
        }
    }

    private func isAllowed(_ use: ReferenceUse, in draft: StageDraft?) -> Bool {
        guard let rule = RootRule(use.reference.root) else { return true }
        if [.item, .index].contains(rule.roots), draft?.options?.forEach != nil { return true }
        let isEarly = use.roots.contains(.beforeInputs)
        if !isEarly, use.roots.contains(rule.roots) { return true }
        report(use, "'\(rule.name)' has no value here", hint: isEarly ? RootRule.beforeInputs : rule.hint)
        return false
    }

    private func checkInput(_ name: String, _ use: ReferenceUse) {
        guard let inputs, !inputs.contains(name) else { return }
        report(
            use, "there is no input called '\(name)'",
            hint: inputs.hint(
                for: name, list: "inputs here:", none: "add it: \"inputs\": { \"\(name)\": { \"type\": \"string\" } }"))
    }

    private func checkCapture(_ stage: String, _ name: String?, _ use: ReferenceUse, in draft: StageDraft?) {
        guard let position = positions[stage], stages.contains(stage) else {
            return report(use, "there is no stage called '\(stage)'", hint: stageHint(for: stage))
        }
        if let draft, draft.definition.id == stage {
            return report(
                use, "a stage cannot wait for its own captures",
                hint: "write \(name.map { "self.\($0)" } ?? "self.NAME") for what this stage has captured so far")
        }
        let source = drafts[position]
        if source.isFinal, draft?.isFinal == false {
            return report(
                use, "'\(stage)' runs only when the job has ended", hint: "a stage before that cannot read it")
        }
        // A stage that could not be read has no known captures: its own mistake is told already.
        guard source.stage != nil, let name else { return }
        let names = source.captures.map(\.name)
        if names.contains(name) { return }
        report(
            use, "stage '\(stage)' has no capture called '\(name)'",
            hint: captureHint(for: name, among: names, of: "stage '\(stage)'"))
    }

    private func checkOwn(_ name: String, _ use: ReferenceUse, in draft: StageDraft?) {
        guard let draft, draft.stage != nil else { return }
        let names = draft.captures.map(\.name)
        if names.contains(name) {
            guard !use.reference.toleratesNull,
                OwnCaptureOrder(draft.definition.place.node).isTooEarly(name, at: use.reference.range)
            else { return }
            return report(
                use, "self.\(name) comes from the response to this request, and is not known when it is sent",
                hint: "capture it in a request before this one")
        }
        if OwnCaptureOrder(draft.definition.place.node).isKeptOfPart(name, at: use.reference.range) { return }
        report(
            use, "this stage has no capture called '\(name)'",
            hint: captureHint(for: name, among: names, of: "it"))
    }

    private func checkSecret(_ name: String, _ use: ReferenceUse) {
        let isName = name.utf8.allSatisfy { byte in
            (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte)
                || [45, 46, 95].contains(byte)
        }
        if isName, let first = name.first, first != ".", first != "-" { return }
        report(
            use, "'\(name)' cannot be the name of a secret",
            hint: "letters, digits and '_', as in secrets.SERVICE_TOKEN")
    }

    private func stageHint(for id: String) -> String? {
        stages.hint(for: id, list: "stages here:", none: nil)
    }

    private func captureHint(for name: String, among names: [String], of owner: String) -> String {
        if let guess = Suggestion.nearest(to: name, among: names) { return "did you mean '\(guess)'?" }
        if ["capture", "captures", "output", "outputs", "result", "body"].contains(name), let first = names.first {
            return "a capture's name follows the id at once, as in .\(first)"
        }
        if let maker = makers[name] { return "it is a capture of stage '\(maker)': write stages.\(maker).\(name)" }
        if names.isEmpty { return "\(owner) captures nothing: add \"capture\": { \"\(name)\": \"$.\(name)\" }" }
        return "\(owner) captures \(names.prefix(12).joined(separator: ", ")); a \"capture\" adds one: "
            + "{ \"\(name)\": \"$.\(name)\" }"
    }

    private func report(_ use: ReferenceUse, _ message: String, hint: String?) {
        broken.insert(use.reference.range)
        let place = use.place.descendant(at: use.reference.range.start)
        findings.report(range: use.reference.range, pointer: place.pointer, message, hint: hint)
    }
}
