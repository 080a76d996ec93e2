import HTTPTypes
import JSONPath
import PipelineCore
import PipelineHTTP
import PipelineTestKit
import Synchronization
import Testing

@testable import PipelineStages

/// The parameters of a URL, as far as these tests write them.
private enum PlainQuery {
    static func pairs(_ query: String) -> [(name: String, value: String)] {
        query.split(separator: "&").map { pair in
            let parts = pair.split(separator: "=", maxSplits: 1).map(String.init)
            let value = parts.count > 1 ? parts[1].split(separator: "%2C").joined(separator: ",") : ""
            return (parts.first ?? "", value)
        }
    }
}

/// Polls that jobs share: a list saves requests, and decides nothing but what the poll of the one job would.
@Suite("A list for many polls")
struct SharedPollTests {
    /// A service of jobs that end at rounds of their own, and whose list lies.
    private final class Service: Sendable {
        enum Lie: CaseIterable {
            case none, missing, stale, shuffled, twice, cut, tooMany, early, refused, trouble, noJSON
        }

        struct State {
            var round = 0
            var ends: [String: Int] = [:]
            var lists = 0
            var singles = 0
            var largest = 0
            var random = SystemRandomNumberGenerator()
            var lie = Lie.none
        }

        let state = Mutex(State())
        let mostIDs: Int
        init(mostIDs: Int = .max) { self.mostIDs = mostIDs }

        var network: Network {
            Network(
                transport: ScriptedTransport { request, _ async throws(ExchangeFailure) in
                    self.answer(request)
                })
        }

