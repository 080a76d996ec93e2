import JSONPath

/// A stage with everything that the job machine decides from.
///
/// A class: each step asks for its stage many times, and a copy would retain all that it holds.
package final class PlannedStage: Sendable {
    package let id: String
    package let kind: String
    /// The name of the service that its requests go to; nil when it names none.
    package let service: String?
    package let stage: AnyStage
    /// The stages that must have ended before it: those it names, those it reads from, else the one before it.
    package let needs: [String]
    /// Of them those whose being skipped skips this one: it reads their captures and can't do without.
    package let reads: Set<String>
    /// The captures that it reads, with a default too. What has expired of them is void, and a file of them has to be
    /// there.
    let readCaptures: ReadCaptures
    package let condition: Expression?
    /// The items over which it is repeated; nil for a stage that runs once.
    package let forEach: ForEachDefinition?
    /// The number of its items that run at a time; 4 when nothing is said.
    package let concurrency: Setting<Int>?
    /// The number of its items that may fail; none when nothing is said.
    package let tolerance: Setting<FailureTolerance>?
    /// True if no more of its items start once one has failed.
    package let stopsOnFailure: Setting<Bool>
    package let warnings: [WarnDefinition]
    /// The cost of its success, in the author's currency; nil when nobody says.
    package let cost: Expression?
    /// True if it runs when the job has ended: it may read every capture, and its failure changes nothing.
    package let isFinal: Bool
    package let continuesOnFailure: Setting<Bool>
    /// Its own `retry` over the document's.
    package let retries: RetryDefinition
    package let deadline: Setting<Duration>?
    package let keepsOwnDeadline: Bool
    package let estimate: Setting<Duration>?
    /// Until when its captures are good.
    package let expires: ExpiryDefinition?
    /// The stage that is run again for fresh captures; one of `needs`.
    package let renews: String?
    /// True if running it again for fresh captures asks after what it began, instead of beginning it again.
    package let keepsSubmit: Bool
    /// True if it also waits for a good moment when no person waits.
    package let discretionary: Setting<Bool>
    /// The tokens that its requests fetch, each by the text of its configuration: a service answers with one before
    /// it answers with anything else.
    package let tokens: [String]
    /// Its captures that expressions read, and which of them somebody can't do without.
    let namesReadOfIt: NamesRead
    /// The subject of its durations, or how that is found.
    let durationSubject: Subject
    /// The captures that it makes.
    package let captures: [CaptureDeclaration]
    /// Values of it that expressions give, to be checked once they are known.
    let checks: [SettingCheck]
    let source: SourceText
    let offset: Int

    /// Nil when the draft has mistakes.
    ///
    /// - Parameters:
    ///   - namesRead: the captures of it that expressions read.
    ///   - expiring: the stages whose author says until when their captures are good.
    init?(_ draft: StageDraft, by document: PipelineDefinition, namesRead: NamesRead, expiring: Set<String>) {
        guard let options = draft.options, let kind = draft.kind, let stage = draft.stage else { return nil }
        id = draft.definition.id
        self.kind = kind.name
        service = options.service
        self.stage = stage
        needs = draft.needs()
        readCaptures = draft.isFinal ? ReadCaptures() : draft.readCaptures(expiring: expiring)
        reads = draft.isFinal ? [] : draft.neededSources
        condition = options.condition
        forEach = options.forEach
        concurrency = options.concurrency ?? document.defaults.concurrency
        tolerance = options.tolerance
        stopsOnFailure = options.stopsOnFailure
        warnings = options.warnings
        cost = options.cost
        isFinal = draft.isFinal
        continuesOnFailure = options.continuesOnFailure
        retries = draft.retry
        deadline = options.deadline ?? document.defaults.deadline ?? kind.defaultDeadline.map(Setting.constant)
        keepsOwnDeadline = kind.keepsOwnDeadline
        estimate = options.estimate
        expires = options.expires
        renews = options.renew?.text
        keepsSubmit = kind.keepsSubmit
        discretionary = draft.isDiscretionary(options, in: document.background)
        tokens = draft.tokens(options, in: document)
        namesReadOfIt = namesRead
        durationSubject = Subject(kind.name, at: document.services.first { $0.name == options.service }?.url)
        captures = draft.captures
        checks = draft.checks
        source = document.source
        offset = draft.definition.place.node.range.start
    }

    /// The captures of it that some expression of the document reads; nil for a name that is computed.
    package var namesRead: Set<String?> { namesReadOfIt.all }

    /// Returns whether it reads that capture of a stage otherwise than in `forEach`, as far as its text tells.
    package func reads(_ capture: String, of source: String) -> Bool {
        readCaptures.names[source].map { $0.contains(capture) || $0.contains(nil) } ?? false
    }

    /// True if the stage that gives it fresh captures also gives it the elements that it is repeated over.
    var renewsElements: Bool { renews.map { readCaptures.elements.contains($0) } ?? false }

    /// Returns whether it reads captures of a stage otherwise than in `forEach`. What follows the items of a stage reads
    /// those of its own item.
    func readsWhole(_ stage: String) -> Bool {
        if forEach?.followed == stage { return false }
        let judged = condition?.references.contains { reference in
            if case .capture(stage, _) = reference.root { true } else { false }
        }
        return readCaptures.names[stage] != nil || judged == true
    }

    /// Returns whether it reads captures of a stage in any way, or follows its items.
    func reads(_ stage: String) -> Bool { readsWhole(stage) || isRepeated(over: stage) }

    /// Returns whether it is repeated over what a stage gives, or follows its items.
    func isRepeated(over stage: String) -> Bool {
        forEach?.followed == stage || readCaptures.elements.contains(stage)
    }

    /// Returns whether its steps need captures of a stage as they go on: they read them, or have them made anew.
    func goesOn(with stage: String) -> Bool { renews == stage || readsWhole(stage) }

    /// Returns whether the success of a step of it has a cost, or may have a warning, which are found out then.
    func judgesSuccess(of key: StepKey) -> Bool {
        let isRepeated = forEach != nil
        return cost != nil && (!isRepeated || key.item != nil)
            || warnings.contains { !isRepeated || $0.readsItem == (key.item != nil) }
    }

    /// Returns whether values of a step are to be judged before it begins. Those of a repeated stage are its items'.
    package func hasValues(of key: StepKey) -> Bool { !checks.isEmpty && (forEach == nil || key.item != nil) }

    /// Throws the first of its values that is wrong, of those that are known before a step of it begins.
    package func checkValues(in scope: Scope) throws(EvaluationFailure) {
        for check in checks where check.isOfBeginning && check.isKnownBefore {
            if let mistake = check.mistake(in: scope) { throw mistake }
        }
    }

    /// True if nothing must be found out before it begins.
    var beginsWithJob: Bool { condition == nil && forEach == nil && renews == nil && hasConstantSettings }

    /// True if what the document says around its work is the same for every job.
    package var hasConstantSettings: Bool {
        retries.isConstant && continuesOnFailure.constant != nil && discretionary.constant != nil
            && (deadline == nil || deadline?.constant != nil)
    }

    /// True if what bounds its items is.
    var hasConstantLimits: Bool {
        (concurrency == nil || concurrency?.constant != nil) && (tolerance == nil || tolerance?.constant != nil)
            && stopsOnFailure.constant != nil
    }

    /// The rule by which a failed attempt is repeated, as far as that is known without values of expressions.
    package var retry: RetryPolicy { retries.constants }

    /// Returns whether it also waits for a good moment when no person waits; an expression that has no value yet says
    /// no.
    package func isDiscretionary(in scope: @autoclosure () -> Scope) -> Bool {
        discretionary.constant ?? (try? discretionary.value(in: scope())) ?? false
    }

    /// True if `when` speaks of one item of a `forEach`; else it is judged once, for the whole stage.
    package var conditionReadsItem: Bool {
        forEach != nil && condition?.references.contains { $0.root == .item || $0.root == .index } == true
    }

    /// The place where it stands in the document: `FILE:LINE:COLUMN`. Found when it is asked for, which is rare.
    package var place: String {
        let position = source.position(at: offset)
        return "\(source.name):\(position.line):\(position.column)"
    }
}
