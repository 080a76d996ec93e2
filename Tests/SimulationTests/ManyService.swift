import HTTPTypes
import JSONPath
import PipelineCore
import PipelineHTTP
import PipelineTestKit
import Synchronization

/// A service of many remote jobs: it makes one of each key, is closed for everybody now and then, and its list lies.
final class ManyService: SimulatedService {
    private struct RemoteJob {
        let number: Int
        let ends: Timestamp
        let fails: Bool
    }

    private struct State {
        var jobs: [String: RemoteJob] = [:]
        var keys: [Int: Set<String>] = [:]
        var closedUntil: Timestamp?
        var lists = 0
        var refusals = 0
    }

    private let simulation: Simulation
    private let state = Mutex(State())

    init(_ simulation: Simulation) { self.simulation = simulation }

    /// The keys that the submits of each item came with.
    var keys: [Int: Set<String>] { state.withLock { $0.keys } }
    var lists: Int { state.withLock { $0.lists } }
    var refusals: Int { state.withLock { $0.refusals } }

    /// Takes nothing for so long.
    func close(for duration: Duration) { state.withLock { $0.closedUntil = simulation.now + duration } }

    static func fails(_ number: Int) -> Bool { number % 17 == 0 }

    func willReceive(_ request: RequestDescription, from owner: OwnerID) {}

    func answer(_ request: ArrivedRequest, at time: Timestamp) -> HTTPExchangeResponse {
        let closed = state.withLock { state -> Duration? in
            guard let until = state.closedUntil, until > time else { return nil }
            state.refusals += 1
            return until - time
        }
        if let closed {
            let seconds = Int(closed.seconds) + 1
            return HTTPExchangeResponse(status: 503, headers: [.retryAfter: "\(seconds)"])
        }
        let path = request.path.split(separator: "?", maxSplits: 1)
        let parts = path.first?.split(separator: "/").map(String.init) ?? []
        switch (request.description.method, parts.count) {
        case (.post, 1): return submit(request, at: time)
        case (.get, 2): return poll(parts[1], at: time)
        case (.get, 1): return list(path.count > 1 ? String(path[1]) : "", at: time)
        default: return HTTPExchangeResponse(status: 404)
        }
    }

    private func submit(_ request: ArrivedRequest, at time: Timestamp) -> HTTPExchangeResponse {
        let key = HTTPField.Name("Idempotency-Key").flatMap { request.description.headers[$0] } ?? ""
        guard request.isWhole, let number = (try? JSON.parse(request.body))?["n"]?.number?.int else {
            return HTTPExchangeResponse(status: 400)
        }
        let ends = time + simulation.randomness.milliseconds(1_000...180_000)
        state.withLock { state in
            state.keys[number, default: []].insert(key)
            if state.jobs[key] == nil {
                state.jobs[key] = RemoteJob(number: number, ends: ends, fails: Self.fails(number))
            }
        }
        return Self.json(["id": .string(key)])
    }

    private func poll(_ id: String, at time: Timestamp) -> HTTPExchangeResponse {
        guard let job = state.withLock({ $0.jobs[id] }) else { return HTTPExchangeResponse(status: 404) }
        return Self.json(Self.entry(id, job, at: time))
    }

    private static func entry(_ id: String, _ job: RemoteJob, at time: Timestamp) -> JSON {
        let state = time < job.ends ? "running" : job.fails ? "error" : "done"
        return ["id": .string(id), "state": .string(state)]
    }

    /// What was asked for, but for some: missing, of a while ago, twice, shuffled, and others besides.
    private func list(_ query: String, at time: Timestamp) -> HTTPExchangeResponse {
        let random = simulation.randomness
        let asked =
            query.split(separator: "=", maxSplits: 1).last?.replacing("%2C", with: ",").split(separator: ",") ?? []
        let jobs = state.withLock { state in
            state.lists += 1
            return state.jobs
        }
        var entries: [JSON] = []
        for id in asked.map(String.init) {
            guard let job = jobs[id], !random.chance(0.1) else { continue }
            let moment = random.chance(0.2) ? time - .seconds(60) : time
            entries.append(Self.entry(id, job, at: moment))
            if random.chance(0.05) { entries.append(Self.entry(id, job, at: time - .seconds(600))) }
        }
        if let other = jobs.keys.sorted().last, random.chance(0.2) { entries.append(["id": .string(other)]) }
        if random.chance(0.3) { entries.reverse() }
        return Self.json(["data": .array(entries)])
    }

    private static func json(_ body: JSON) -> HTTPExchangeResponse {
        let bytes = Array(body.text.utf8)
        return HTTPExchangeResponse(
            status: 200, headers: [.contentType: "application/json"], body: bytes, bytesReceived: Int64(bytes.count))
    }
}