        func answer(_ request: RequestDescription) -> HTTPExchangeResponse {
            let (status, body) = state.withLock { state -> (Int, String) in
                if request.method == .post {
                    let id = "j\(state.ends.count + 1)"
                    state.ends[id] = 1 + state.ends.count % 12
                    return (200, #"{"id": "\#(id)"}"#)
                }
                let path = URLParts(request.url)?.path ?? ""
                if path.hasPrefix("/v1/jobs/") {
                    state.singles += 1
                    return (200, Self.entry(String(path.dropFirst(9)), state))
                }
                state.lists += 1
                let pairs = request.query + PlainQuery.pairs(URLParts(request.url)?.query ?? "")
                let asked = pairs.first { $0.name == "ids" }?.value.split(separator: ",").map(String.init)
                return list(asked ?? state.ends.keys.sorted(), &state)
            }
            return HTTPExchangeResponse(status: status, body: Array(body.utf8), url: request.url)
        }

        private static func entry(_ id: String, _ state: State, at round: Int? = nil) -> String {
            let isDone = (round ?? state.round) >= state.ends[id] ?? .max
            return #"{"id": "\#(id)", "state": "\#(isDone ? "done" : "busy")"}"#
        }

        private func list(_ ids: [String], _ state: inout State) -> (Int, String) {
            if ids.count > mostIDs { return (413, "too long") }
            state.largest = max(state.largest, ids.count)
            var entries = ids.map { Self.entry($0, state) }
            switch state.lie {
            case .none: break
            case .missing: entries = entries.enumerated().filter { $0.offset % 3 != 0 }.map(\.element)
            case .stale: entries = ids.map { Self.entry($0, state, at: 0) }
            case .shuffled: entries.shuffle(using: &state.random)
            case .twice: entries += ids.map { Self.entry($0, state, at: .max) }
            case .cut: return (200, String("[\(entries.joined(separator: ","))]".dropLast(12)))
            case .tooMany: entries += (1...500).map { #"{"id": "x\#($0)", "state": "done"}"# } + ["7", "null", "[]"]
            case .early: entries = ids.map { Self.entry($0, state, at: .max) }
            case .refused: return (400, #"{"error": "no"}"#)
            case .trouble: return (500, "down")
            case .noJSON: return (200, "<html>")
            }
            return (200, "[\(entries.joined(separator: ","))]")
        }
    }

    private func benches(
        _ count: Int, _ service: Service, list: String = #""query": { "ids": "${{ join(ids, ',') }}" }"#,
        isCounted: Bool = true, network: Network? = nil, with decorators: String = "[]", accounts: [JSON] = [],
        logsIn: Bool = false
    ) throws -> [StageBench] {
        // Where requests are counted, all who are called at once are waited for; one of them asks.
        let polls = SharedPolls { waiting in
            if isCounted { while waiting() < count / max(1, accounts.count) - 1 { await Task.yield() } }
            for _ in 0..<300 { await Task.yield() }
        }
        let login =
            #"{ "id": "login", "kind": "request", "request": { "POST": "http://api.test/" }, "capture": { "token": "$" } },"#
        let bearer = #""with": [ { "bearer": "${{ stages.login.token }}" } ],"#
        return try (0..<count).map { index in
            let account: JSON = accounts.isEmpty ? .null : accounts[index % accounts.count]
            let inputs: JSONObject = accounts.isEmpty || logsIn ? [:] : ["account": account]
            let captures: [String: JSON] = logsIn ? ["login": ["token": account]] : [:]
            return try StageBench(
                """
                \(logsIn ? login : "") { "id": "model", "kind": "compute", "service": "api", \(logsIn ? bearer : "")
                  "submit": { "POST": "/jobs", "once": { "resend": true }, "capture": { "id": "$.id" } },
                  "poll": { "GET": "/jobs/${{ self.id }}", "every": "10s", "status": "$.state", "succeeded": ["done"],
                            "list": { "GET": "/jobs", \(list), "items": "$[*]", "id": "$.id", "atMost": 20 } } }
                """, network: network ?? service.network, inputs: inputs, captures: captures, with: decorators,
                polls: polls)
        }
    }

    /// Calls all that have not ended at once, and gives those that ended.
    private func round(_ benches: [StageBench], _ open: inout Set<Int>) async -> Set<Int> {
        let calls = open.map { index in
            (index, benches[index].stage, benches[index].checkpoint, benches[index].host)
        }
        let results = await withTaskGroup(of: (Int, Result<StageOutcome<[UInt8]>, StageFailure>).self) { group in
            for (index, stage, checkpoint, host) in calls {
                group.addTask { (index, await stage.resume(checkpoint, host)) }
            }
            var all: [(Int, Result<StageOutcome<[UInt8]>, StageFailure>)] = []
            for await result in group { all.append(result) }
            return all
        }
        var ended: Set<Int> = []
        for (index, result) in results {
            switch result {
            case .success(.waiting(let bytes, let until, _)):
                benches[index].checkpoint = bytes
                if let time = until.time { benches[index].host.read { $0.now = max($0.now, time) } }
            case .success(.finished): ended.insert(index)
            default: Issue.record("\(index): \(result)")
            }
        }
        open.subtract(ended)
        return ended
    }

    @Test("one request asks for all that are due, in chunks; the end of a job is confirmed by its own poll")
    func honest() async throws {
        let service = Service()
        let benches = try benches(50, service)
        for bench in benches { await bench.resume() }
        var open = Set(benches.indices)
        _ = await round(benches, &open)
        let state = service.state.withLock { $0 }
        #expect(state.lists == 3 && state.singles == 0 && state.largest == 20, "\(state)")
        service.state.withLock { $0.round = 100 }
        #expect(await round(benches, &open).count == 50)
        let after = service.state.withLock { $0 }
        #expect(after.lists == 6 && after.singles == 50, "\(after)")
    }

    @Test("one due job is asked for alone")
    func alone() async throws {
        let service = Service()
        let benches = try benches(1, service)
        await benches[0].resume()
        await benches[0].resume()
        #expect(service.state.withLock { $0.lists == 0 && $0.singles == 1 })
    }

    @Test("a list that is refused for its length is asked for in halves, and the next ones are no longer than these")
    func halves() async throws {
        let service = Service(mostIDs: 6)
        let benches = try benches(20, service)
        for bench in benches { await bench.resume() }
        var open = Set(benches.indices)
        _ = await round(benches, &open)
        let state = service.state.withLock { $0 }
        #expect(state.singles == 0 && state.largest == 5 && state.lists == 7, "\(state)")
        _ = await round(benches, &open)
        #expect(service.state.withLock { $0.lists == 7 + 4 && $0.singles == 0 })
    }

    /// It cost four times the polls, and nobody was told.
    @Test("that is of no use three times in a row is told, once", arguments: [true, false])
    func inVain(isPage: Bool) async throws {
        let lie = isPage ? Service.Lie.noJSON : .trouble
        let service = Service()
        let benches = try benches(10, service)
        for bench in benches { await bench.resume() }
        var open = Set(benches.indices)
        func warnings() -> [String] {
            benches.flatMap { $0.host.read(\.warnings) }.filter {
                $0.hasPrefix("the poll's list is of no use, and each job is asked for alone: ")
            }
        }
        for (lie, count) in [(lie, 0), (lie, 0), (.none, 0), (lie, 0), (lie, 0), (lie, 1), (lie, 1)] {
            service.state.withLock { $0.lie = lie }
            _ = await round(benches, &open)
            #expect(warnings().count == count, "\(warnings())")
        }
    }

    @Test("what refuses every list says nothing of their length")
    func refused() async throws {
        let service = Service()
        let benches = try benches(20, service)
        for bench in benches { await bench.resume() }
        var open = Set(benches.indices)
        service.state.withLock { $0.lie = .refused }
        _ = await round(benches, &open)
        service.state.withLock { $0.lie = .none }
        let before = service.state.withLock(\.lists)
        _ = await round(benches, &open)
        #expect(service.state.withLock { $0.lists == before + 1 && $0.largest == 20 })
    }

    /// A list that got no answer lasted for five minutes, whatever the deadlines of those who waited for it.
    @Test("a list ends at the earliest deadline of those that it asks for, and each is asked for alone then")
    func deadline() async throws {
        let service = Service()
        let limits = Mutex<[Duration?]>([])
        let transport = ScriptedTransport { request, options async throws(ExchangeFailure) in
            guard request.method == .get, URLParts(request.url)?.path == "/v1/jobs" else {
                return service.answer(request)
            }
            limits.withLock { $0.append(options.totalTimeout) }
            throw ExchangeFailure(.timedOut(.total), message: "It took too long.", connectionMade: true)
        }
        let benches = try benches(5, service, network: Network(transport: transport))
        for bench in benches { await bench.resume() }
        for (index, bench) in benches.enumerated() {
            bench.host.read { $0.deadline = $0.now + .seconds(index == 3 ? 20 : 100) }
        }
        var open = Set(benches.indices)
        service.state.withLock { $0.round = 100 }
        #expect(await round(benches, &open).count == 5)
        #expect(limits.withLock { $0 } == [.seconds(20)])
        #expect(service.state.withLock(\.singles) == 5)
    }

    /// Past its deadline the stage makes one more poll, and that is its own.
    @Test("a job past its deadline, or near it, is asked for alone", arguments: [-1, 4])
    func pastDeadline(left: Int) async throws {
        let service = Service()
        let benches = try benches(2, service, isCounted: false)
        for bench in benches { await bench.resume() }
        for bench in benches { bench.host.read { $0.deadline = $0.now + .seconds(left) } }
        var open = Set(benches.indices)
        service.state.withLock { $0.round = 100 }
        #expect(await round(benches, &open).count == 2)
        #expect(service.state.withLock { $0.lists == 0 && $0.singles == 2 })
    }

    @Test(
        "one that is cancelled does not wait for the answer of a list that others have asked for",
        .timeLimit(.minutes(1)))
    func cancelled() async {
        let (gathered, gather) = AsyncStream.makeStream(of: Void.self)
        let (asked, ask) = AsyncStream.makeStream(of: Void.self)
        let (answers, answer) = AsyncStream.makeStream(of: Void.self)
        let polls = SharedPolls { waiting in
            gather.yield()
            while waiting() == 0 { await Task.yield() }
        }
        let entry = ServiceResponse(status: 200, url: "http://localhost/jobs")
        let first = Task {
            await polls.entry(of: "a", in: "g", atMost: 10, before: nil) { ids, _ in
                #expect(ids == ["a", "b"])
                ask.yield()
                for await _ in answers { break }
                return ["a": entry, "b": entry]
            }
        }
        for await _ in gathered { break }
        let second = Task { await polls.entry(of: "b", in: "g", atMost: 10, before: nil) { _, _ in [:] } }
        for await _ in asked { break }
        second.cancel()
        #expect(await second.value?.status == nil)
        answer.yield()
        #expect(await first.value?.status == 200)
    }

    @Test("a list without ids is asked once for all")
    func filtered() async throws {
        let service = Service()
        let benches = try benches(15, service, list: #""query": { "limit": 100 }, "next": { "link": "next" }"#)
        for bench in benches { await bench.resume() }
        var open = Set(benches.indices)
        _ = await round(benches, &open)
        #expect(service.state.withLock { $0.lists == 1 && $0.singles == 0 })
    }

    /// Jobs of one account were given those of another, where its name stood around the requests and in none of them.
    @Test(
        "an account that a decorator names shares no list with another one",
        arguments: [
            #"[ { "headers": { "X-Account": "${{ inputs.account }}" } } ]"#,
            #"[ { "query": { "account": "${{ inputs.account }}" } } ]"#,
        ])
    func accounts(decorators: String) async throws {
        let service = Service()
        let seen = Mutex((accounts: [String: String](), lists: [(account: String, ids: [String])]()))
        let transport = ScriptedTransport { request, _ async throws(ExchangeFailure) in
            let response = service.answer(request)
            let pairs = request.query + PlainQuery.pairs(URLParts(request.url)?.query ?? "")
            let account = request.header("X-Account") ?? pairs.first { $0.name == "account" }?.value ?? ""
            seen.withLock { seen in
                if request.method == .post {
                    let id = (try? JSON.parse(response.body))?["id"]?.string ?? ""
                    seen.accounts[id] = account
                } else if let ids = pairs.first(where: { $0.name == "ids" })?.value {
                    seen.lists.append((account, ids.split(separator: ",").map(String.init)))
                }
            }
            return response
        }
        let benches = try benches(
            12, service, network: Network(transport: transport), with: decorators, accounts: ["a", "b"])
        for bench in benches { await bench.resume() }
        var open = Set(benches.indices)
        _ = await round(benches, &open)
        let (accounts, lists) = seen.withLock { $0 }
        #expect(lists.count == 2 && lists.allSatisfy { $0.ids.count == 6 }, "\(lists)")
        for list in lists { #expect(list.ids.allSatisfy { accounts[$0] == list.account }, "\(list)") }
    }

    @Test("a token that a login gave shares no list with another one, which may be of another account")
    func tokens() async throws {
        let service = Service()
        let benches = try benches(12, service, accounts: ["a", "b"], logsIn: true)
        for bench in benches { await bench.resume() }
        var open = Set(benches.indices)
        _ = await round(benches, &open)
        #expect(service.state.withLock { $0.lists == 2 && $0.singles == 0 })
    }

    @Test("keys, boundaries and traces, which differ for each job, keep no list apart")
    func ofEachJob() async throws {
        let service = Service()
        let decorators = #"[ { "idempotencyKey": {} }, { "multipart": { "fields": { "a": "b" } } } ], "trace": true"#
        let benches = try benches(15, service, with: decorators)
        for (index, bench) in benches.enumerated() {
            bench.host.read { $0.job = (id: "0\(index)job", key: "key\(index)") }
            await bench.resume()
        }
        var open = Set(benches.indices)
        _ = await round(benches, &open)
        #expect(service.state.withLock { $0.lists == 1 && $0.singles == 0 })
    }

    @Test("a list that lies ends no job early, hides none for long, and fails none", arguments: 0..<20)
    func lies(seed: Int) async throws {
        let service = Service(mostIDs: seed % 3 == 0 ? 7 : .max)
        let benches = try benches(24, service, isCounted: false)
        for bench in benches { await bench.resume() }
        var open = Set(benches.indices)
        var ends: [Int: Int] = [:]
        for number in 1...40 where !open.isEmpty {
            service.state.withLock { state in
                state.round = number
                state.lie = Service.Lie.allCases[(number * 7 + seed) % Service.Lie.allCases.count]
            }
            for index in await round(benches, &open) { ends[index] = number }
        }
        #expect(open.isEmpty)
        let truth = service.state.withLock(\.ends)
        for (index, bench) in benches.enumerated() {
            let id = try #require(bench.captures["id"]?.string)
            let end = try #require(ends[index])
            let first = try #require(truth[id])
            #expect(end >= first && end <= first + 11, "\(id): ended at \(end), and in truth at \(first)")
        }
    }

    @Test("a list without ids of jobs to tell its entries by is a mistake that is told")
    func noID() {
        let report = StageBench.report(
            """
            { "id": "model", "kind": "compute", "service": "api",
              "poll": { "GET": "/jobs/7", "status": "$.state", "succeeded": ["done"],
                        "list": { "GET": "/jobs", "items": "$[*]", "id": "$.id" } } }
            """)
        #expect(report.contains("the submit captures nothing called 'id'"), "\(report)")
        let misplaced = StageBench.report(
            #"{ "id": "a", "kind": "request", "service": "api", "request": { "GET": "/x", "query": { "a": "${{ ids }}" } } }"#
        )
        #expect(misplaced.contains("'list' of a poll"), "\(misplaced)")
    }
}
