import JSONPath
package import PipelineCore
import PipelineEngine
import Synchronization

/// Runs a batch that this process owns: reads what is left of its sources, and has items begin in the order of reading, at
/// most as many at once as may.
///
/// It runs no job itself: an item is a job like any other, whose key is `BATCH.NUMBER`, and whose commits move the item's
/// row and the batch's counts along. All that is decided here follows from those rows, so that it is the same wherever the
/// jobs run, and goes on with the next owner after a crash at any point.
package final class BatchRunner: Sendable {
    /// The document of a batch, its job, and the lease by which this process has it.
    package struct Subject: Sendable {
        package let draft: JobDraft
        package let job: JobSnapshot
        package let lease: Lease

        package init(draft: JobDraft, job: JobSnapshot, lease: Lease) {
            self.draft = draft
            self.job = job
            self.lease = lease
        }
    }

    /// The journal, the clock and the ids that it works with.
    package struct Ports: Sendable {
        package var journal: any Journal & BatchJournal
        package var clock: any WallClock
        package var newJobID: @Sendable () -> JobID

        package init(
            journal: any Journal & BatchJournal, clock: any WallClock, newJobID: @escaping @Sendable () -> JobID
        ) {
            self.journal = journal
            self.clock = clock
            self.newJobID = newJobID
        }
    }

    /// The settings by which items are run and reported.
    package struct Options: Sendable {
        package var overwrites = false
        /// Reads what there is to read and begins nothing: others do that.
        package var onlyReads = false
        /// Reads everything first, and begins nothing if a row is bad.
        package var isStrict = false
        /// What becomes of the items that were there before, as their rows come.
        package var known = KnownItemRule()
        /// True if standard input is what the command line's `--each` means: never of a batch that is gone on with.
        package var readsStandardInput = false
        /// The file that rows of results are appended to.
        package var results: ResultsFile?
        /// Called as rows are read and items end; returns at once.
        package var observe: @Sendable (BatchNews) -> Void = { _ in }

        package init() {}
    }

    /// The way in which the running of a batch came to its end.
    package enum End: Sendable, Equatable {
        case ended(JobPhase)
        case suspended(SuspensionCause)
        case unknown
        /// All is read, and the next owner begins the items.
        case read
        /// The next background owner goes on.
        case left
        /// The sources can't be read, or not any further.
        case unreadable(ItemSourceError)
        /// All that was read is done, and the rest would have come from the standard input of a process that is gone.
        case cut
        /// So many rows are bad, and nothing was begun.
        case refused(Int)
        /// Another process has it by now.
        case lost
    }

    enum Message: Sendable {
        case added(AddedItems)
        case readingFailed(ItemSourceError)
        case cut
        case read
        case rested(JobID, item: String?, Result<JobEnd, JournalFailure>)
        /// An item could not be begun, and has failed by that.
        case unfit(String)
        case look
        case inbox
        case stop(Stop)
        case failed(JournalFailure)
    }

    /// The reason why nothing more begins.
    enum Stop: Sendable, Equatable {
        case suspend(SuspensionCause)
        case unreadable(ItemSourceError)
        case refuse(Int)
        case cancel
        /// The process is about to stop.
        case interrupt
        case leave
        case lost

        /// True if nothing more is waited for.
        var isHard: Bool { [.interrupt, .leave, .lost].contains(self) }
    }

    let ports: Ports
    package let subject: Subject
    package let options: Options
    let mailbox = Mailbox<Message>()
    /// True once the batch is to pause: what has not begun to run by then is not to.
    let isPausing = Mutex(false)
    /// How often it looks for what other processes did to its items, when nothing told of it.
    private static let interval = Duration.seconds(5)

    package init(_ subject: Subject, ports: Ports, options: Options) {
        self.subject = subject
        self.ports = ports
        self.options = options
    }

    var journal: any Journal & BatchJournal { ports.journal }
    var lease: Lease { subject.lease }
    var job: JobSnapshot { subject.job }
    private var held: HeldItems { HeldItems(journal: journal, batch: lease.job) }
    /// True if items may replace files: by this command, or by the one that the batch was started with.
    package var overwrites: Bool { options.overwrites || job.record.overwrites }

    // MARK: From any thread

    /// Suspends the batch with the items that this process runs; what they have is committed.
    package func suspend() { mailbox.post(.stop(.interrupt)) }
    /// Leaves the batch to the next background owner, and its items to the owners that run them.
    package func leave() { mailbox.post(.stop(.leave)) }
    /// Looks into the journal: something was asked of the batch, or an item has moved on elsewhere.
    package func look() { mailbox.post(.inbox) }
    /// The job of an item has come to rest in this process, or waits parked, or could not be run.
    package func rested(_ job: JobID, item: String?, _ result: Result<JobEnd, JournalFailure>) {
        mailbox.post(.rested(job, item: item, result))
    }

    // MARK: Running

    /// Works until nothing is left or the batch is let go.
    package func run(on host: some ItemHost) async throws(JournalFailure) -> End {
        guard let batch = try await journal.batch(lease.job) else { throw .noSuchJob(lease.job) }
        let state = BatchRunState(batch: batch)
        let end = await withDiscardingTaskGroup { group in
            defer { group.cancelAll() }
            return await work(state, host, &group)
        }
        do throws(JournalFailure) {
            return try await release(end.get())
        } catch {
            // What runs here is let go: the next owner goes on with it.
            await host.interrupt()
            guard error == .stale else { throw error }
            return .lost
        }
    }

    private func work(
        _ first: BatchRunState, _ host: some ItemHost, _ group: inout DiscardingTaskGroup
    ) async -> Result<BatchRunState, JournalFailure> {
        var state = first
        do throws(JournalFailure) {
            state.reading.isOpen = !state.batch.isRead
            state.reading.isAwaited = options.isStrict || options.known.replacesChanged || state.batch.mayMeetObstacle
            try await goOn(&state, on: host)
            if state.reading.isOpen { group.addTask { await self.read() } }
            group.addTask { await self.lookNowAndThen() }
            try await refresh(&state)
            try await receive(.inbox, &state, host)
            while true {
                try await goOn(&state, on: host)
                let couldBegin = try await begin(&state, on: host)
                if state.stop?.isHard == true { break }
                if !state.reading.isOpen, options.onlyReads { break }
                if !state.reading.isOpen, !state.isWorking, !couldBegin, try await !awaitsOthers(state, host) { break }
                try await receive([await mailbox.next()] + mailbox.takeAll(), &state, host)
                try await refresh(&state)
                if case .suspend = state.stop { try await held.pause() }
                try await tell(&state)
                try await replaceOutdated(&state)
            }
            if state.stop == .interrupt || state.stop == .lost { await host.interrupt() }
            // What has come to rest by now is told too.
            for message in mailbox.takeAll() {
                if case .rested(let job, let item, let result) = message {
                    receive(result, of: job, item, &state, host)
                }
                if case .unfit(let item) = message { state.rested.append(item) }
            }
            if state.stop != .lost { try await refresh(&state) }
            try await tell(&state)
            if state.stop != .lost { await options.results?.complete(with: journal, lease.job) }
            return .success(state)
        } catch {
            return .failure(error)
        }
    }

    func refresh(_ state: inout BatchRunState) async throws(JournalFailure) {
        guard let batch = try await journal.batch(lease.job) else { throw .noSuchJob(lease.job) }
        state.batch = batch
        guard state.stop == nil, !options.onlyReads, let obstacle = try await held.obstacle(of: batch) else { return }
        // What runs ends; nothing more begins.
        state.stop = .suspend(obstacle)
        state.reading.isOpen = false
        try await journal.stop(obstacle, lease)
    }

    // MARK: What comes

    private func receive(
        _ messages: [Message], _ state: inout BatchRunState, _ host: some ItemHost
    ) async throws(JournalFailure) {
        var hasLooked = false
        for message in messages {
            // Looked at once, what others asked for is known.
            if case .inbox = message {
                if hasLooked { continue }
                hasLooked = true
            }
            try await receive(message, &state, host)
        }
    }

    private func receive(
        _ message: Message, _ state: inout BatchRunState, _ host: some ItemHost
    ) async throws(JournalFailure) {
        switch message {
        case .added(let added):
            state.reading.badRows += added.bad.count
            if !options.onlyReads { try await state.outdated.withdraw(added.underWay, of: lease.job, in: journal) }
            try await refresh(&state)
            options.observe(.read(added, state.batch))
        case .readingFailed(let error):
            state.reading.isOpen = false
            // What was read is done; nothing more can be read.
            if state.stop == nil { state.stop = .unreadable(error) }
        case .cut:
            state.reading.isOpen = false
            state.reading.isCut = true
        case .read:
            state.reading.isOpen = false
            try await refresh(&state)
            let bad = state.reading.badRows
            if options.isStrict, bad > 0, state.stop == nil {
                try await journal.withdrawRetries(of: lease)
                state.stop = .refuse(bad)
            }
        case .rested(let job, let item, let result): receive(result, of: job, item, &state, host)
        case .unfit(let item): state.rested.append(item)
        case .look: break
        case .inbox:
            switch try await journal.inbox(of: lease.job)?.request {
            case .cancel: try await ask(.cancel, .cancel, &state, host)
            case .pause: try await ask(.pause, .suspend(.paused), &state, host)
            case nil: break
            }
        case .stop(let stop):
            state.stop = stop
            state.reading.isOpen = false
        case .failed(let failure): throw failure
        }
    }

    private func receive(
        _ result: Result<JobEnd, JournalFailure>, of job: JobID, _ item: String?, _ state: inout BatchRunState,
        _ host: some ItemHost
    ) {
        if case .success(.parked) = result { return }
        state.here.remove(job)
        switch result {
        case .success(.parked), .success(.lost), .failure(.owned), .failure(.stale): return
        case .success(.suspended(let cause)): state.itemCause = state.itemCause ?? cause
        case .success(.ended), .success(.unknown): break
        // It is still under way, as its row says.
        case .failure(let failure) where host.retakesRefused && failure.mayPass: return
        case .failure(let failure):
            state.stuck.insert(job)
            state.failure = state.failure ?? failure
        }
        if let item { state.rested.append(item) }
    }

    /// Tells of the items that have come to rest, as their rows are.
    private func tell(_ state: inout BatchRunState) async throws(JournalFailure) {
        // Asked for together: one after the other they would wait as often behind all that others read.
        let found = Mutex<[String: ItemRecord]>([:])
        try await state.rested.together { [journal, lease] (key) throws(JournalFailure) in
            let item = try await journal.item(key, of: lease.job)
            found.withLock { $0[key] = item }
        }
        let items = found.withLock(\.self)
        for key in state.rested {
            guard let item = items[key] else { continue }
            if item.state.isEnded { options.results?.append(item) }
            if item.state == .succeeded, item.cost == nil { state.unpriced += 1 }
            options.observe(.finished(item, state.batch))
        }
        state.rested = []
    }

    /// Makes items anew that have ended and whose rows say other inputs by now, once all is read.
    private func replaceOutdated(_ state: inout BatchRunState) async throws(JournalFailure) {
        guard !state.reading.isOpen, state.batch.isRead, let place = state.batch.place else { return }
        let rows = try await state.outdated.takeEnded(of: lease.job, in: journal)
        if rows.isEmpty { return }
        let added = try await journal.add(rows, place: place, isRead: true, known: options.known, to: lease)
        try await refresh(&state)
        options.observe(.read(added, state.batch))
    }

    private func lookNowAndThen() async {
        while (try? await ports.clock.sleep(until: ports.clock.now + Self.interval)) != nil { mailbox.post(.look) }
    }

    // MARK: Reading

    /// Reads what is left of the sources, a thousand rows a transaction.
    private func read() async {
        do {
            guard var batch = try await journal.batch(lease.job) else { return }
            if let changed = batch.changedSource(inputs: subject.draft.plan.definition.inputs.map(\.name)) {
                batch.place = changed.place
                try await journal.reread(lease, as: batch, of: job.record)
                options.observe(.readAgain(changed.path))
            }
            let feed = ItemFeed(
                batch, draft: subject.draft, folders: job.record.folders,
                readsStandardInput: options.readsStandardInput)
            defer { feed.stop() }
            for try await chunk in feed.chunks {
                if chunk.isCut { return mailbox.post(.cut) }
                let added = try await journal.add(
                    chunk.items, place: chunk.place, isRead: chunk.isLast, known: options.known, to: lease)
                mailbox.post(.added(added))
                feed.goOn()
                if chunk.isLast { mailbox.post(.read) }
            }
        } catch let error as ItemSourceError {
            mailbox.post(.readingFailed(error))
        } catch let error as JournalFailure {
            mailbox.post(error == .stale ? .stop(.lost) : .failed(error))
        } catch {
            mailbox.post(.stop(.lost))
        }
    }
}
