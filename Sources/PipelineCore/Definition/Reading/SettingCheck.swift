import JSONPath

/// A value of the document that an expression gives, and whether it is right: asked as soon as it is known.
struct SettingCheck: Sendable {
    /// The references that it reads.
    let references: [Reference]
    /// The place where it stands.
    let range: SourceRange
    /// True if it needs files, the time or chance besides what it reads.
    let asksOutside: Bool
    /// True if a wrong value keeps the stage from its beginning.
    var isOfBeginning = true
    private let evaluate: @Sendable (Scope) throws(EvaluationFailure) -> Void

    init<Value>(_ setting: Setting<Value>, _ template: Template, range: SourceRange) {
        self.init(template, range: range) { scope throws(EvaluationFailure) in _ = try setting.value(in: scope) }
    }

    /// - Parameter evaluate: throws what is wrong with the template's value.
    init(
        _ template: Template, range: SourceRange,
        evaluate: @escaping @Sendable (Scope) throws(EvaluationFailure) -> Void
    ) {
        references = template.references
        self.range = range
        asksOutside = template.asksOutside
        self.evaluate = evaluate
    }

    /// Returns what is wrong with the value in a scope; nil when it is right, or not yet known.
    func mistake(in scope: Scope) -> EvaluationFailure? {
        guard !asksOutside else { return nil }
        do throws(EvaluationFailure) {
            try evaluate(scope)
            return nil
        } catch {
            if case .wrong = error { return error }
            return nil
        }
    }

    /// True if it is known before a step begins, or its item: it reads nothing that the step itself gives.
    var isKnownBefore: Bool {
        references.allSatisfy { reference in
            switch reference.root {
            case .input, .environment, .secret, .capture, .job, .item, .index: true
            default: false
            }
        }
    }

    /// True if it is known before there is any job: it reads nothing.
    var isConstant: Bool { references.isEmpty }
}
