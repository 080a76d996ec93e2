import JSONPath
import PipelineCore
import PipelineHTTP

/// A poll that many jobs share. A list saves requests and decides nothing but what the poll of the one job would: all that it
/// leaves open is asked for alone.
struct ListPoll {
    typealias Context = ComputeStage.Context

    let stage: ComputeStage
    let list: PollList
    let context: Context
    private var requests: StageRequests { stage.requests }

    /// The number of looks of ten that are shared: one is the job's own poll, so that a list that is behind is found
    /// out.
    private static let looksPerOwn = 10

    /// Returns what a list says of the job; nil when it says nothing, or the job is to be asked for alone.
    func look(
        for poll: PollDefinition, _ rendered: RenderedRequest, _ checkpoint: ComputeCheckpoint
    ) async throws(StageFailure) -> PollFinding? {
        guard mayShare(checkpoint), let id = try await remoteID(), let group = try await group() else { return nil }
        let entry = await stage.shared.entry(
            of: id, in: group, atMost: most(in: group), before: context.facts.deadline
        ) { ids, earliest in
            await share(ids, in: group, until: PollDeadline(in: context, at: earliest))
        }
        guard let entry else { return nil }
        let response = HTTPExchangeResponse(status: 200, body: entry.body, url: entry.url)
        do throws(StageFailure) {
            switch try await stage.judge(response, poll, rendered, in: context) {
            case .running(let report) where !report.isDoubtful: return .running(report)
            case .succeeded(let answer) where list.isWhole: return .succeeded(answer)
            case .ended(let failure, let answer) where list.isWhole: return .ended(failure, answer)
            case .running, .succeeded, .ended, .refused, .missing, .failedPoll: return nil
            }
        } catch {
            // What can't be read decides nothing.
            guard case .failed = error else { throw error }
            return nil
        }
    }

    /// Returns whether the job's next look may be a shared one: it is not late, and this is not the tenth.
    private func mayShare(_ checkpoint: ComputeCheckpoint) -> Bool {
        if PollDeadline(in: context).isNear { return false }
        if (checkpoint.polls + 1) % Self.looksPerOwn == 0 || checkpoint.failures > 0 { return false }
        return RunningTime(in: context).isWithinEstimate != false
    }

    /// Returns what the service calls the job: the capture `id` of the submit, or its only one. Nil where that is no
    /// text or number.
    private func remoteID() async throws(StageFailure) -> String? {
        guard let names = stage.submit?.capture.names, let name = names.contains("id") ? "id" : names.first,
            name == "id" || names.count == 1
        else { return nil }
        return try await context.evaluate { scope throws(EvaluationFailure) in
            Self.text(scope.own[name] ?? .null)
        }
    }

    private static func text(_ value: JSON) -> String? { value.string ?? value.number?.literal }

    /// Returns who may share a list: the service, the account and the request but for its ids; nil where it can't be
    /// made, which the job's own poll will tell.
    private func group() async throws(StageFailure) -> String? {
        do throws(StageFailure) {
            let rendered = try await requests.render(list.request, in: context, role: "poll") { $0.ids = .array([]) }
            guard let shape = await rendered.shapeDigestInput() else { return nil }
            let service = RequestSending(requests: requests, rendered: rendered, context: context).accountService
            return context.digest(
                Array(service.text.utf8) + shape + Array("\(list.items.text)\n\(list.id.text)".utf8))
        } catch {
            guard case .failed = error else { throw error }
            return nil
        }
    }

    /// The time of the next poll, moved up to that of others with which it can share a list: by a tenth of its wait at most.
    func aligned(
        _ time: Timestamp, floor: Duration?, _ checkpoint: ComputeCheckpoint
    ) async throws(StageFailure) -> Timestamp {
        guard mayShare(checkpoint), let group = try await group() else { return time }
        let now = context.now
        let earliest = max(time - .seconds((time - now).seconds / 10), now + (floor ?? .zero))
        let aligned = stage.shared.align(time, notBefore: min(earliest, time), in: group, now: now)
        guard holdsNoSecret, let id = try await remoteID() else { return aligned }
        let plan = ListPlan(earliest: min(earliest, aligned) - now, due: aligned - now)
        return await context.services.planList(group, id: id, plan).map { min(aligned, now + $0) } ?? aligned
    }

    /// Returns whether what a list says may be left to other processes: it stands in their journal for a while, as it came.
    private var holdsNoSecret: Bool { requests.secretCaptures.isEmpty && stage.capture.secrets.isEmpty }

    // MARK: Asking

