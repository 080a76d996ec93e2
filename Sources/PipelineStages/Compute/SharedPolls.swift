import PipelineCore
import Synchronization

/// Brings the polls of many jobs together, of all jobs of the process, so that one list request asks for all that are due.
///
/// Nothing of it is kept: a process that starts again asks again.
package final class SharedPolls: Sendable {
    /// The entries of a list about the jobs that were asked for, by their ids; those that it does not name are missing.
    typealias Entries = [String: ServiceResponse]

    private struct Waiting {
        let id: String
        let deadline: Timestamp?
        let answer: CheckedContinuation<ServiceResponse?, Never>
    }

    private struct Group {
        /// True if somebody will ask for all who come now.
        var isGathering = false
        var waiting: [Int: Waiting] = [:]
        /// Those for whom somebody asks now.
        var asked: [Int: Waiting] = [:]
        /// The times when jobs of the group will ask, in order.
        var times: [Timestamp] = []
        /// The number of ids that the service took, after it had refused twice as many.
        var most: Int?
        /// The number of lists in a row that told of no job.
        var vain = 0
    }

    private struct State {
        var groups: [String: Group] = [:]
        var lastTicket = 0
    }

    private let state = Mutex(State())
    private let gather: Gathering

    /// Waits for as long as those may take who are due at the same moment; it may look at how many wait by now.
    package typealias Gathering = @Sendable (_ waiting: @Sendable () -> Int) async -> Void

    /// The number of lists in a row that may tell of no job before that is told.
    private static let mostInVain = 3
    /// The number of times that more are waited for while more come.
    private static let gatherings = 6

    package init(gather: @escaping Gathering = { _ in try? await Task.sleep(for: .milliseconds(20)) }) {
        self.gather = gather
    }

    /// Returns what a list says of a job; nil when the job is to be asked for alone.
    ///
    /// The first who comes asks for all who come with it.
    /// - Parameters:
    ///   - group: who may share a list: the same service, request and account.
    ///   - atMost: how many ids are asked for at a time.
    ///   - deadline: when the job's stage is to end; nil for one that has no deadline.
    ///   - ask: sends the list request for these ids, and gives it up at the earliest deadline of all who wait.
    func entry(
        of id: String, in group: String, atMost: Int, before deadline: Timestamp?,
        ask: ([String], _ earliest: Timestamp?) async -> Entries
    ) async -> ServiceResponse? {
        let ticket = state.withLock { state -> Int? in
            if !state.groups[group, default: Group()].isGathering {
                state.groups[group, default: Group()].isGathering = true
                return nil
            }
            state.lastTicket += 1
            return state.lastTicket
        }
        if let ticket { return await answer(to: ticket, of: id, before: deadline, in: group) }
        return await lead(id, group, atMost, deadline, ask)
    }

    /// Waits for the answer to a request that another call makes.
    private func answer(
        to ticket: Int, of id: String, before deadline: Timestamp?, in group: String
    ) async -> ServiceResponse? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isIn = state.withLock { state in
                    // Who comes just after the others have gone asks alone.
                    guard state.groups[group]?.isGathering == true, !Task.isCancelled else { return false }
                    state.groups[group]?.waiting[ticket] = Waiting(id: id, deadline: deadline, answer: continuation)
                    return true
                }
                if !isIn { continuation.resume(returning: nil) }
            }
        } onCancel: {
            take(ticket, in: group)?.answer.resume(returning: nil)
        }
    }

    /// Takes out one who waits; nil when it has its answer, or was cancelled.
    private func take(_ ticket: Int, in group: String) -> Waiting? {
        state.withLock {
            $0.groups[group]?.waiting.removeValue(forKey: ticket) ?? $0.groups[group]?.asked.removeValue(forKey: ticket)
        }
    }

    /// Takes in whether a list told of any job that it was asked for. Returns true when the document is likely wrong: once, of
    /// so many in a row that told of none.
    func note(isUseful: Bool, in group: String) -> Bool {
        state.withLock { state in
            let vain = isUseful ? 0 : state.groups[group, default: Group()].vain + 1
            state.groups[group, default: Group()].vain = vain
            return vain == Self.mostInVain
        }
    }

    private func waiting(in group: String) -> Int { state.withLock { $0.groups[group]?.waiting.count ?? 0 } }

    private func lead(
        _ id: String, _ group: String, _ atMost: Int, _ deadline: Timestamp?,
        _ ask: ([String], _ earliest: Timestamp?) async -> Entries
    ) async -> ServiceResponse? {
        var known = -1
        for _ in 0..<Self.gatherings {
            let count = waiting(in: group)
            if count == known { break }
            known = count
            await gather { self.waiting(in: group) }
        }
        let others = state.withLock { state in
            let others = state.groups[group]?.waiting ?? [:]
            state.groups[group]?.isGathering = false
            state.groups[group]?.waiting = [:]
            state.groups[group]?.asked.merge(others) { $1 }
            return others.sorted { $0.key < $1.key }
        }
        var ids = [id]
        var asked: Set<String> = [id]
        for (_, other) in others where asked.insert(other.id).inserted { ids.append(other.id) }
        let byID = Dictionary(grouping: others, by: \.value.id)
        let earliest = ([deadline] + others.map(\.value.deadline)).compactMap(\.self).min()
        var mine: ServiceResponse?
        for start in stride(from: 0, to: ids.count, by: max(1, atMost)) {
            let chunk = ids[start..<min(start + max(1, atMost), ids.count)]
            let entries = await ask(Array(chunk), earliest)
            mine = mine ?? entries[id]
            for (ticket, other) in chunk.flatMap({ byID[$0] ?? [] }) {
                take(ticket, in: group)?.answer.resume(returning: entries[other.id])
            }
        }
        return mine
    }

    /// Returns how many ids of the group are asked for at a time, where the document allows `limit`.
    func most(_ limit: Int, in group: String) -> Int {
        state.withLock { min(limit, $0.groups[group]?.most ?? limit) }
    }

    /// Has the group ask for no more ids at a time than that.
    func limit(to count: Int, in group: String) {
        state.withLock { $0.groups[group, default: Group()].most = count }
    }

    /// The time at which a job of the group asks: the latest at which another one will, from the earliest that its own plan
    /// allows on, or else its own.
    func align(_ due: Timestamp, notBefore earliest: Timestamp, in group: String, now: Timestamp) -> Timestamp {
        state.withLock { state in
            var times = state.groups[group, default: Group()].times
            times.removeAll { $0 < now }
            let after = times.firstIndex { $0 > due } ?? times.count
            let isShared = after > 0 && times[after - 1] >= earliest
            if !isShared { times.insert(due, at: after) }
            state.groups[group, default: Group()].times = times
            return isShared ? times[after - 1] : due
        }
    }
}
