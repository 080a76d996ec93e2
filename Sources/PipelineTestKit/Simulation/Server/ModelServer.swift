package import PipelineSimulation
import HTTPTypes
import JSONPath
package import PipelineCore
package import PipelineHTTP
import Synchronization

/// A service that makes models of inputs: what a job's output must be compared with.
///
/// `POST /jobs` begins a job, `GET /jobs/ID` tells how it stands, `GET /jobs` lists all, `GET /names/NAME` finds one by
/// the name its client chose, `GET /events/ID` streams how it goes, `DELETE /jobs/ID` cancels. Uploads and results are in extensions of this type.
package final class ModelServer: SimulatedService {
    /// One job at the service.
    package struct RemoteJob: Sendable {
        package let id: String
        /// The text that its client wrote into it, to know it again.
        package let tag: String
        package let input: String
        package internal(set) var begun: Timestamp
        package internal(set) var ends: Timestamp
        var isCancelled = false
    }

    struct State {
        var jobs: [RemoteJob] = []
        var keys: [String: String] = [:]
        var names: [String: String] = [:]
        var uploads: [String: Upload] = [:]
        var refusals: Set<String> = []
        /// The next place of jobs that are asked for at one place after the other.
        var places: [String: Int] = [:]
        /// The number of times that a submit arrived, by tag.
        var arrivals: [String: Int] = [:]
        var violations: [String] = []
    }

    /// One upload at the service.
    struct Upload {
        var bytes: [UInt8] = []
        var isComplete = false
        let length: Int?
    }

    let simulation: Simulation
    /// Says what is wrong with an owner's sending a submit of that key now; nil for nothing.
    private let checkSubmit: @Sendable (String, OwnerID) -> String?
    /// The time that a job takes, in milliseconds.
    private let durations: ClosedRange<Int>
    let state = Mutex(State())
    private let hook = Mutex<(@Sendable (RemoteJob) -> Void)?>(nil)

    package init(
        _ simulation: Simulation, durations: ClosedRange<Int> = 200...90_000,
        checkSubmit: @escaping @Sendable (String, OwnerID) -> String? = { _, _ in nil }
    ) {
        self.simulation = simulation
        self.durations = durations
        self.checkSubmit = checkSubmit
    }

    /// The output of a job: what every finished pipeline must have captured.
    package static func output(of input: String) -> String { "model of (\(input))" }

    package var jobs: [RemoteJob] { state.withLock { $0.jobs } }
    /// The mistakes of requests as they were sent.
    package var violations: [String] { state.withLock { $0.violations } }

    /// Has something happen when a job begins, such as a callback at its end; nil for nothing.
    package func onBegin(_ hook: (@Sendable (RemoteJob) -> Void)?) { self.hook.withLock { $0 = hook } }

    /// Starts the service again: what was running begins again, what is kept on its disk stays.
    package func restart() {
        let now = simulation.now
        state.withLock { state in
            for index in state.jobs.indices where state.jobs[index].ends > now {
                let length = state.jobs[index].ends - state.jobs[index].begun
                state.jobs[index].begun = now
                state.jobs[index].ends = now + length
            }
        }
    }

    package func willReceive(_ request: RequestDescription, from owner: OwnerID) {
        guard request.method == .post, request.url.hasSuffix("/jobs"),
            let body = try? JSON.parse(BodyBytes.all(of: request.body)),
            let key = body["tag"]?.string, let violation = checkSubmit(key, owner)
        else { return }
        state.withLock { $0.violations.append(violation) }
    }

    package func answer(_ request: ArrivedRequest, at time: Timestamp) -> HTTPExchangeResponse {
        let path = request.path.split(separator: "?").first.map(String.init) ?? "/"
        let parts = path.split(separator: "/").map(String.init)
        switch (request.description.method, parts.first, parts.dropFirst().first) {
        case (.post, "jobs", nil): return submit(request, at: time)
        case (.get, "jobs", nil): return list(at: time)
        case (.get, "jobs", let id?): return poll(id, at: time)
        case (.get, "places", let id?): return place(id, parts.last.flatMap { Int($0) } ?? 0, at: time)
        case (.get, "events", let id?): return stream(id, request, at: time)
        case (.get, "names", let name?):
            return state.withLock({ $0.names[name] }).map { poll($0, at: time) } ?? Self.problem(404, "no such name")
        case (.delete, "jobs", let id?): return cancel(id, at: time)
        case (_, "uploads", let id): return upload(id, request)
        case (.get, "results", let id?): return result(id, request, at: time)
        default: return Self.problem(404, "there is nothing at \(path)")
        }
    }

    private func submit(_ request: ArrivedRequest, at time: Timestamp) -> HTTPExchangeResponse {
        guard request.isWhole, let body = try? JSON.parse(request.body), let tag = body["tag"]?.string,
            let input = body["input"]?.string
        else { return Self.problem(400, "no whole submit") }
        let key = HTTPField.Name("Idempotency-Key").flatMap { request.description.headers[$0] }
        let ends = time + simulation.randomness.milliseconds(durations)
        let count = jobs.count
        defer { if let job = jobs.dropFirst(count).first { hook.withLock { $0 }?(job) } }
        return state.withLock { state in
            state.arrivals[tag, default: 0] += 1
            if let known = key.flatMap({ state.keys[$0] }) { return Self.accepted(known) }
            if input.hasPrefix("poison") {
                state.refusals.insert(tag)
                return Self.problem(422, "this input is not wanted")
            }
            let name = body["name"]?.string
            if let name, state.names[name] != nil { return Self.problem(409, "the name is taken") }
            let job = RemoteJob(id: "j\(state.jobs.count + 1)", tag: tag, input: input, begun: time, ends: ends)
            state.jobs.append(job)
            if let key { state.keys[key] = job.id }
            if let name { state.names[name] = job.id }
            return Self.accepted(job.id)
        }
    }

    private func poll(_ id: String, at time: Timestamp) -> HTTPExchangeResponse {
        guard let job = state.withLock({ $0.jobs.first { $0.id == id } }) else {
            return Self.problem(404, "no such job")
        }
        return Self.answer(200, view(of: job, at: time))
    }

    /// A job's view at one of its places, each of which names the next: a place before the last two is gone.
    private func place(_ id: String, _ place: Int, at time: Timestamp) -> HTTPExchangeResponse {
        let isGone = state.withLock { state in
            let next = state.places[id] ?? 0
            if place == next { state.places[id] = next + 1 }
            return place < next - 1 || place > next
        }
        guard !isGone, let job = jobs.first(where: { $0.id == id }) else { return Self.problem(410, "no such place") }
        var view = view(of: job, at: time).object ?? [:]
        view["next"] = .number(JSONNumber(place + 1))
        return Self.answer(200, .object(view))
    }

    private func list(at time: Timestamp) -> HTTPExchangeResponse {
        let jobs = jobs
        return Self.answer(200, ["items": .array(jobs.reversed().map { view(of: $0, at: time) })])
    }

    private func cancel(_ id: String, at time: Timestamp) -> HTTPExchangeResponse {
        state.withLock { state in
            guard let index = state.jobs.firstIndex(where: { $0.id == id }) else {
                return Self.problem(404, "no such job")
            }
            if state.jobs[index].ends > time { state.jobs[index].isCancelled = true }
            return Self.answer(200, ["id": .string(id)])
        }
    }

    /// Returns how a job looks from outside. Now and then an old view comes back, as from a replica that is behind.
    func view(of job: RemoteJob, at time: Timestamp) -> JSON {
        var view: JSONObject = ["id": .string(job.id), "tag": .string(job.tag), "input": .string(job.input)]
        let isBehind = job.ends > time && simulation.randomness.chance(0.1)
        let share = isBehind ? 0 : min(1, (time - job.begun).seconds / max(0.001, (job.ends - job.begun).seconds))
        view["percent"] = .number(JSONNumber(Int(share * 100)))
        if job.isCancelled {
            view["state"] = "cancelled"
        } else if job.ends > time {
            view["state"] = share < 0.1 ? "queued" : "running"
        } else if job.input.hasPrefix("doomed") {
            view["state"] = "error"
        } else {
            view["state"] = "done"
            view["result"] = ["value": .string(Self.output(of: job.input)), "url": .string("/results/\(job.id)")]
        }
        return .object(view)
    }

    private static func accepted(_ id: String) -> HTTPExchangeResponse {
        answer(201, ["id": .string(id), "state": "queued"])
    }

    static func problem(_ status: Int, _ message: String) -> HTTPExchangeResponse {
        answer(status, ["error": .string(message)])
    }

    static func answer(_ status: Int, _ body: JSON, _ headers: HTTPFields = [:]) -> HTTPExchangeResponse {
        var bytes: [UInt8] = []
        body.write(into: &bytes)
        var headers = headers
        headers[.contentType] = "application/json"
        return HTTPExchangeResponse(status: status, headers: headers, body: bytes)
    }
}
