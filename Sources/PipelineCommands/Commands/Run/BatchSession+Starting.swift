import JSONPath
import PipelineCore
import PipelineEngine
import PipelineKit

/// How `run` comes to a batch: a new one, or the one that the same command began before.
extension BatchSession {
    /// Runs the document over the items that the options name.
    func run(_ draft: JobDraft, _ given: BatchOptions, output: String) async throws -> ExitStatus {
        let folder = AbsolutePath.workingDirectory
        let settings = try settings(given, draft)
        do throws(ItemSourceError) {
            try draft.checkSources(given.each, in: folder, results: settings.results)
        } catch {
            throw CommandError(.invalid, error.message, hint: error.hint)
        }
        let key = given.batch ?? draft.batchKey(of: given.each, in: folder)
        var batch = BatchRecord(sources: given.each, folder: folder, settings: settings)
        while true {
            guard let found = try await journal.jobs(JobQuery(key: key)).first else {
                if let status = try await begin(key, batch, draft, given, output) { return status }
                continue
            }
            guard let earlier = found.snapshot.batch else {
                throw CommandError(
                    .invalid, "the key '\(key)' belongs to job \(found.snapshot.record.id), which is no batch",
                    hint: "choose another --batch")
            }
            if !given.changed { try check(found.snapshot.record, draft) }
            if found.owner != nil {
                guard !isDetached else { return busy(key) }
                if let status = try await join(found) { return status }
                continue
            }
            if found.snapshot.ended != nil, found.snapshot.request == .cancel, !given.retryFailed, !given.changed {
                console.note("batch \(key) was cancelled, and none of these rows was read")
                console.note("  hint: --retry-failed begins what had not ended, with these rows")
                return try await report(.ended(.cancelled), of: found.snapshot)
            }
            try await found.checkMachine(
                in: journal, hint: "choose another --batch for the files of this machine: each is read where it is")
            if given.results == nil { batch.settings.results = earlier.settings.results }
            batch.settings.unpriced = earlier.unpricedCount
            // One that has ended begins what rows are new.
            let stillStops = found.snapshot.ended == nil && earlier.streak.count >= batch.settings.stopAfter
            if stillStops, !given.changed, !given.retryFailed { batch.streak = earlier.streak }
            if !given.retryFailed {
                batch.settings.from = earlier.settings.from
                batch.settings.forgiven = min(earlier.settings.forgiven, earlier.count(.failed))
            }
            if let before = earlier.settings.spend, before != batch.settings.spend {
                let now = batch.settings.spend.map { AmountText.describe($0) } ?? "any amount"
                console.note(
                    "note: batch \(key) may spend \(now) by this command, and \(AmountText.describe(before)) by the one before"
                )
            }
            do {
                return try await goOn(found.snapshot, batch, draft, given, output)
            } catch JournalFailure.owned {
                continue
            }
        }
    }

    /// A batch that is running reads nothing more, and a command that is to return at once can't wait for its end.
    private func busy(_ key: String) -> ExitStatus {
        console.data(key)
        console.note("batch \(key) is running in another process, and none of these rows was read")
        console.note("  hint: run the same command again once it has ended, or without --detach, which waits for it")
        return .suspended
    }

    /// The command line wins over the document.
    private func settings(_ given: BatchOptions, _ draft: JobDraft) throws -> BatchSettings {
        let document = draft.plan.definition.batch
        func value<Value>(_ setting: Setting<Value>?) throws -> Value? {
            do throws(EvaluationFailure) {
                return try setting?.value(in: draft.known)
            } catch {
                throw CommandError(.invalid, "the document's 'batch': \(error.message)", hint: error.hint)
            }
        }
        if given.spend != nil, draft.plan.stages.allSatisfy({ $0.cost == nil }) {
            throw CommandError(
                .invalid, "--spend stops nothing: no stage of the document says what it costs",
                hint: "add \"cost\" to the stage that costs money, for example \"cost\": \"response.body.price\"")
        }
        return BatchSettings(
            atOnce: try given.atOnce ?? value(document?.atOnce) ?? 64,
            tolerance: try given.tolerate.flatMap { FailureTolerance($0) } ?? value(document?.tolerance),
            stopAfter: try value(document?.stopAfter) ?? 10,
            results: given.results.map { AbsolutePath.of($0, in: AbsolutePath.workingDirectory) },
            spend: try given.spend ?? value(document?.spend))
    }

    private func record(_ draft: JobDraft, _ id: JobID, _ key: String, _ started: Timestamp, _ output: String)
        -> JobRecord
    {
        draft.record(id: id, key: key, started: started, outputFolder: output, overwrites: options.overwrites)
    }