    /// Asks for these ids, and for those of other processes that are due; takes what others have learned of these. One due
    /// job alone is asked for alone.
    ///
    /// - Parameter deadline: the earliest of those who wait: what is not known by then each asks for alone.
    private func share(
        _ ids: [String], in group: String, until deadline: PollDeadline
    ) async -> SharedPolls.Entries {
        var found: SharedPolls.Entries = [:]
        var left = ids
        while !left.isEmpty, !Task.isCancelled, !deadline.isPast {
            guard holdsNoSecret,
                let turn = await context.services.beginList(group, ids: left, atMost: most(in: group))
            else {
                return left.count > 1 ? await ask(left, in: group, until: deadline).found : [:]
            }
            for case (let id, let entry?) in turn.known {
                found[id] = ServiceResponse(status: 200, url: entry.url, body: entry.body)
            }
            if !turn.ask.isEmpty {
                let entries = turn.ask.count > 1 ? await ask(turn.ask, in: group, until: deadline).found : [:]
                await context.services.endList(
                    group, asked: turn.ask, entries: entries.mapValues { ListEntry(url: $0.url, body: $0.body) })
                found.merge(entries) { $1 }
            }
            left = turn.pending
        }
        return found
    }

    /// Returns how many ids are asked for at a time.
    private func most(in group: String) -> Int { stage.shared.most(list.atMost, in: group) }

    /// Asks for these ids; a list that is refused for its length is asked for in halves. When the service takes both, the
    /// next lists are no longer than they were.
    ///
    /// - Returns: what was found, and whether the list was taken as it was asked for.
    private func ask(
        _ ids: [String], in group: String, until deadline: PollDeadline
    ) async -> (found: SharedPolls.Entries, isTaken: Bool) {
        do throws(StageFailure) {
            let found = try await entries(ids, until: deadline)
            await note(found.isEmpty ? "it names none of the \(ids.count) jobs that it was asked for" : nil, in: group)
            return (found, true)
        } catch {
            guard case .failed(let failed) = error else { return ([:], false) }
            // A service that takes nothing now has said nothing about the list.
            if case .held = failed.kind { return ([:], false) }
            guard let status = failed.failure.status, PollList.refusals.contains(status), ids.count > 1 else {
                await note(failed.failure.title, in: group)
                return ([:], false)
            }
            let middle = ids.count / 2
            let first = await ask(Array(ids[..<middle]), in: group, until: deadline)
            let second = await ask(Array(ids[middle...]), in: group, until: deadline)
            // A list that is refused for one of its ids says nothing of the length.
            if first.isTaken, second.isTaken { stage.shared.limit(to: ids.count - middle, in: group) }
            return (first.found.merging(second.found) { first, _ in first }, false)
        }
    }

    /// Has a job warned of lists that are of no use, for the reason given: polls are made as if there was none.
    private func note(_ obstacle: String?, in group: String) async {
        guard stage.shared.note(isUseful: obstacle == nil, in: group), let obstacle else { return }
        // A journal that can't be written to is found at the next commit.
        try? await context.warn("the poll's list is of no use, and each job is asked for alone: \(obstacle)")
    }

    private func entries(
        _ ids: [String], until deadline: PollDeadline
    ) async throws(StageFailure) -> SharedPolls.Entries {
        let wanted = Set(ids)
        let paginate = try await context.evaluate { scope throws(EvaluationFailure) in
            try list.paginate?.resolved(in: scope)
        }
        let request = PageRequest(
            requests: requests, definition: list.request, paginate: paginate, content: .items(list.items),
            unreadable: .answered)
        let limit = paginate.map { $0.maximumPages?.constant ?? ListSearch.mostPages } ?? 1
        var walk = PageWalk()
        var cursor: JSON?
        var found: SharedPolls.Entries = [:]
        var doubtful: Set<String> = []
        repeat {
            if Task.isCancelled || deadline.isPast { throw .stopped }
            let page = try await request.fetch(&walk, cursor: &cursor, in: context, role: "poll", limit: limit) {
                $0.ids = .array(ids.map { .string($0) })
            } options: {
                deadline.limit(&$0)
            }
            for item in page.items {
                let entry = ServiceResponse(status: 200, url: page.answer.url, body: item.bytes)
                guard let id = Self.text(list.id.lenientValue(in: entry)), wanted.contains(id) else { continue }
                // Two entries that differ say nothing.
                if let before = found[id], before.body != entry.body { doubtful.insert(id) }
                found[id] = entry
            }
        } while !walk.isFinished && found.count < wanted.count
        return found.filter { !doubtful.contains($0.key) }
    }
}
