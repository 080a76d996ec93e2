package import JSONPath

/// The captures of a job as they may be shown: the value of a secret one is hidden wherever it stands, in other captures too.
///
/// Without a plan nobody knows which are secret, and none is shown.
package struct ShownCaptures: Sendable {
    /// The names of secret captures by stage; nil when nobody knows them.
    private let secrets: [String: Set<String>]?
    private let redactor: Redactor

    /// - Parameters:
    ///   - steps: all steps of the job: a value that is secret in one of them may stand in any other.
    ///   - plan: nil for a document that can't be planned any more.
    package init(of steps: [StepKey: StepRecord], plan: Plan?) {
        guard let plan else {
            secrets = nil
            redactor = Redactor()
            return
        }
        let named = (plan.stages + plan.finally).compactMap { stage -> (String, Set<String>)? in
            let names = stage.captures.filter(\.isSecret).map(\.name)
            return names.isEmpty ? nil : (stage.id, Set(names))
        }
        let secrets = Dictionary(named) { $0.union($1) }
        self.secrets = secrets
        if secrets.isEmpty {
            redactor = Redactor()
            return
        }
        var known: Set<String> = []
        var texts: [(name: String, value: String)] = []
        for (key, step) in steps.sorted(by: { $0.key < $1.key }) {
            let own = plan.stage(key.stage)?.secretTexts(in: step.captures) ?? []
            texts += own.filter { known.insert($0.value).inserted }
        }
        redactor = Redactor(texts)
    }

    /// The captures of a step, in their order: as others read them of one that has succeeded.
    package func captures(of key: StepKey, _ step: StepRecord) -> JSONObject {
        let captures = if case .succeeded(let final) = step.state { final } else { step.captures }
        return JSONObject(
            captures.map { member in
                let isShown = secrets.map { $0[key.stage]?.contains(member.name) != true } ?? false
                return (member.name, isShown ? redact(member.value).withoutSealed : "‹secret›")
            })
    }

    /// Any other value that captures went into.
    package func redact(_ value: JSON) -> JSON { redactor.redact(value) }
}
