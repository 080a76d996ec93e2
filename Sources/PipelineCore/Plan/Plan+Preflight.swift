import JSONPath

extension JobStart {
    /// The first value that an expression gives and that is wrong, of those that are known.
    fileprivate func preflight(to checks: [SettingCheck], in source: SourceText) -> StepFailure? {
        for check in checks where knows(check.references) {
            guard let mistake = check.mistake(in: known) else { continue }
            let position = source.position(at: check.range.start)
            return StepFailure(
                mistake.message, hint: mistake.hint, place: "\(source.name):\(position.line):\(position.column)")
        }
        return nil
    }
}

extension Plan {
    /// The files that a job writes for sure, as far as they are known when it starts, but for those of items.
    package func targets(at start: JobStart) -> [String] {
        certainStages(at: start).filter { $0.forEach == nil }.compactMap { $0.stage.target(start) }
    }

    /// Returns what makes a job fail for sure, as far as it is known when it starts; nil for nothing.
    ///
    /// Only stages that will run are asked, and whose failure ends the job.
    package func preflight(at start: JobStart) async -> StepFailure? {
        if let mistake = mistake(at: start) ?? wrongAddress(at: start) { return mistake }
        var start = start
        let afterWrites = stagesAfterWrites
        for stage in certainStages(at: start) where stage.continuesOnFailure.constant == false {
            start.isBeforeWrites = !afterWrites.contains(stage.id)
            let failure =
                stage.forEach == nil ? await stage.stage.preflight(start) : await itemPreflight(to: stage, at: start)
            if var failure {
                failure.place = failure.place ?? stage.place
                return failure
            }
        }
        return nil
    }

    /// The first address of a service that can't be made, of those that are known: an environment variable that is not set
    /// stays so for the whole job, so that no resume mends it.
    private func wrongAddress(at start: JobStart) -> StepFailure? {
        let used = Set(certainStages(at: start).compactMap(\.service))
        for service in definition.services where used.contains(service.name) && start.knows(service.url.references) {
            do throws(EvaluationFailure) {
                let text = try service.url.evaluateText(in: start.known)
                if let mistake = service.mistake(inAddress: text) { return mistake }
            } catch {
                return StepFailure("the address of service '\(service.name)': \(error.message)", hint: error.hint)
            }
        }
        return nil
    }

    /// Returns what makes an item of a stage fail for sure, of items that are known when the job starts: two of them
    /// that write one file, too.
    private func itemPreflight(to stage: PlannedStage, at start: JobStart) async -> StepFailure? {
        var writers: [String: Int] = [:]
        for (index, item) in (items(of: stage, at: start) ?? []).enumerated() {
            var start = start
            start.known.item = item
            start.known.index = index
            start.known.itemIsOwn = true
            if var failure = await stage.stage.preflight(start) {
                failure.title = "item \(index) of stage '\(stage.id)': \(failure.title)"
                return failure
            }
            guard let target = stage.stage.target(start) else { continue }
            if let other = writers[target] {
                return StepFailure(
                    "items \(other) and \(index) of stage '\(stage.id)' would both write \(target)",
                    hint: "put something into \"to\" that tells them apart, for example ${{ index }}")
            }
            writers[target] = index
        }
        return nil
    }

    /// The items of a stage as far as they are known; nil when they are not.
    private func items(of stage: PlannedStage, at start: JobStart) -> [JSON]? {
        switch stage.forEach {
        case .elements(let expression):
            guard start.knows(expression.references) else { return nil }
            return (try? expression.evaluate(in: start.known))?.array
        case .items(let followed, _): return self.stage(followed).flatMap { items(of: $0, at: start) }
        case nil: return nil
        }
    }

    /// The first duration, size, number or boolean that an expression gives and that is wrong, as far as it is known.
    package func mistake(at start: JobStart) -> StepFailure? {
        if let failure = start.preflight(to: checks, in: definition.source) { return failure }
        for stage in certainStages(at: start) + finally.filter({ $0.isWanted(at: start) }) {
            if let failure = start.preflight(to: stage.checks, in: definition.source) { return failure }
        }
        return nil
    }

    /// The stages that wait for one that may write files.
    private var stagesAfterWrites: Set<String> {
        var found: Set<String> = []
        var isComplete = false
        while !isComplete {
            isComplete = true
            for stage in stages where !found.contains(stage.id) {
                let isAfter = stage.needs.contains { found.contains($0) || self.stage($0)?.stage.writesFiles != false }
                if !isAfter { continue }
                found.insert(stage.id)
                isComplete = false
            }
        }
        return found
    }

    /// The stages that no condition can keep from running: one whose value is known is true.
    private func certainStages(at start: JobStart) -> [PlannedStage] {
        var skippable: Set<String> = []
        return stages.filter { stage in
            if !stage.isWanted(at: start) || !stage.reads.isDisjoint(with: skippable) { skippable.insert(stage.id) }
            return !skippable.contains(stage.id)
        }
    }
}

extension PlannedStage {
    /// Returns whether its own `when` lets it run, as far as that is known: one that reads what other stages give, an item or
    /// a file, does not for sure.
    fileprivate func isWanted(at start: JobStart) -> Bool {
        guard let condition else { return true }
        return start.knows(condition.references) && (try? condition.evaluateCondition(in: start.known)) == true
    }
}
