import JSONPath
package import PipelineCore
package import PipelineEngine
import Synchronization

/// How items begin, go on and are asked to stop.
extension BatchRunner {
    /// Has those go on that were begun before, once. Of a batch that is being cancelled they are cancelled, at their services
    /// too.
    func goOn(_ state: inout BatchRunState, on host: some ItemHost) async throws(JournalFailure) {
        if options.onlyReads || state.hasGoneOn || state.stop?.isHard == true { return }
        if try await journal.inbox(of: lease.job)?.request == .cancel {
            state.hasGoneOn = true
            return try await ask(.cancel, .cancel, &state, host)
        }
        // A row that is still to come may say that an item is another one by now.
        if state.reading.isOpen, options.known.replacesChanged { return }
        state.hasGoneOn = true
        let begun = FoundJobs()
        try await journal.forEachJob(of: lease.job, in: [.running, .suspended]) { (job) throws(JournalFailure) in
            try await host.goOn(job)
            if host.runsHere { begun.insert(job) }
        }
        state.here.formUnion(begun.all)
    }

    /// Asks of every item that was begun what was asked of the batch, wherever it runs. What nobody runs is taken up to be
    /// cancelled.
    func ask(
        _ request: JobRequest, _ stop: Stop, _ state: inout BatchRunState, _ host: some ItemHost
    ) async throws(JournalFailure) {
        guard state.stop != stop, state.stop?.isHard != true else { return }
        state.stop = stop
        isPausing.withLock { $0 = request == .pause }
        state.reading.isOpen = false
        let states: Set<ItemRecord.State> = request == .cancel ? [.running, .suspended, .unknown] : [.running]
        let begun = FoundJobs()
        try await journal.forEachJob(of: lease.job, in: states) { [journal] (job) throws(JournalFailure) in
            if try await journal.post(request, to: job) || request != .cancel { return }
            try await host.goOn(job)
            if host.runsHere { begun.insert(job) }
        }
        state.here.formUnion(begun.all)
    }

    /// Has an item's job go on in this process, unless the batch was asked to pause meanwhile: then it is left paused,
    /// which the batch hears, and the result is nil.
    package func takeUp(
        _ job: JobSnapshot, by engine: Engine, _ resume: () async throws(JournalFailure) -> Engine.JobHandle
    ) async throws(JournalFailure) -> Engine.JobHandle? {
        if job.request != .cancel, isPausing.withLock({ $0 }) {
            try await engine.pause(job.record.id)
            rested(job.record.id, item: job.record.item?.key, .success(.suspended(.paused)))
            return nil
        }
        let handle = try await resume()
        // It may have been asked before this process had it.
        if isPausing.withLock({ $0 }) { handle.suspend(.paused) }
        return handle
    }

    /// Begins as many as may; returns whether more could begin once there is room.
    func begin(_ state: inout BatchRunState, on host: some ItemHost) async throws(JournalFailure) -> Bool {
        if options.onlyReads || state.reading.isOpen && state.reading.isAwaited { return false }
        while state.stop == nil, state.batch.pendingCount > 0 {
            let affordable = state.isCostUnknown ? 0 : state.batch.affordableCount
            if affordable == 0, state.underWay == 0 {
                state.stop = .suspend(.spent)
                state.reading.isOpen = false
                try await journal.stop(.spent, lease)
                return false
            }
            let places = affordable - state.underWay
            // Those that only stuck items hold become free for nobody.
            guard places > 0 else { return state.isWorking }
            let room = min(places, host.room)
            guard room > 0 else { return true }
            let items = try await journal.pendingItems(of: lease.job, limit: min(room, 256))
            guard !items.isEmpty else { return false }
            let begun = FoundJobs()
            let again = state.batch.settings.from.map(RestartScope.from) ?? .failed
            try await items.together { [self] (item) throws(JournalFailure) in
                guard let job = try await begin(item, again, on: host) else { return mailbox.post(.unfit(item.key)) }
                if host.runsHere { begun.insert(job) }
            }
            state.here.formUnion(begun.all)
            try await refresh(&state)
            // What has come meanwhile is heard before more begin.
            if !mailbox.isEmpty { return true }
        }
        return false
    }

    /// Returns whether an item goes on by itself although nobody runs it, where items run anywhere: a worker that lacks what
    /// it needs has left it to the others. For what this process lacks itself the batch is let go.
    func awaitsOthers(_ state: BatchRunState, _ host: some ItemHost) async throws(JournalFailure) -> Bool {
        guard !host.runsHere, state.stop == nil, state.itemCause == nil, state.failure == nil else { return false }
        var last = 0
        while true {
            // Since the last look somebody may have taken it up.
            let items = try await journal.items(of: lease.job, in: [.running, .suspended], after: last, limit: 64)
            guard let end = items.last else { return false }
            last = end.number
            for job in items.compactMap(\.job) {
                if let found = try await journal.snapshot(of: job), found.goesOnByItself { return true }
            }
        }
    }

    /// Begins an item, and gives its job; nil for one that can't be begun and has failed by that, and for one that a
    /// person has cancelled since it was read.
    private func begin(
        _ item: ItemRecord, _ again: RestartScope, on host: some ItemHost
    ) async throws(JournalFailure) -> JobID? {
        do throws(JournalFailure) {
            return try await beginPending(item, again, on: host)
        } catch {
            guard error == .stale, try await isCancelled(item) else { throw error }
            return nil
        }
    }

    private func isCancelled(_ item: ItemRecord) async throws(JournalFailure) -> Bool {
        try await journal.item(item.key, of: lease.job)?.state == .cancelled
    }

    private func beginPending(
        _ item: ItemRecord, _ again: RestartScope, on host: some ItemHost
    ) async throws(JournalFailure) -> JobID? {
        var begun = item
        begun.state = .running
        if let job = item.job {
            if try await isCancelled(item) { return nil }
            options.observe(.began(begun))
            try await host.retry(job, again)
            return job
        }
        let draft: JobDraft
        do throws(StepFailure) {
            draft = try subject.draft.item(item.inputs)
        } catch {
            try await journal.fail(item.number, because: error, at: ports.clock.now, of: lease)
            return nil
        }
        var record = draft.record(
            id: ports.newJobID(), key: "\(job.record.key).\(item.number)", started: ports.clock.now,
            outputFolder: job.record.folders.output, overwrites: overwrites)
        record.item = BatchItem(batch: lease.job, key: item.key)
        if let failure = await draft.preflight(to: record) {
            try await journal.fail(item.number, because: failure, at: ports.clock.now, of: lease)
            return nil
        }
        begun.job = record.id
        options.observe(.began(begun))
        do throws(JournalFailure) {
            try await host.begin(record, draft)
        } catch {
            guard case .keyTaken(let other) = error else { throw error }
            let failure = StepFailure(
                "its job's key '\(record.key)' belongs to job \(other)",
                hint: "'pipeline rm \(other)' frees it; then 'pipeline retry \(job.record.key)' begins the item")
            try await journal.fail(item.number, because: failure, at: ports.clock.now, of: lease)
            return nil
        }
        return record.id
    }
}
