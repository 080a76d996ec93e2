package import PipelineCore
import Synchronization

/// Services as a journal knows them: what one process learns holds for all, also over a restart.
///
/// What is closed is read again once a second at most, so that a request costs no look at the journal.
package final class JournaledServices: ServiceGate {
    private struct State {
        var services: [ServiceID: ServiceAvailability] = [:]
        /// Those that are being written: what the journal says of them is older.
        var writing: [ServiceID: Int] = [:]
        var isReading = false
        var lastRead: Timestamp?
        /// Those that wait for the first reading: until then nothing is known of what is closed.
        var waiting: [CheckedContinuation<Void, Never>] = []
        var paces: [ServiceID: SharedPace] = [:]
    }

    private let journal: any ServiceJournal
    private let clock: any WallClock
    private let state = Mutex(State())

    private static let readingInterval = Duration.seconds(1)
    /// The time in which the response to another's list poll may have come.
    private static let patience = Duration.milliseconds(100)

    package init(journal: any ServiceJournal, clock: any WallClock) {
        self.journal = journal
        self.clock = clock
    }

    package func admit(_ service: ServiceID) async -> ServiceAdmission {
        await read(at: clock.now)
        let now = clock.now
        if let admission = state.withLock({ $0.services[service, default: .init()].admission(at: now) }) {
            return admission
        }
        let limit = now + ServiceAvailability.trialLength
        if (try? await journal.beginTrial(of: service, at: now, until: limit)) == true {
            state.withLock { $0.services[service, default: .init()].beginTrial(until: limit) }
            return .trial
        }
        state.withLock { $0.lastRead = nil }
        return .closed(until: turn(service))
    }

    package func record(
        _ answer: ServiceAnswer, of service: ServiceID, named name: String, isTrial: Bool
    ) async -> Duration? {
        let now = clock.now
        let (change, wait) = state.withLock { state in
            let change = state.services[service, default: .init()].record(
                answer, of: service, named: name, isTrial: isTrial, at: now)
            if change != .nothing { state.writing[service, default: 0] += 1 }
            // One that came beside the answer that closed it has cost nothing either.
            let isRefusal = answer != .taken && answer != .nothing
            let wait = isRefusal ? state.services[service]?.closed.map { max(.zero, $0.opens(at: now) - now) } : nil
            return (change, wait)
        }
        switch change {
        case .nothing: return wait
        // What can't be kept holds for this process all the same.
        case .close(let closed): try? await journal.closeService(closed)
        case .open: try? await journal.openService(service)
        }
        state.withLock { $0.writing[service, default: 1] -= 1 }
        return wait
    }

    package func claimComputation(
        at service: ServiceID, for step: StepKey, of job: JobID, limit: Int
    ) async -> Timestamp? {
        let isClaimed = try? await journal.claimComputation(at: service, for: step, of: job, limit: limit)
        return isClaimed == true ? nil : turn(service)
    }

    package func mayOrder(_ job: JobID) async -> Bool { (try? await journal.mayOrder(job)) ?? true }

    package func turn(at service: ServiceID, requestsPerSecond: Double, urgency: Urgency) async {
        let pace = state.withLock { state in
            let pace =
                state.paces[service]
                ?? SharedPace(clock) { [journal] () throws(JournalFailure) in
                    try await journal.claimRate(of: service)
                }
            state.paces[service] = pace
            return pace
        }
        await pace.turn(requestsPerSecond: requestsPerSecond, urgency: urgency)
    }

    package func beginList(_ list: String, ids: [String], atMost: Int) async -> ListTurn? {
        // Without a journal there is nobody to share with.
        guard let turn = try? await journal.beginList(list, ids: ids, atMost: atMost) else { return nil }
        // Others ask for all that is left: their response takes a moment.
        if turn.ask.isEmpty, turn.known.isEmpty { try? await clock.sleep(until: clock.now + Self.patience) }
        return turn
    }

    package func endList(_ list: String, asked: [String], entries: [String: ListEntry]) async {
        try? await journal.endList(list, asked: asked, entries: entries)
    }

    package func planList(_ list: String, id: String, _ plan: ListPlan) async -> Duration? {
        try? await journal.planList(list, id: id, plan)
    }

    private func turn(_ service: ServiceID) -> Timestamp {
        let now = clock.now
        return state.withLock { $0.services[service, default: .init()].turn(at: now) }
    }

    private func read(at now: Timestamp) async {
        enum Part { case reads, waits, goesOn }
        let part = state.withLock { state -> Part in
            if state.isReading { return state.lastRead == nil ? .waits : .goesOn }
            if let last = state.lastRead, now >= last, now - last < Self.readingInterval { return .goesOn }
            state.isReading = true
            return .reads
        }
        switch part {
        case .goesOn: return
        case .waits: return await firstReading()
        case .reads: break
        }
        let kept = try? await journal.closedServices()
        let waiting = state.withLock { state in
            state.isReading = false
            state.lastRead = now
            defer { state.waiting = [] }
            guard let kept else { return state.waiting }
            let byID = Dictionary(kept.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
            for id in Set(state.services.keys).union(byID.keys) where state.writing[id, default: 0] == 0 {
                if state.services[id]?.closed != byID[id] {
                    state.services[id, default: .init()].replace(with: byID[id], at: now)
                }
            }
            return state.waiting
        }
        for caller in waiting { caller.resume() }
    }

    /// Returns once the reading that is under way has ended.
    private func firstReading() async {
        await withCheckedContinuation { caller in
            let isOver = state.withLock { state in
                if state.isReading { state.waiting.append(caller) }
                return !state.isReading
            }
            if isOver { caller.resume() }
        }
    }
}
