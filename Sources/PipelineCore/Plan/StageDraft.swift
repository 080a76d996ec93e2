import JSONPath

/// A stage while it is being planned: read, its references collected, not yet checked against the others.
///
/// A class: a document may have thousands, and a copy would retain all that each holds.
final class StageDraft {
    let definition: StageDefinition
    /// The stage before it in the array.
    let previous: String?
    /// True if it stands in `finally`.
    var isFinal = false
    var options: StageOptions?
    var kind: StageKind?
    /// Nil when it has mistakes; then what it captures isn't known for sure.
    var stage: AnyStage?
    var retry = RetryDefinition()
    /// References of `when`, and of what is judged once it has ended.
    var conditionUses: [ReferenceUse] = []
    /// References of `forEach`.
    var elementUses: [ReferenceUse] = []
    /// References of its own configuration, and of the settings around it.
    var bodyUses: [ReferenceUse] = []
    var captures: [CaptureDeclaration] = []
    /// Values that expressions give, to be checked once they are known.
    var checks: [SettingCheck] = []

    init(definition: StageDefinition, previous: String?) {
        self.definition = definition
        self.previous = previous
    }

    /// All its references; most stages have none of the first two sorts.
    var uses: [ReferenceUse] {
        conditionUses.isEmpty && elementUses.isEmpty ? bodyUses : conditionUses + elementUses + bodyUses
    }

    /// All stages that must have ended before it: those it names, those it reads from, else the one before it.
    ///
    /// - Parameter broken: places of references that don't count, since they are mistakes.
    func needs(without broken: Set<SourceRange> = []) -> [String] {
        let named = options?.needs?.compactMap(\.text) ?? previous.map { [$0] } ?? []
        if isFinal { return [] }
        let followed = options?.forEach?.followed.map { [$0] } ?? []
        let renewed = options?.renew?.text.map { [$0] } ?? []
        let read = uses.compactMap { broken.contains($0.reference.range) ? nil : $0.sourceStage }
        var seen: Set<String> = []
        return (named + followed + renewed + read).filter { $0 != definition.id && seen.insert($0).inserted }
    }

    /// Under a phone's budget a transfer that first starts in the background is so whatever the document says.
    func isDiscretionary(_ options: StageOptions, in background: BackgroundDefinition) -> Setting<Bool> {
        if case .ios = background.budget, stage?.work == .transfer { return .constant(true) }
        return options.isDiscretionary ?? background.isDiscretionary
    }

    /// The `oauth2` decorators that hold for the stage, wherever they stand.
    func tokens(_ options: StageOptions, in document: PipelineDefinition) -> [String] {
        var found: [String] = []
        Self.addTokens(in: definition.place.node, to: &found)
        let service = document.services.first { $0.name == options.service }
        for decorators in [service?.decorators ?? [], document.defaults.decorators] {
            for decorator in decorators where decorator.name == "oauth2" {
                Self.add(decorator.configuration.node.json.text, to: &found)
            }
        }
        return found
    }

    private static func addTokens(in node: JSONNode, to found: inout [String]) {
        switch node.content {
        case .object(let members):
            for member in members {
                guard member.name == "with", case .array(let list) = member.value.content else {
                    addTokens(in: member.value, to: &found)
                    continue
                }
                for entry in list {
                    if let token = entry.member("oauth2") { add(token.value.json.text, to: &found) }
                }
            }
        case .array(let elements): for element in elements { addTokens(in: element, to: &found) }
        case .null, .bool, .number, .string: break
        }
    }

    private static func add(_ token: String, to found: inout [String]) {
        if !found.contains(token) { found.append(token) }
    }

    /// The captures that expressions read, by the stage whose they are.
    static func namesRead(by document: [ReferenceUse], in drafts: [StageDraft]) -> [String: NamesRead] {
        var names: [String: NamesRead] = [:]
        for use in document {
            if case .capture(let stage, let name) = use.reference.root {
                names[stage, default: NamesRead()].add(name, use)
            }
        }
        for draft in drafts {
            for use in draft.uses {
                switch use.reference.root {
                case .capture(let stage, let name): names[stage, default: NamesRead()].add(name, use)
                case .own(let name): names[draft.definition.id, default: NamesRead()].add(name, use)
                default: break
                }
            }
        }
        return names
    }

    /// The inputs of type url that it needs as files: read by a function of files, or by a key `file`.
    func fetchedInputs(of document: PipelineDefinition) -> [String] {
        let urls = Set(document.inputs.filter { $0.kind == .url }.map(\.name))
        guard !urls.isEmpty else { return [] }
        var found: [String] = []
        for use in uses {
            guard case .input(let name) = use.reference.root, urls.contains(name), !found.contains(name) else {
                continue
            }
            let isRead = use.reference.function?.readsFile == true
            if isRead || use.place.pointer.hasSuffix("/file") { found.append(name) }
        }
        return found
    }

    /// The captures that it reads, whether or not it can do without.
    ///
    /// - Parameter expiring: the stages whose author says until when their captures are good.
    func readCaptures(expiring: Set<String>) -> ReadCaptures {
        let names: [String: Set<String?>] = bodyUses.reduce(into: [:]) { found, use in
            guard case .capture(let stage, let name) = use.reference.root else { return }
            found[stage, default: []].insert(name)
        }
        let elements = Set(elementUses.compactMap(\.sourceStage))
        return ReadCaptures(names: names, elements: elements, expiringElements: elements.intersection(expiring))
    }

    /// The stages of which it reads a capture that it can't do without.
    var neededSources: Set<String> {
        Set((elementUses + bodyUses).filter { !$0.reference.toleratesNull }.compactMap(\.sourceStage))
    }
}

extension ReferenceUse {
    /// The stage whose capture is referred to.
    var sourceStage: String? { if case .capture(let stage, _) = reference.root { stage } else { nil } }
}
