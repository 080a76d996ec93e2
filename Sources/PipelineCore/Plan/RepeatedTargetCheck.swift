import JSONPath

/// Warns of a stage that is repeated over items and has one `to` for all of them: the second would meet the file of the
/// first, or the folder that what it unpacks has for itself.
struct RepeatedTargetCheck {
    let findings: DiagnosticCollector

    func run(_ draft: StageDraft) {
        guard draft.options?.forEach != nil,
            let target = draft.definition.place.members?.first(where: { $0.member.name == "to" })?.place,
            let text = target.text, !text.contains("uuid()")
        else { return }
        let isFolder = text.hasSuffix("/")
        guard !isFolder || unpacksFolder(draft) else { return }
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
            target, "each item of stage '\(draft.definition.id)' writes the same \(isFolder ? "folder" : "file")",
            hint: "put something into \"to\" that tells them apart, for example ${{ index }} or ${{ basename(item) }}")
    }

    /// True if what comes is known to be a folder of files: a single file in one is called as the service calls it.
    private func unpacksFolder(_ draft: StageDraft) -> Bool {
        guard let unpack = draft.definition.place.members?.first(where: { $0.member.name == "unpack" })?.place else {
            return false
        }
        let format = unpack.text ?? unpack.members?.first { $0.member.name == "format" }?.place.text
        return format == "zip" || format == "tar"
    }
}
