/// What is known when a job starts, before it is journaled.
public struct JobStart: Sendable {
    /// Inputs, environment and the job itself: no captures, no secrets.
    public let known: Scope
    public let folders: JobFolders
    /// Whether the person lets existing files be replaced.
    public let overwrites: Bool

    public init(known: Scope, folders: JobFolders, overwrites: Bool) {
        self.known = known
        self.folders = folders
        self.overwrites = overwrites
    }

    /// Whether the values of all these references are known.
    public func knows(_ references: [Reference]) -> Bool {
        references.allSatisfy { reference in
            switch reference.root {
            case .input, .environment, .job: true
            default: false
            }
        }
    }
}

extension Plan {
    /// What makes a job fail for sure, as far as it is known when it starts; nil for nothing.
    ///
    /// Only stages that will run are asked, and whose failure ends the job.
    public func objection(at start: JobStart) async -> StepFailure? {
        var skippable: Set<String> = []
        for stage in stages {
            if stage.condition != nil || !stage.reads.isDisjoint(with: skippable) { skippable.insert(stage.id) }
            guard !skippable.contains(stage.id), stage.forEach == nil, stage.continuesOnFailure.constant == false
            else { continue }
            if var failure = await stage.stage.objection(start) {
                failure.place = failure.place ?? stage.place
                return failure
            }
        }
        return nil
    }
}
