import JSONPath

extension JobTable {
    /// Seals texts of checkpoints: what repeats a secret as in captured values, and what repeats a secret capture under
    /// that. One that is another by now opens nothing. Nil where nothing is secret, or nothing seals.
    package var textSealing: CaptureSealing? { values.textSealing(with: secretCaptures) }

    private var secretCaptures: [(name: String, value: String)] {
        let stages = plan.stages + plan.finally
        guard stages.contains(where: { $0.captures.contains(where: \.isSecret) }) else { return [] }
        return snapshot.steps.sorted { $0.key < $1.key }.flatMap { key, step -> [(name: String, value: String)] in
            guard let stage = plan.stage(key.stage), stage.captures.contains(where: \.isSecret) else { return [] }
            return stage.secretTexts(in: values.opened(step.captures))
        }
    }
}
