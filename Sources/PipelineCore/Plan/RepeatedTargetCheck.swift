import JSONPath

/// Warns of a stage that is repeated over items and has one `to` for all of them: the second would meet the file of the
/// first.
struct RepeatedTargetCheck {
    let findings: DiagnosticCollector

    func run(_ draft: StageDraft) {
        guard draft.options?.forEach != nil,
            let target = draft.definition.place.members?.first(where: { $0.member.name == "to" })?.place,
            let text = target.text, !text.hasSuffix("/"), !text.contains("uuid()")
        else { return }
        let range = target.node.range
        let differs = draft.uses.contains { use in
            guard range.start <= use.reference.range.start, use.reference.range.end <= range.end else { return false }
            switch use.reference.root {
            case .item, .index, .own, .ownParts, .ownKey, .callbackURL, .capture, .response, .part, .ids: return true
            case .input, .environment, .secret, .job: return false
            }
        }
        guard !differs else { return }
        findings.warn(
            target, "each item of stage '\(draft.definition.id)' writes the same file",
            hint: "put something into \"to\" that tells them apart, for example ${{ index }} or ${{ basename(item) }}")
    }
}
