import JSONPath
package import PipelineCore
package import PipelineEngine

/// Runs a batch that this process owns: reads what is left of its sources, begins items in the order of reading, at most as
/// many at once as it may, and keeps what became of each.
///
/// All that it decides follows from rows: killed at any point, the next owner goes on. An item is a job whose key is
/// `BATCH.NUMBER`, and a key is given once, so that no item begins twice.
package struct BatchRunner: Sendable {
    private let workspace: Workspace
    let journal: Workspace.Journal
    private let engine: Engine
    private let draft: JobDraft
    let job: JobSnapshot
    let lease: Lease
    private let options: Options
    private let inbox = AsyncStream.makeStream(of: Message.self)

    /// The settings by which items are run and reported.
    package struct Options: Sendable {
        package var interactivity = Interactivity.attended
        package var overwrites = false
        /// Reads everything first, and begins nothing if a row is bad.
        package var isStrict = false
        /// Makes an item whose row says other inputs than before a new one.
        package var replacesChanged = false
        /// Called as rows are read and items end; returns at once.
        package var observe: @Sendable (BatchNews) -> Void = { _ in }

        package init() {}
    }

    /// The way in which the running of a batch came to its end.
    package enum End: Sendable, Equatable {
        case ended(JobPhase)
        case suspended(SuspensionCause)
        case unknown
        /// The sources can't be read, or not any further.
        case unreadable(ItemSourceError)
        /// So many rows are bad, and nothing was begun.
        case refused(Int)
        /// Another process has it by now.
        case lost
    }

    private enum Message: Sendable {
        case added(AddedItems)
        case readingFailed(ItemSourceError)
        case read
        case began(Int, Engine.JobHandle)
        case finished(Int, ItemRecord, Swift.Result<BatchRecord, JournalFailure>, SuspensionCause?)
        case asked(JobID, JobRequest?)
        case stop
        case lost
    }

    package init(
        _ workspace: Workspace, _ journal: Workspace.Journal, engine: Engine, draft: JobDraft, job: JobSnapshot,
        lease: Lease, options: Options
    ) {
        self.workspace = workspace
        self.journal = journal
        self.engine = engine
        self.draft = draft
        self.job = job
        self.lease = lease
        self.options = options
    }

    /// Lets the batch go as soon as what runs has stopped; what it has is committed. From any thread.
    package func suspend() { inbox.continuation.yield(.stop) }

    /// Works until nothing is left or the batch is let go.
    package func run() async throws(JournalFailure) -> End {
        // What the last owner had begun begins again: its jobs are there, and go on.
        _ = try await journal.retryItems(in: [.running, .suspended, .unknown], keys: nil, of: lease)
        guard let batch = try await journal.batch(lease.job) else { throw .noSuchJob(lease.job) }
        let end = await withDiscardingTaskGroup { group in
            group.addTask { await listen() }
            defer { group.cancelAll() }
            var state = State(batch: batch)
            return await work(&state, &group)
        }
        return try await release(end.get())
    }

    /// Cancels every item that was begun, at its services too, and then the batch.
    package func cancel() async throws(JournalFailure) -> End {
        var last = 0
        while true {
            let items = try await journal.items(
                of: lease.job, in: [.running, .suspended, .unknown], after: last, limit: 16)
            guard let end = items.last else { break }
            last = end.number
            for item in items {
                var item = item
                if let handle = try await start(&item) {
                    handle.cancel()
                    _ = try await handle.run()
                }
                try await conclude(&item)
                _ = try await journal.finish(item, of: lease)
            }
        }
        return try await release(Result(stop: .cancel, cause: nil))
    }

    /// Hears what is asked of the batch and of its items.
    private func listen() async {
        for await asked in journal.requests(for: lease.owner) {
            let request = try? await journal.inbox(of: asked)?.request
            inbox.continuation.yield(.asked(asked, request))
        }
    }

    // MARK: Working

    private struct State {
        var batch: BatchRecord
        var running: [Int: Engine.JobHandle?] = [:]
        /// True if rows may be pending.
        var mayHavePending = true
        var isReading = false
        var stop: Stop?
        /// The reason why an item can't go on, of the first such.
        var itemCause: SuspensionCause?

        init(batch: BatchRecord) { self.batch = batch }
    }

    enum Stop: Sendable, Equatable {
        case suspend(SuspensionCause)
        case unreadable(ItemSourceError)
        case refuse(Int)
        case cancel
        case lost
    }

    struct Result {
        var stop: Stop?
        var cause: SuspensionCause?
    }

    private func work(
        _ state: inout State, _ group: inout DiscardingTaskGroup
    ) async -> Swift.Result<Result, JournalFailure> {
        if !state.batch.isRead {
            state.isReading = true
            group.addTask { await read() }
        }
        var messages = inbox.stream.makeAsyncIterator()
        do throws(JournalFailure) {
            try await begin(&state, &group)
            while state.isReading || !state.running.isEmpty {
                guard let message = await messages.next() else { break }
                try await receive(message, &state)
                try await begin(&state, &group)
            }
            return .success(Result(stop: state.stop, cause: state.itemCause))
        } catch {
            for handle in state.running.values { handle?.suspend(.interrupted) }
            return .failure(error)
        }
    }

    private func receive(_ message: Message, _ state: inout State) async throws(JournalFailure) {
        switch message {
        case .added(let added):
            if added.added > 0 { state.mayHavePending = true }
            if let batch = try await journal.batch(lease.job) { state.batch = batch }
            options.observe(.read(added, state.batch))
        case .readingFailed(let error):
            state.isReading = false
            // What was read is done; nothing more can be read.
            if state.stop == nil { state.stop = .unreadable(error) }
        case .read:
            state.isReading = false
            if let batch = try await journal.batch(lease.job) { state.batch = batch }
            let bad = state.batch.count(.failed)
            if options.isStrict, bad > 0, state.stop == nil { state.stop = .refuse(bad) }
        case .began(let number, let handle):
            state.running[number] = handle
            if state.stop != nil { stop(handle, state.stop) }
        case .finished(let number, let item, let kept, let cause):
            state.running[number] = nil
            state.itemCause = state.itemCause ?? cause
            // Those who finish together may be heard in another order than they were kept.
            let fresh = try kept.get()
            if fresh.endedCount >= state.batch.endedCount { state.batch = fresh }
            options.observe(.finished(item, state.batch))
            if state.stop == nil, let obstacle = state.batch.obstacle {
                // What runs ends; nothing more begins.
                state.stop = .suspend(obstacle)
                try await journal.stop(obstacle, lease)
            }
        case .asked(lease.job, .cancel): stop(.cancel, &state)
        case .asked(lease.job, .pause): stop(.suspend(.paused), &state)
        case .asked(let job, _):
            for case let handle? in state.running.values where handle.job == job { handle.checkInbox() }
        case .stop: stop(.suspend(.interrupted), &state)
        case .lost: stop(.lost, &state)
        }
    }

    private func stop(_ stop: Stop, _ state: inout State) {
        state.stop = stop
        state.isReading = false
        for handle in state.running.values { self.stop(handle, stop) }
    }

    private func stop(_ handle: Engine.JobHandle?, _ stop: Stop?) {
        switch stop {
        case .cancel: handle?.cancel()
        case .suspend(let cause) where cause == .interrupted || cause == .paused: handle?.suspend(cause)
        case .lost: handle?.suspend(.interrupted)
        case .suspend, .unreadable, .refuse, nil: break
        }
    }

    private func begin(_ state: inout State, _ group: inout DiscardingTaskGroup) async throws(JournalFailure) {
        if options.isStrict, state.isReading { return }
        guard state.stop == nil, state.mayHavePending else { return }
        let affordable = state.batch.affordableCount
        if affordable == 0, state.running.isEmpty, state.batch.count(.pending) > 0 {
            state.stop = .suspend(.spent)
            state.isReading = false
            return try await journal.stop(.spent, lease)
        }
        let room = affordable - state.running.count
        guard room > 0 else { return }
        let items = try await journal.claimItems(room, of: lease)
        state.mayHavePending = items.count == room
        for item in items {
            state.running[item.number] = .some(nil)
            group.addTask { await process(item) }
        }
    }

    // MARK: Items

    private func process(_ item: ItemRecord) async {
        var item = item
        var cause: SuspensionCause?
        do throws(JournalFailure) {
            let handle = try await start(&item)
            if let handle {
                options.observe(.began(item))
                inbox.continuation.yield(.began(item.number, handle))
                switch try await handle.run() {
                case .ended, .parked: try await conclude(&item)
                case .suspended(let reason): (item.state, cause) = (.suspended, reason)
                case .unknown: item.state = .unknown
                case .lost: item.state = .suspended
                }
            }
        } catch {
            guard error != .stale else {
                inbox.continuation.yield(.lost)
                return
            }
            item.state = .suspended
            cause = .crashed
        }
        let kept: Swift.Result<BatchRecord, JournalFailure>
        do throws(JournalFailure) {
            kept = .success(try await journal.finish(item, of: lease))
        } catch {
            kept = .failure(error)
        }
        inbox.continuation.yield(.finished(item.number, item, kept, cause))
    }

    /// The item's job, begun or gone on with; nil for an item that has ended without one.
    private func start(_ item: inout ItemRecord) async throws(JournalFailure) -> Engine.JobHandle? {
        let key = "\(job.record.key).\(item.number)"
        if let known = try await journal.jobs(JobQuery(key: key)).first?.snapshot {
            item.job = known.record.id
            let phase = known.phase(isOwned: false)
            // An end that the row does not know yet came before its owner could tell; one that it knows begins again.
            if phase == .succeeded || phase == .unknown || phase.isEnded && known.ended != item.ended {
                try await conclude(&item)
                return nil
            }
            return try await engine.resume(
                known.record.id, plan: try await plan(of: known.record), mode: .attached,
                interactivity: options.interactivity, secretInputs: draft.secretInputs,
                again: phase.isEnded ? .failed : .nothing, overwrites: options.overwrites)
        }
        var values = draft.inputs
        for member in item.inputs { values[member.name] = member.value }
        let full = draft.with(inputs: values)
        var record = full.record(
            id: workspace.newJobID(), key: key, started: SystemClock().now, outputFolder: job.record.folders.output,
            overwrites: options.overwrites)
        record.item = BatchItem(batch: lease.job, key: item.key)
        if let failure = await full.preflight(to: record) {
            item.state = .failed
            item.ended = SystemClock().now
            item.failure = ItemFailure(stage: nil, failure: failure)
            return nil
        }
        let handle = try await engine.start(
            record, plan: draft.plan, mode: .attached, interactivity: options.interactivity,
            secretInputs: draft.secretInputs)
        item.job = record.id
        return handle
    }

    /// The plan of an item's job, which may be of a document that the batch had before.
    private func plan(of record: JobRecord) async throws(JournalFailure) -> Plan {
        if record.digest == job.record.digest { return draft.plan }
        do throws(DefinitionError) {
            return try await workspace.plan(of: record)
        } catch {
            throw .other("the document of job \(record.id) can't be read any more")
        }
    }

    /// Records what the item's job, which has ended, came to.
    private func conclude(_ item: inout ItemRecord) async throws(JournalFailure) {
        guard let id = item.job, let snapshot = try await journal.snapshot(of: id) else { return }
        item.ended = snapshot.ended
        item.seconds = snapshot.ended.map { ($0 - snapshot.record.started).seconds }
        item.files = snapshot.orderedFiles.map(\.path)
        (item.cost, item.moved) = (snapshot.cost, snapshot.moved)
        switch snapshot.phase(isOwned: false) {
        case .succeeded:
            item.state = .succeeded
            item.results = results(of: snapshot)
        case .cancelled: item.state = .cancelled
        case .unknown: item.state = .unknown
        case .running, .suspended, .waiting: item.state = .suspended
        case .failed:
            item.state = .failed
            item.failure = snapshot.failure.map { ItemFailure(stage: $0.step.stage, failure: $0.failure) }
        }
    }

    /// Returns what the document tells of an item that succeeded; null for what can't be known.
    private func results(of job: JobSnapshot) -> JSONObject {
        let templates = draft.plan.definition.batch?.results ?? []
        if templates.isEmpty { return [:] }
        var scope = job.documentScope(environment: job.environment)
        for (key, step) in job.steps where key.item == nil {
            if case .succeeded(let captures) = step.state { scope.stages[key.stage] = .object(captures) }
        }
        return JSONObject(templates.map { ($0.name, (try? $0.value.evaluate(in: scope)) ?? .null) })
    }

    // MARK: Reading

    /// Reads what is left of the sources, a thousand rows a transaction.
    private func read() async {
        do {
            guard let batch = try await journal.batch(lease.job) else { return }
            let feed = ItemFeed(batch, draft: draft, folders: job.record.folders)
            defer { feed.stop() }
            for try await chunk in feed.chunks {
                let added = try await journal.add(
                    chunk.items, place: chunk.place, isRead: chunk.isLast, replacesChanged: options.replacesChanged,
                    to: lease)
                inbox.continuation.yield(.added(added))
                feed.goOn()
                if chunk.isLast { inbox.continuation.yield(.read) }
            }
        } catch let error as ItemSourceError {
            inbox.continuation.yield(.readingFailed(error))
        } catch {
            inbox.continuation.yield(.lost)
        }
    }
}

/// An event of a batch, as it happens.
package enum BatchNews: Sendable {
    /// Rows were read; the batch as it stands then.
    case read(AddedItems, BatchRecord)
    /// An item's job was begun, or gone on with.
    case began(ItemRecord)
    /// An item ended, or can't go on now.
    case finished(ItemRecord, BatchRecord)
}