    /// Begins a new batch and runs it; nil if another run was faster by a moment.
    private func begin(
        _ key: String, _ batch: BatchRecord, _ draft: JobDraft, _ given: BatchOptions, _ output: String
    ) async throws -> ExitStatus? {
        let record = record(draft, workspace.newJobID(), key, journal.clock.now, output)
        if let missing = try await workspace.missingSecret(of: draft.plan, for: record) { throw missing }
        do {
            try given.makeRoom(for: batch.settings.results, document: draft.path, overwrites: options.overwrites)
        } catch {
            // Its rows go there already.
            if try await journal.jobs(JobQuery(key: key)).first != nil { return nil }
            throw error
        }
        UnsetVariableNote(of: draft.plan, draft.environment)?.show(on: console)
        PublicAddressNote(of: draft.plan, workspace.settings, isDetached ? .detached : .attached)?.show(on: console)
        let job = JobSnapshot(record: record, steps: [:], mode: .attached)
        let started = JobEvent(
            sequence: 1, time: record.started, kind: .jobStarted, job: record.id, pipeline: record.pipeline)
        let lease: Lease
        do {
            lease = try await journal.create(batch, job: job, events: [started], owner: journal.owner)
        } catch JournalFailure.keyTaken {
            return nil
        }
        let results: ResultsFile?
        do {
            results = try await resultsFile(of: record, at: batch.settings.results)
        } catch {
            try await forget(record.id, lease)
            throw error
        }
        let status = try await drive(
            job, lease, draft, results, isStrict: given.strict, known: KnownItemRule(replacesChanged: given.changed),
            readsStandardInput: true)
        if isDetached, status == .succeeded { return try await hand(record, draft, status) }
        // A source that could not be read at all leaves nothing behind.
        if status == .invalid, let end = try await journal.batch(record.id), isUntouched(end) {
            try await forget(record.id, try await journal.acquire(record.id, for: journal.owner))
            console.note("nothing was started")
        }
        return status
    }

    /// Removes a batch of which nothing was begun.
    private func forget(_ batch: JobID, _ lease: Lease) async throws {
        try await journal.commit([.ended(journal.clock.now)], under: lease)
        try await workspace.remove(batch, from: journal)
    }

    /// True if no item was ever begun, so that nothing is lost with it.
    private func isUntouched(_ batch: BatchRecord) -> Bool {
        batch.underWayCount == 0 && [.suspended, .unknown, .succeeded, .cancelled].allSatisfy { batch.count($0) == 0 }
    }

    private func goOn(
        _ job: JobSnapshot, _ batch: BatchRecord, _ draft: JobDraft, _ given: BatchOptions, _ output: String
    ) async throws -> ExitStatus {
        let record = record(draft, job.record.id, job.record.key, job.record.started, output)
        if let missing = try await workspace.missingSecret(of: draft.plan, for: record) { throw missing }
        if record.folders.output != job.record.folders.output {
            console.note(
                "note: what is done stays in \(job.record.folders.output); --output is for the items that begin now")
        }
        var latest = JobSnapshot(record: record, steps: [:], mode: .attached)
        latest.batch = batch
        let results: ResultsFile?
        do {
            try given.makeRoom(
                for: batch.settings.results, of: job, document: draft.path, overwrites: options.overwrites)
            results = try await resultsFile(of: record, at: batch.settings.results)
        } catch {
            // Another run of the batch was faster by a moment.
            let now = try await journal.jobs(JobQuery(prefix: record.id.text, isBrief: true)).first
            if let owner = now?.owner { throw JournalFailure.owned(by: owner) }
            throw error
        }
        let lease = try await acquire(job)
        let adoption = AdoptedDocument(of: record, draft.plan, variables: workspace.settings.environment)
        let accepted = given.changed ? try await adoption.accept(in: workspace, journal) : 0
        let adopted = given.changed ? try await adoption.give(toItemsIn: [.running, .suspended], in: journal) : 0
        for line in BegunItems(job, accepted: accepted, adopted: adopted).notes(
            on: record, retriesFailed: given.retryFailed)
        {
            console.note(line)
        }
        if given.retryFailed { try await adoption.give(toItemsIn: Self.retriedStates(of: job, nil), in: journal) }
        try await journal.reread(lease, as: batch, of: record)
        var known = KnownItemRule(replacesChanged: given.changed)
        if given.retryFailed {
            known.retries = Self.retriedStates(of: job, nil)
            try await journal.commit([.requested(nil)], under: lease)
        }
        let status = try await drive(
            latest, lease, draft, results, isStrict: given.strict, known: known, readsStandardInput: true)
        return isDetached ? try await hand(record, draft, status) : status
    }

    /// Says which of the items that a retry names it leaves alone.
    func noteOthers(_ keys: [String]) {
        guard !keys.isEmpty else { return }
        let names = keys.prefix(10).joined(separator: ", ") + (keys.count > 10 ? " and \(keys.count - 10) more" : "")
        console.note("not begun again, for they have not failed: \(names)")
    }

    /// Has items begin again: a cancellation of the batch that was cut off is past then.
    func beginAnew(_ keys: [String]?, in states: Set<ItemRecord.State>, of lease: Lease) async throws {
        try await journal.commit([.requested(nil)], under: lease)
        _ = try await journal.retryItems(keys, in: states, of: lease)
    }

    /// Throws unless the document and the shared inputs are those of the earlier start: they make a batch the same one.
    private func check(_ earlier: JobRecord, _ draft: JobDraft) throws {
        let fresh = record(draft, earlier.id, earlier.key, earlier.started, earlier.folders.output)
        guard let difference = StartDifference(from: earlier, to: fresh) else { return }
        let what =
            difference.input.map { "the input '\($0)' of the batch '\(earlier.key)' differs" }
            ?? "the batch '\(earlier.key)' was started from another document"
        throw CommandError(
            .invalid, what,
            hint: "\(difference.change); --changed takes the new one, --batch makes another batch")
    }

    /// The states of items that a retry begins again. What a person cancelled is not wanted, unless they name it, or cancelled
    /// all of the batch.
    static func retriedStates(of job: JobSnapshot, _ keys: [String]?) -> Set<ItemRecord.State> {
        if keys != nil { return [.failed, .cancelled] }
        guard job.ended != nil || job.request == .cancel, let batch = job.batch else { return [.failed] }
        // With items left to begin it can have ended in no other way.
        return job.request == .cancel || batch.outcome == nil ? [.failed, .cancelled] : [.failed]
    }
}
