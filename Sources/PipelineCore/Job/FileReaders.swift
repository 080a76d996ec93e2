import JSONPath

/// The steps that read files of a job.
struct FileReaders {
    let job: JobSnapshot
    let plan: Plan

    func files(retried: Bool) -> [WrittenFile] {
        (job.files + copies).filter { file in
            if let key = file.step {
                guard job.steps[key]?.state.name == .succeeded, job.submits[key]?.isBegun != true,
                    plan.stage(key.stage).map(Self.isRepeatable) == true
                else { return false }
            }
            return !stages(reading: file, retried: retried).isEmpty
        }
    }

    private var copies: [WrittenFile] {
        job.facts.copies.map { WrittenFile(path: $0, bytes: 0, sha256: nil) }
    }

    /// The steps under way, or that failed, that read a file and can begin again with another copy of it.
    func steps(reading file: WrittenFile) -> [StepKey] {
        let stages = stages(reading: file, retried: true).filter(Self.isRepeatable).map(\.id)
        return job.steps.filter { key, step in
            stages.contains(key.stage) && [.running, .waiting, .failed, .cancelled].contains(step.state.name)
                && job.submits[key]?.isBegun != true
        }.map(\.key)
    }

    private func stages(reading file: WrittenFile, retried: Bool) -> [PlannedStage] {
        plan.stages.filter { reader in
            let state = job.steps[StepKey(stage: reader.id)]?.state
            // What cleans up has no row until it begins.
            let isToRun =
                state.map { !$0.isEnded || retried && [.failed, .cancelled].contains($0.name) } ?? reader.isFinal
            return isToRun && reads(file, reader)
        }
    }

    private func reads(_ file: WrittenFile, _ reader: PlannedStage) -> Bool {
        guard let key = file.step else {
            return plan.fetchedInputs[reader.id, default: []].contains { input in
                guard let url = job.record.inputs[input]?.string else { return false }
                return job.facts[.copy(url: url)]?.string == file.path
            }
        }
        guard case .succeeded(let captures) = job.steps[key]?.state else { return false }
        let isRepeated = reader.isRepeated(over: key.stage)
        return captures.contains {
            $0.value.mentions(file.path) && (isRepeated || reader.reads($0.name, of: key.stage))
        }
    }

    private static func isRepeatable(_ stage: PlannedStage) -> Bool {
        switch stage.stage.work {
        case .local, .transfer: true
        case .remoteJob, .wait: false
        }
    }
}

extension JSON {
    /// Returns whether the value is the text, or has it as an element or member at any depth.
    func mentions(_ text: String) -> Bool {
        string == text || array?.contains { $0.mentions(text) } == true
            || object?.contains { $0.value.mentions(text) } == true
    }
}
