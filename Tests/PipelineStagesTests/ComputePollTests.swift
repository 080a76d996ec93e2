import JSONPath
import PipelineCore
import PipelineHTTP
import PipelineTestKit
import Synchronization
import Testing

@Suite("Watching a remote job")
struct ComputePollTests {
    /// A stage that watches job 7; `poll` are the members of its poll beside the request.
    private func watch(
        _ service: ScriptedService, _ poll: String, stage: String = "", request: String = #""GET": "/jobs/7","#
    ) throws -> StageBench {
        try StageBench(
            #"{ "id": "model", "kind": "compute", "service": "api", \#(stage) "poll": { \#(request) \#(poll) } }"#,
            network: service.network)
    }

    private func firstOutcome(
        _ poll: String, _ status: Int, _ body: String, headers: [String: String] = [:]
    ) async throws -> Result<StageOutcome<[UInt8]>, StageFailure> {
        let service = ScriptedService()
        service.on("GET /v1/jobs/7", status, body, headers: headers)
        return await (try watch(service, poll)).resume()
    }

    private let states = #""status": "$.state", "succeeded": ["done"], "failed": ["error"], "cancelled": ["gone"]"#

    // MARK: States

    @Test("a state in a list means what the list says")
    func lists() async throws {
        #expect(try await firstOutcome(states, 200, #"{"state": "done"}"#).isFinished)
        #expect(try await firstOutcome(states, 200, #"{"state": "busy"}"#).isWaiting)
        #expect(try await firstOutcome(states, 200, #"{"state": "Done"}"#).isWaiting)
        #expect(try await firstOutcome(states + #", "ignoreCase": true"#, 200, #"{"state": "Done"}"#).isFinished)
        #expect(
            try await firstOutcome(states, 200, #"{"state": "error", "message": "no memory"}"#).definite
                == "the job failed at service 'api': no memory")
        #expect(
            try await firstOutcome(states, 200, #"{"state": "gone"}"#).definite
                == "the job was cancelled at service 'api'")
    }

    /// The hint to let the value be missing had a job succeed that had failed.
    @Test("a value that is missing at the end of a job with an error is none to be left out")
    func errorAtEnd() async throws {
        let until = #""until": "response.body.done == true", "capture": { "uri": "$.response.uri" }"#
        func hint(_ body: String) async throws -> String? {
            guard case .failure(.failed(let failed)) = try await firstOutcome(until, 200, body) else { return nil }
            return failed.failure.hint
        }
        #expect(
            try await hint(#"{"done": true, "error": {"code": 3}}"#)?.contains(
                #""failWhen": "response.body.error != null""#) == true)
        #expect(try await hint(#"{"done": true, "error": null}"#)?.contains("if it may be missing") == true)
    }

    /// The job was given up, and ran on.
    @Test("a poll that is answered with nothing new says that the job runs on (304)")
    func notModified() async throws {
        #expect(try await firstOutcome(states, 304, "").isWaiting)
    }

    @Test("states are numbers and booleans too")
    func otherTypes() async throws {
        let numbers = #""status": "$.code", "succeeded": [3], "failed": [4]"#
        #expect(try await firstOutcome(numbers, 200, #"{"code": 3.0}"#).isFinished)
        #expect(try await firstOutcome(numbers, 200, #"{"code": 4}"#).definite != nil)
        #expect(try await firstOutcome(numbers, 200, #"{"code": "3"}"#).isWaiting)
        #expect(try await firstOutcome(#""status": "$.done", "succeeded": [true]"#, 200, #"{"done": false}"#).isWaiting)
        #expect(try await firstOutcome(#""status": "$.done", "succeeded": [true]"#, 200, #"{"done": true}"#).isFinished)
    }

    @Test("of several states the first list that holds one decides: running, failed, cancelled, succeeded")
    func arrays() async throws {
        let lists = #""status": "$.jobs[*].state", "running": ["R"], "failed": ["F"], "succeeded": ["S"]"#
        func body(_ states: String...) -> String {
            #"{"jobs": [\#(states.map { #"{"state": "\#($0)"}"# }.joined(separator: ","))]}"#
        }
        #expect(try await firstOutcome(lists, 200, body("S", "R", "F")).isWaiting)
        #expect(try await firstOutcome(lists, 200, body("S", "F")).definite != nil)
        #expect(try await firstOutcome(lists, 200, body("S", "S")).isFinished)
        #expect(
            try await firstOutcome(#""status": "$.state", "succeeded": ["S"]"#, 200, #"{"state": ["S"]}"#).isFinished)
    }

    @Test("an unknown state is running, or fails when told to")
    func unknownStatus() async throws {
        #expect(try await firstOutcome(states, 200, #"{"nothing": 1}"#).isWaiting)
        #expect(try await firstOutcome(states, 200, "<html>").isWaiting)
        let strict = states + #", "unknownStatus": "fail", "running": ["busy"]"#
        #expect(try await firstOutcome(strict, 200, #"{"state": "busy"}"#).isWaiting)
        #expect(
            try await firstOutcome(strict, 200, #"{"state": "odd"}"#).definite
                == #"service 'api' gave the job the state "odd", which is in none of the lists"#)
    }

    @Test("until and failWhen decide by expressions, in the order missing, fail, failWhen, until, lists")
    func order() async throws {
        let rules = #""until": "response.body.n >= 3", "failWhen": "response.body.n == 5""#
        #expect(try await firstOutcome(rules, 200, #"{"n": 2}"#).isWaiting)
        #expect(try await firstOutcome(rules, 200, #"{"n": 3}"#).isFinished)
        #expect(try await firstOutcome(rules, 200, #"{"n": 5}"#).definite != nil)
        let fail = #""fail": [{ "when": "response.body.n == 5", "message": "five" }], \#(rules)"#
        #expect(try await firstOutcome(fail, 200, #"{"n": 5}"#).definite == "five")
        let missing = #""missing": "response.body.n == 5", "settle": "0s", \#(fail)"#
        #expect(
            try await firstOutcome(missing, 200, #"{"n": 5}"#).definite
                == "service 'api' does not know the job (status 200)")
        let both = #""until": "response.body.state == 'error'", \#(states)"#
        #expect(try await firstOutcome(both, 200, #"{"state": "error"}"#).isFinished)
    }

    // A page of a gateway once ended the stage for good: len(null) is no number.
    @Test(
        "a condition that can't be put to a page that is not the service's says nothing",
        arguments: [
            #""fail": [{ "when": "len(response.body.errors) > 0", "message": "${{ response.body.errors[0] }}" }]"#,
            #""missing": "len(response.body.jobs) == 0""#, #""until": "response.body.percent >= 100""#,
            #""failWhen": "response.body.percent < 0""#,
        ])
    func strangePage(rule: String) async throws {
        #expect(try await firstOutcome("\(rule), \(states)", 502, "<html>").isWaiting)
        #expect(try await firstOutcome("\(rule), \(states)", 502, #"{"detail": "no"}"#).isWaiting)
        #expect(try await firstOutcome("\(rule), \(states)", 200, "<html>").isWaiting)
        #expect(try await firstOutcome("\(rule), \(states)", 200, "").isWaiting)
        #expect(try await firstOutcome("\(rule), \(states)", 403, "<html>").definite?.contains("answered 403") == true)
        #expect(try await firstOutcome("\(rule), \(states)", 200, "{}").isWaiting)
    }

    // It failed the stage at the first poll, and what was printed as the way on began a second job beside the first.
    @Test(
        "a rule that reads what a job that runs does not have yet says nothing of it, and is told once",
        arguments: [
            #""fail": [{ "when": "len(response.body.result.errors) > 0" }]"#,
            #""missing": "len(response.body.result.jobs) == 0""#, #""until": "response.body.result.percent >= 100""#,
            #""failWhen": "len(response.body.result.errors) > 0""#,
        ])
    func ruleOfTheEnd(rule: String) async throws {
        let service = ScriptedService()
        for _ in 1...3 { service.on("GET /v1/jobs/7", 200, #"{"state": "busy"}"#) }
        let result = #"{"errors": [], "jobs": [1], "percent": 100}"#
        service.on("GET /v1/jobs/7", 200, "{\"state\": \"done\", \"result\": \(result)}")
        let bench = try watch(service, #"\#(rule), \#(states), "running": ["busy"]"#)
        #expect(await bench.run().isFinished)
        #expect(service.lines.count == 4)
        let warnings = bench.host.read(\.warnings)
        #expect(warnings.count == 1, "\(warnings)")
        #expect(warnings.first?.hasPrefix("a rule of the poll can't be put to the answer") == true)
        #expect(warnings.first?.contains("is null") == true)
    }

    @Test("a rule that can't be put to an answer by which the job has succeeded ends the stage; a failed job is failed")
    func ruleAndEnd() async throws {
        let rule = #""failWhen": "len(response.body.errors) > 0""#
        let done = try #require(
            try await firstOutcome("\(rule), \(states)", 200, #"{"state": "done"}"#).tryFailure)
        #expect(done.kind == .definite && !done.endsRemoteJob && done.failure.title.contains("is null"))
        let failed = try #require(
            try await firstOutcome("\(rule), \(states)", 200, #"{"state": "error", "message": "bad"}"#).tryFailure)
        #expect(failed.endsRemoteJob && failed.failure.title == "the job failed at service 'api': bad")
    }

    /// A token of an hour was renewed once in the life of a job of three.
    @Test("a submit that was accepted and a good poll are progress, a poll that failed is none")
    func progress() async throws {
        let service = ScriptedService()
        service.on("POST /v1/jobs", 201, #"{"id": 7}"#)
        service.on("GET /v1/jobs/7", 502)
        service.on("GET /v1/jobs/7", 200, #"{"state": "busy"}"#)
        let bench = try StageBench(
            """
            { "id": "model", "kind": "compute", "service": "api",
              "submit": { "POST": "/jobs", "json": {}, "capture": { "id": "$.id" } },
              "poll": { "GET": "/jobs/${{ self.id }}", \(states) } }
            """, network: service.network)
        for forgets in [true, false, true] {
            bench.host.read { $0.hasFailed = true }
            #expect(await bench.resume().isWaiting)
            #expect(bench.host.read(\.hasFailed) == !forgets)
        }
        #expect(service.lines.count == 3)
    }

    @Test("a service that answers in plain text is not warned of")
    func plainText() async throws {
        let service = ScriptedService()
        service.on("GET /v1/jobs/7", 200, "busy")
        service.on("GET /v1/jobs/7", 200, "all done")
        let bench = try watch(service, #""until": "contains(response.body, 'done')""#)
        #expect(await bench.resume().isWaiting)
        #expect(await bench.resume().isFinished)
        #expect(bench.host.read(\.warnings).isEmpty)
    }

    @Test("an error page never fulfils until, unless until looks at the status")
    func untilAndErrorPages() async throws {
        let negative = #""until": "response.body.state != 'running'""#
        #expect(try await firstOutcome(negative, 502, "<html>").isWaiting)
        #expect(try await firstOutcome(negative, 403, "<html>").definite != nil)
        let byStatus = #""until": "response.status == 404", "missing": "false""#
        #expect(try await firstOutcome(byStatus, 404, "").isFinished)
        #expect(try await firstOutcome(byStatus, 200, "{}").isWaiting)
    }

    @Test("a job that is missing fails the stage once that is believed", arguments: [404, 410])
    func missing(status: Int) async throws {
        #expect(try await firstOutcome(states, status, "").isWaiting)
        #expect(
            try await firstOutcome(states + #", "settle": "0s""#, status, "").definite
                == "service 'api' does not know the job (status \(status))")
    }

    /// The stage ended, and the next one to be begun was a second job beside the first.
    @Test("a service in trouble does not say that a job is missing", arguments: [408, 425, 429, 500, 501, 503])
    func missingInTrouble(status: Int) async throws {
        let rule = #""missing": "response.body.job == null", "settle": "0s", \#(states)"#
        let page = #"{"error": "starting"}"#
        #expect(try await firstOutcome(rule, status, page).isWaiting)
        let limit = ["RateLimit-Remaining": "0"]
        #expect(try await firstOutcome(rule, 403, page, headers: limit).isWaiting)
        #expect(try await firstOutcome(rule, 403, page).tryFailure?.endsRemoteJob != true)
        for said in [200, 400] {
            let missing = try #require(try await firstOutcome(rule, said, page).tryFailure)
            #expect(missing.endsRemoteJob && missing.failure.title.contains("does not know the job"))
        }
        let byStatus = #""missing": "response.status == \#(status)", "settle": "0s", \#(states)"#
        #expect(try await firstOutcome(byStatus, status, page).tryFailure?.endsRemoteJob == true)
    }

    @Test("a service that does not know the job right after the submit is asked again")
    func settle() async throws {
        let service = ScriptedService()
        service.on("POST /v1/jobs", 201, #"{"id": 7}"#)
        for _ in 0..<3 { service.on("GET /v1/jobs/7", 404) }
        service.on("GET /v1/jobs/7", 200, #"{"state": "done"}"#)
        let bench = try StageBench(
            """
            { "id": "model", "kind": "compute", "service": "api",
              "submit": { "POST": "/jobs", "json": {}, "capture": { "id": "$.id" } },
              "poll": { "GET": "/jobs/${{ self.id }}", \(states) } }
            """, network: service.network)
        #expect(await bench.run().isFinished)
        #expect(service.lines.count == 5)
    }

    @Test("a job that is still missing after that has failed")
    func settled() async throws {
        let service = ScriptedService()
        for _ in 0..<50 { service.on("GET /v1/jobs/7", 404) }
        let bench = try watch(service, states)
        #expect(await bench.run().definite == "service 'api' does not know the job (status 404)")
        #expect((bench.host.now - bench.host.started).seconds >= 10)
        #expect(service.lines.count > 3)
    }

    /// The first answer, that the job runs, came again for as long as the cache kept it.
    @Test("a poll asks the service itself, whatever a cache has")
    func pastCache() async throws {
        let service = ScriptedService()
        service.on("GET /v1/jobs/7", 200, #"{"state": "done"}"#)
        let bench = try watch(service, #"\#(states), "with": [ { "cache": { "maxAge": "1h" } } ]"#)
        #expect(await bench.run().isFinished)
        #expect(service.requests.map { $0.cachePolicy != nil } == [false])
    }

    @Test("a job is found in a list: its entry is the answer, none is running")
    func find() async throws {
        let service = ScriptedService()
        service.on("GET /v1/jobs/7", 200, #"{"runs": []}"#)
        service.on(
            "GET /v1/jobs/7", 200, #"{"runs": [{"name": "x", "state": "done"}, {"name": "key1", "state": "busy"}]}"#)
        service.on(
            "GET /v1/jobs/7", 200,
            #"{"runs": [{"name": "key1", "state": "done", "url": "http://u"}, {"name": "x", "state": "error"}]}"#)
        let bench = try watch(
            service,
            states
                + #", "find": { "items": "$.runs[*]", "where": "item.name == job.key" }, "capture": { "url": "$.url" }"#
        )
        #expect(await bench.resume().isWaiting)
        #expect(bench.reason?.detail == "the job is not in the list yet")
        #expect(await bench.resume().isWaiting)
        #expect(await bench.resume().isFinished)
        #expect(bench.captures["url"] == "http://u")
        #expect(bench.host.read(\.warnings).isEmpty)
    }

    @Test("a list that has no such entry for a minute is warned of, once, and looked at on")
    func absent() async throws {
        let service = ScriptedService()
        for _ in 0..<60 { service.on("GET /v1/jobs/7", 200, #"{"runs": [{"name": "x"}]}"#) }
        let bench = try watch(
            service, states + #", "every": "5s", "find": { "items": "$.runs[*]", "where": "item.name == 'y'" }"#)
        for _ in 0..<40 { #expect(await bench.resume().isWaiting) }
        let warnings = bench.host.read(\.warnings)
        #expect(warnings.count == 1 && warnings[0].contains("item.name == 'y'"), "\(warnings)")
    }

    @Test(
        "what is likely a mistake is told at the first poll, once, and the polls go on",
        arguments: [
            (
                #""status": "$.state", "running": ["busy"], "succeeded": ["done"]"#, #"{"state": "odd"}"#,
                #"the state "odd" is in none of the lists"#
            ),
            (#""status": "$.state", "succeeded": ["done"]"#, #"{"state": "Done"}"#, #"did you mean "done""#),
            (
                #""status": "$.state", "succeeded": ["3"], "failed": ["4"]"#, #"{"state": 3}"#,
                #"counts as running; "3" in the lists is a string, and this is a number"#
            ),
            (
                #""status": "$.state", "succeeded": [true], "failed": ["x"]"#, #"{"state": "True"}"#,
                #"counts as running; true in the lists is a boolean, and this is a string"#
            ),
            (
                #""status": "$.state", "succeeded": ["done"]"#, #"{"status": "done"}"#,
                #"$.state finds nothing in the answer to the poll, which counts as running; it begins: {"status": "done"}"#
            ),
            (
                #""status": "$.state", "succeeded": ["done"]"#, "<html><body>Sign in",
                "is not JSON; it begins: <html><body>Sign in"
            ),
            (#""status": "$.state", "succeeded": ["done"]"#, "", "it is empty"),
            (#""until": "response.body.state == 'done'""#, "<html><body>Sign in", "is not JSON; it begins: <html>"),
            (#""until": "response.body.percent >= 100""#, "", "the answer to the poll is not JSON; it is empty"),
            (
                #""until": "false", "fail": [{ "when": "len(response.body.errors) > 0" }]"#, "<html>",
                "the answer to the poll is not JSON"
            ),
            (
                #""status": "$.state", "succeeded": ["done"], "progress": "$.p""#, #"{"state": "x", "p": 0.37}"#,
                #""progress": { "fraction": "$.p" }"#
            ),
        ])
    func doubts(poll: String, body: String, message: String) async throws {
        let service = ScriptedService()
        for _ in 0..<3 { service.on("GET /v1/jobs/7", 200, body) }
        let bench = try watch(service, poll)
        for _ in 0..<3 { #expect(await bench.resume().isWaiting) }
        let warnings = bench.host.read(\.warnings)
        #expect(warnings.count == 1 && warnings[0].contains(message), "\(warnings)")
    }

    @Test("a document that lists no running states is not warned of each")
    func quiet() async throws {
        let service = ScriptedService()
        service.on("GET /v1/jobs/7", 200, #"{"state": "processing"}"#)
        let bench = try watch(service, states)
        #expect(await bench.resume().isWaiting)
        #expect(bench.host.read(\.warnings).isEmpty)
    }

    // A job whose last state stands in no list was polled for a week without a word.
    @Test("it is told the first state in none of the lists once the job is late")
    func lateState() async throws {
        let service = ScriptedService()
        service.on("GET /v1/jobs/7", 200, #"{"state": "queued"}"#)
        for _ in 0..<60 { service.on("GET /v1/jobs/7", 200, #"{"state": "Succeeded"}"#) }
        service.on("GET /v1/jobs/7", 200, #"{"state": "Odd"}"#)
        let bench = try watch(service, #""status": "$.state", "succeeded": ["OK"], "every": "1s""#)
        for _ in 0..<59 { #expect(await bench.resume().isWaiting) }
        #expect(bench.host.read(\.warnings).isEmpty)
        for _ in 0..<20 { #expect(await bench.resume().isWaiting) }
        #expect(
            bench.host.read(\.warnings) == [
                #"the state "Succeeded" is in none of the lists of the poll, and counts as running"#
            ])
    }

    @Test("what is not yet true is no such state")
    func notYetTrue() async throws {
        let service = ScriptedService()
        service.on("GET /v1/jobs/7", 200, #"{"ready": false}"#)
        let bench = try watch(service, #""status": "$.ready", "succeeded": [true], "every": "30s""#)
        for _ in 0..<10 { #expect(await bench.resume().isWaiting) }
        #expect(bench.host.read(\.warnings).isEmpty)
    }

    // The first list that holds it decided, and the job failed.
    @Test("a state that stands in two lists is warned of")
    func stateInTwoLists() throws {
        let plan = try TransferBench.plan(
            """
            { "id": "model", "kind": "compute", "service": "api",
              "poll": { "GET": "/j", "status": "$.s", "succeeded": ["a", "b", "b"], "failed": ["a"], "running": [1] } }
            """)
        #expect(plan.warnings.diagnostics.map(\.message) == [#"the state "a" stands in "failed" too"#])
    }

    @Test("of a list of polls the first that finds the job decides")
    func listOfPolls() async throws {
        let service = ScriptedService()
        service.on("GET /v1/queue/7", 200, #"{"state": "busy"}"#)
        service.on("GET /v1/queue/7", 404)
        service.on("GET /v1/history/7", 200, #"{"state": "done", "url": "http://x/1"}"#)
        let bench = try StageBench(
            """
            { "id": "model", "kind": "compute", "service": "api", "poll": [
                { "GET": "/queue/7", "status": "$.state", "running": ["busy"] },
                { "GET": "/history/7", "status": "$.state", "succeeded": ["done"], "capture": { "url": "$.url" } } ] }
            """, network: service.network)
        #expect(await bench.run().isFinished)
        #expect(service.lines == ["GET /v1/queue/7", "GET /v1/queue/7", "GET /v1/history/7"])
        #expect(bench.captures["url"] == "http://x/1")
    }

    // MARK: Captures on the way

    private func chain(
        _ service: ScriptedService, submit: String, poll: String, stage: String = ""
    ) throws -> StageBench {
        try StageBench(
            """
            { "id": "query", "kind": "compute", "service": "api",
              "submit": { "POST": "/query", "json": {}, "capture": { \(submit) } },
              "poll": { "GET": "${{ self.next ?? '/query/1' }}", "status": "$.state", "running": ["run"],
                        "succeeded": ["done"], "capture": { \(poll) } } \(stage) }
            """, network: service.network)
    }

    // The first address was asked until the deadline.
    @Test(
        "an address that each answer gives for the next poll is asked, over restarts too",
        arguments: [
            (#""next": "$.next""#, #""next": "$.next?", "rows": "$.rows""#, ""),
            ("", #""next": "$.next?", "rows": "$.rows""#, ""),
            (#""next": "$.next""#, "", #", "capture": { "next": "$.next?", "rows": "$.rows" }"#),
        ])
    func movingAddress(submit: String, poll: String, stage: String) async throws {
        let service = ScriptedService()
        service.on("POST /v1/query", 200, #"{"state": "run", "next": "http://api.test/v1/query/1"}"#)
        for place in 1...3 {
            service.on(
                "GET /v1/query/\(place)", 200, #"{"state": "run", "next": "http://api.test/v1/query/\#(place + 1)"}"#)
        }
        service.on("GET /v1/query/4", 502)
        // An answer without it leaves the address as it was.
        service.on("GET /v1/query/4", 200, #"{"state": "run", "next": null}"#)
        service.on("GET /v1/query/4", 200, #"{"state": "run"}"#)
        service.on("GET /v1/query/4", 200, #"{"state": "done", "rows": 7}"#)
        let bench = try chain(service, submit: submit, poll: poll, stage: stage)
        for _ in 0..<3 { #expect(await bench.resume().isWaiting) }
        // It dies when the answer has come: the same is asked once more.
        bench.host.read { $0.crashPoint = .pollAnswered }
        _ = await bench.resume()
        bench.host.read { ($0.crashPoint, $0.journalFailure) = (nil, nil) }
        #expect(await bench.run().isFinished)
        #expect(
            service.lines == [
                "POST /v1/query", "GET /v1/query/1", "GET /v1/query/2", "GET /v1/query/3", "GET /v1/query/3",
            ] + Array(repeating: "GET /v1/query/4", count: 4))
        #expect(bench.captures["rows"] == 7)
    }

    @Test("a job that is begun anew is not asked for at the address of the one before")
    func addressOfTheJobBefore() async throws {
        let service = ScriptedService()
        service.on("POST /v1/query", 200, "{}")
        service.on("GET /v1/query/1", 200, #"{"state": "run", "next": "/query/2"}"#)
        service.on("GET /v1/query/2", 404)
        service.on("GET /v1/query/2", 200, #"{"state": "done"}"#)
        let bench = try chain(service, submit: "", poll: #""next": "$.next?""#)
        for _ in 0..<2 { #expect(await bench.resume().isWaiting) }
        bench.host.read { $0.now = $0.now + .seconds(60) }
        #expect(await bench.resume().tryFailure?.endsRemoteJob == true)
        // As the law forgets the job of such a step.
        bench.checkpoint = nil
        bench.host.read { state in
            state.record = state.record?.nextGeneration(
                of: SubmitName(jobKey: "key1", step: StepKey(stage: "query")))
            state.checkpoint = nil
        }
        #expect(await bench.run().isFinished)
        #expect(
            service.lines == [
                "POST /v1/query", "GET /v1/query/1", "GET /v1/query/2",
                "POST /v1/query", "GET /v1/query/1", "GET /v1/query/2",
            ])
    }

    @Test("what no request of the stage reads is taken from the last answer alone")
    func lastAnswerAlone() async throws {
        let service = ScriptedService()
        service.on("GET /v1/jobs/7", 200, #"{"state": "busy", "url": "http://early"}"#)
        service.on("GET /v1/jobs/7", 200, #"{"state": "done", "url": "http://late"}"#)
        let bench = try watch(service, states + #", "capture": { "url": "$.url" }"#)
        #expect(await bench.resume().isWaiting)
        #expect(bench.captures["url"] == nil)
        #expect(await bench.resume().isFinished)
        #expect(bench.captures["url"] == "http://late")
    }

    // MARK: Failed polls

    @Test(
        "a poll that fails is no failed job", arguments: [408, 425, 429, 500, 502, 503, 504, 599])
    func failedPoll(status: Int) async throws {
        let service = ScriptedService()
        for _ in 0..<20 { service.on("GET /v1/jobs/7", status, "<html>") }
        service.on("GET /v1/jobs/7", 200, #"{"state": "done"}"#)
        let bench = try watch(service, states, stage: #""retry": { "attempts": 2 },"#)
        #expect(await bench.run().isFinished)
        #expect(service.lines.count == 21)
    }

    // A poll that was answered with 400 for too many of them failed a stage whose job went on.
    @Test("a poll that fails with a status that retry.statuses names is no failed job", arguments: [400, 403, 423])
    func failedPollByName(status: Int) async throws {
        let service = ScriptedService()
        for _ in 0..<20 { service.on("GET /v1/jobs/7", status, "{}") }
        service.on("GET /v1/jobs/7", 200, #"{"state": "done"}"#)
        let bench = try watch(service, states, stage: "\"retry\": { \"attempts\": 2, \"statuses\": [\(status)] },")
        #expect(await bench.run().isFinished)
        #expect(service.lines.count == 21)
    }

    @Test("a poll without an answer is no failed job, and its delay grows")
    func noAnswer() async throws {
        let service = ScriptedService()
        service.on("GET /v1/jobs/7", fails: .connectionRefused, connectionMade: false)
        let bench = try watch(service, states)
        var waits: [Double] = []
        for _ in 0..<12 {
            #expect(await bench.resume().isWaiting)
            waits.append(bench.wait ?? 0)
        }
        #expect(waits[0] == 1)
        #expect(waits == waits.sorted())
        #expect(waits.last == 300)
        #expect(bench.reason?.kind == .poll)
        #expect(bench.reason?.detail?.contains("service 'api' gave no answer") == true)
    }

    @Test("a poll answered with 401, 403 or another 4xx fails the stage", arguments: [400, 401, 403, 422])
    func refusedPoll(status: Int) async throws {
        #expect(try await firstOutcome(states, status, "").definite?.contains("answered \(status)") == true)
    }

    // A retry after such a poll once began a second job beside the first, which went on unwatched.
    @Test(
        "an answer that does not say how the job stands leaves the job to be asked for again",
        arguments: [
            (401, "{}", ""), (403, "{}", ""), (451, "{}", ""),
            (200, #"{"state": "odd"}"#, #""unknownStatus": "fail""#),
            (200, #"{"state": "busy", "code": 9}"#, #""fail": [{ "when": "response.body.code == 9" }]"#),
            (401, #"{"code": 9}"#, #""until": "response.body.c != 1", "fail": [{ "when": "response.status == 401" }]"#),
        ])
    func refusedPollKeepsTheJob(status: Int, body: String, rules: String) async throws {
        let poll = rules.isEmpty ? states : "\(states), \(rules)"
        let failure = try #require(try await firstOutcome(poll, status, body).tryFailure)
        #expect(failure.kind == .definite && !failure.endsRemoteJob)
    }

    @Test("a poll that can't be sent leaves the job to be asked for again")
    func unsentPollKeepsTheJob() async throws {
        let service = ScriptedService()
        service.on("GET /v1/jobs/7", fails: .tokenRefused(status: 400), connectionMade: false)
        let failure = try #require(await (try watch(service, states)).resume().tryFailure)
        #expect(failure.kind == .definite && !failure.endsRemoteJob)
    }

    @Test("a poll whose token endpoint wants to be left alone is made when it may be asked again")
    func pollWithoutToken() async throws {
        let service = ScriptedService()
        service.on(
            "GET /v1/jobs/7", fails: .tokenUnavailable(status: 429, retryAfter: .seconds(7000)), connectionMade: false)
        let bench = try watch(service, states)
        #expect(await bench.resume().isWaiting)
        #expect((bench.wait ?? 0) >= 7000)
    }

    @Test(
        "a job that the service says has ended, or does not know, is begun anew by a retry",
        arguments: [
            (200, #"{"state": "error"}"#, ""), (200, #"{"state": "gone"}"#, ""), (404, "", #""settle": "0s""#),
            (200, #"{"state": "busy", "code": 9}"#, #""failWhen": "response.body.code == 9""#),
            (200, #"{"state": "done", "code": 9}"#, #""fail": [{ "when": "response.body.code == 9" }]"#),
        ])
    func endedJob(status: Int, body: String, rules: String) async throws {
        let poll = rules.isEmpty ? states : "\(states), \(rules)"
        let failure = try #require(try await firstOutcome(poll, status, body).tryFailure)
        #expect(failure.kind == .definite && failure.endsRemoteJob)
    }

    @Test("a poll that is stopped stops the stage")
    func stopped() async throws {
        let service = ScriptedService()
        service.on("GET /v1/jobs/7", fails: .cancelled)
        guard case .failure(.stopped) = await (try watch(service, states)).resume() else {
            Issue.record("not stopped")
            return
        }
    }

    // MARK: Pace

    @Test("when nothing is known the pace begins with 50 ms and grows up to a minute")
    func adaptivePace() async throws {
        let service = ScriptedService()
        service.on("GET /v1/jobs/7", 200, #"{"state": "busy"}"#)
        let bench = try watch(service, states)
        var waits: [Double] = []
        for _ in 0..<25 {
            await bench.resume()
            waits.append(bench.wait ?? 0)
        }
        #expect(abs(waits[0] - 0.1) < 0.005)
        #expect(abs(waits[1] - 0.2) < 0.005)
        #expect(abs(waits[2] - 0.28) < 0.005)
        #expect(waits.last == 60)
    }

    @Test("a fixed pace stays as it is, and one with first, factor and max grows between them")
    func fixedPace() async throws {
        let service = ScriptedService()
        service.on("GET /v1/jobs/7", 200, #"{"state": "busy"}"#)
        let fixed = try watch(service, states + #", "every": "5s""#)
        for _ in 0..<3 {
            await fixed.resume()
            #expect(fixed.wait == 5)
        }
        let growing = try watch(service, states + #", "first": "10s", "factor": 2, "max": "30s""#)
        var waits: [Double] = []
        for _ in 0..<3 {
            await growing.resume()
            waits.append(growing.wait ?? 0)
        }
        #expect(waits == [20, 30, 30])
    }

    @Test("Retry-After is a floor, in seconds and as a date counted from the answer's Date")
    func retryAfter() async throws {
        for value in ["90", "Fri, 15 Jan 2027 07:01:30 GMT"] {
            for status in [200, 503] {
                let service = ScriptedService()
                service.on(
                    "GET /v1/jobs/7", status, #"{"state": "busy"}"#,
                    headers: ["Retry-After": value, "Date": "Fri, 15 Jan 2027 07:00:00 GMT"])
                let bench = try watch(service, states)
                await bench.resume()
                let wait = try #require(bench.wait)
                #expect(wait >= 90 && wait < 92)
            }
        }
    }

    @Test("the service's own seconds left choose the next poll, within bounds")
    func remaining() async throws {
        let expectations: [(String, ClosedRange<Double>)] = [
            ("17", 8...24), ("\"17\"", 8...24), ("400", 200...420), ("0", 0.05...0.3), ("null", 0.09...0.11),
        ]
        for (left, expected) in expectations {
            let service = ScriptedService()
            service.on("GET /v1/jobs/7", 200, #"{"state": "busy", "eta": \#(left)}"#)
            let bench = try watch(service, states + #", "remaining": "$.eta?""#)
            await bench.resume()
            let wait = try #require(bench.wait)
            #expect(expected.contains((wait * 1000).rounded() / 1000), "for \(left)")
            guard case .waiting(_, _, let reason)? = try? await bench.resume().get() else { continue }
            let seconds = Double(left.filter(\.isNumber))
            let now = bench.host.now
            #expect(reason.foretold == seconds.map { ForetoldEnd(now + .seconds($0), said: now) }, "for \(left)")
            service.reset("GET /v1/jobs/7")
            service.on("GET /v1/jobs/7", 500, "")
            guard case .waiting(_, _, let failed)? = try? await bench.resume().get() else { continue }
            #expect(failed.foretold == reason.foretold, "a poll that failed took it back, for \(left)")
        }
    }

    @Test("a share counts from when the service took the job, not from when it was first asked")
    func shareSinceTheSubmit() async throws {
        let service = ScriptedService()
        service.on("POST /v1/jobs", 201, "{}")
        service.on("GET /v1/jobs/7", 200, #"{"state": "busy", "percent": 50}"#)
        let bench = try StageBench(
            """
            { "id": "model", "kind": "compute", "service": "api", "submit": { "POST": "/jobs" },
              "poll": { "GET": "/jobs/7", "progress": "$.percent", \(states) } }
            """, network: service.network)
        // The service was away for ten minutes.
        bench.host.read { $0.now = $0.now + .seconds(600) }
        for _ in 0..<2 { await bench.resume() }
        #expect(try #require(bench.wait) < 5)
    }

    @Test("seconds left in the submit's answer choose the first poll")
    func remainingAtTheSubmit() async throws {
        for (answer, expected) in [(#"{"eta": 9}"#, 4.0...13), ("{}", 0.05...0.05)] {
            let service = ScriptedService()
            service.on("POST /v1/jobs", 201, answer)
            let bench = try StageBench(
                """
                { "id": "model", "kind": "compute", "service": "api", "submit": { "POST": "/jobs" },
                  "poll": { "GET": "/jobs/7", "remaining": "$.eta", \(states) } }
                """, network: service.network)
            await bench.resume()
            let wait = try #require(bench.wait)
            #expect(expected.contains(wait))
        }
    }

    @Test("progress is reported as a share, from a percentage or from two numbers")
    func progressOfPolls() async throws {
        let service = ScriptedService()
        service.on("GET /v1/jobs/7", 200, #"{"state": "busy", "percent": "40%", "n": 3, "of": 4, "eta": 5}"#)
        for (selector, share) in [(#""$.percent""#, 0.4), (#"{ "done": "$.n", "total": "$.of" }"#, 0.75)] {
            let bench = try watch(service, states + #", "progress": \#(selector), "remaining": "$.eta""#)
            await bench.resume()
            let started = bench.host.started
            #expect(bench.host.read { $0.progress } == [.remote(share: share, secondsLeft: 5, since: started)])
        }
    }

    // MARK: Deadline

    @Test("a deadline ends the stage only after one more poll past it, and then the job is cancelled")
    func deadline() async throws {
        let service = ScriptedService()
        service.on("GET /v1/jobs/7", 200, #"{"state": "busy"}"#)
        service.on("DELETE /v1/jobs/7", 204)
        let bench = try watch(
            service, states + #", "every": "50s""#, stage: #""cancel": { "DELETE": "/jobs/7" },"#)
        bench.host.read { $0.deadline = $0.now + .seconds(60) }
        #expect(await bench.resume().isWaiting)
        #expect(await bench.resume().isWaiting)
        #expect(bench.wait == 10)
        #expect(await bench.resume().definite == "the stage did not end before its deadline, 1m after its start")
        #expect(service.lines.suffix(2) == ["GET /v1/jobs/7", "DELETE /v1/jobs/7"])
    }

    @Test("a poll past the deadline that finds the job done ends it well")
    func doneAtTheDeadline() async throws {
        let service = ScriptedService()
        service.on("GET /v1/jobs/7", 200, #"{"state": "done"}"#)
        let bench = try watch(service, states)
        bench.host.read { $0.deadline = $0.now - .seconds(1000) }
        #expect(await bench.resume().isFinished)
    }

    @Test("a poll past the deadline that gets no answer ends the stage")
    func lostAtTheDeadline() async throws {
        let service = ScriptedService()
        service.on("GET /v1/jobs/7", 503)
        let bench = try watch(service, states)
        bench.host.read { $0.deadline = $0.now - .seconds(1) }
        #expect(await bench.resume().definite?.contains("deadline") == true)
    }

    /// A poll without an answer lasted for five minutes, whatever the deadline, and was the last.
    @Test("a poll that the deadline cuts is made once more, with the time that an answer takes")
    func cutByTheDeadline() async throws {
        let host = Mutex<MemoryStageHost?>(nil)
        let limits = Mutex<[Duration?]>([])
        let transport = ScriptedTransport { request, options async throws(ExchangeFailure) in
            let count = limits.withLock { limits in
                limits.append(options.totalTimeout)
                return limits.count
            }
            if count > 1 {
                return HTTPExchangeResponse(status: 200, body: Array(#"{"state": "done"}"#.utf8), url: request.url)
            }
            if let host = host.withLock({ $0 }) { host.read { $0.now = $0.now + .seconds(20) } }
            throw ExchangeFailure(.timedOut(.total), message: "It took too long.", connectionMade: true)
        }
        let bench = try StageBench(
            #"{ "id": "model", "kind": "compute", "service": "api", "poll": { "GET": "/jobs/7", \#(states) } }"#,
            network: Network(transport: transport))
        host.withLock { $0 = bench.host }
        bench.host.read { $0.deadline = $0.now + .seconds(20) }
        #expect(await bench.resume().isWaiting)
        #expect(bench.wait == 0)
        #expect(await bench.resume().isFinished)
        #expect(limits.withLock { $0 } == [.seconds(20), .seconds(30)])
    }

    @Test("a compute stage has seven days and keeps its own deadline")
    func defaultDeadline() throws {
        let plan = try StageBench.plan(
            #"{ "id": "a", "kind": "compute", "service": "api", "submit": { "POST": "/jobs" } }"#,
            network: ScriptedService().network)
        #expect(plan.stages[0].deadline?.constant == .seconds(7 * 86_400))
        #expect(plan.stages[0].keepsOwnDeadline)
    }

    // MARK: The end

    @Test("captures of submit, poll and stage share one name space, and the later wins")
    func captures() async throws {
        let service = ScriptedService()
        service.on("POST /v1/jobs", 201, #"{"id": "7", "state": "queued"}"#)
        service.on("GET /v1/jobs/7", 200, #"{"id": "seven", "state": "done", "a": 1, "b": 2}"#)
        let bench = try StageBench(
            """
            { "id": "model", "kind": "compute", "service": "api",
              "submit": { "POST": "/jobs", "capture": { "id": "$.id" } },
              "poll": { "GET": "/jobs/${{ self.id }}", "status": "$.state", "succeeded": ["done"],
                        "capture": { "id": "$.id", "x": "$.a" } },
              "capture": { "x": "$.b" } }
            """, network: service.network)
        #expect(await bench.run().isFinished)
        #expect(bench.captures["id"] == "seven")
        #expect(bench.captures["x"] == 2)
    }

    @Test("a job that is done without what is captured fails with what was found instead")
    func missingCapture() async throws {
        let outcome = try await firstOutcome(
            states + #", "capture": { "url": "$.result.url" }"#, 200, #"{"state": "done"}"#)
        let failure = try #require(outcome.tryFailure)
        #expect(failure.kind == .definite)
        #expect(failure.failure.title.hasPrefix(#"the capture "url": $.result.url matches nothing"#))
        #expect(failure.failure.hint == #"write "$.result.url?" if it may be missing"#)
    }

    @Test("a terminal state in the submit's answer is the first poll")
    func terminalSubmit() async throws {
        let service = ScriptedService()
        service.on("POST /v1/jobs", 200, #"{"id": "7", "state": "done", "url": "u"}"#)
        let stage = """
            { "id": "model", "kind": "compute", "service": "api",
              "submit": { "POST": "/jobs", "capture": { "id": "$.id" } },
              "poll": { "GET": "/jobs/${{ self.id }}", "capture": { "url": "$.url" }, \(states) } }
            """
        let bench = try StageBench(stage, network: service.network)
        #expect(await bench.resume().isFinished)
        #expect(bench.captures["url"] == "u")
        #expect(service.lines == ["POST /v1/jobs"])

        let failing = ScriptedService()
        failing.on("POST /v1/jobs", 201, #"{"id": "7", "state": "error", "message": "bad"}"#)
        #expect(
            try await StageBench(stage, network: failing.network).resume().definite
                == "the job failed at service 'api': bad")

        let accepted = ScriptedService()
        accepted.on("POST /v1/jobs", 202, #"{"id": "7", "state": "done", "url": "u"}"#)
        #expect(try await StageBench(stage, network: accepted.network).resume().isWaiting)
    }

    @Test(
        "the submit's answer as the first poll is judged in a poll's order: what says failed comes before until",
        arguments: [
            #""failWhen": "response.body.error != null""#,
            #""fail": [ { "when": "response.body.error != null", "message": "the job failed at service 'api': bad" } ]"#,
        ])
    func failedSubmit(rule: String) async throws {
        func outcome(_ body: String) async throws -> (Result<StageOutcome<[UInt8]>, StageFailure>, [String]) {
            let service = ScriptedService()
            service.on("POST /v1/jobs", 200, body)
            let bench = try StageBench(
                """
                { "id": "model", "kind": "compute", "service": "api",
                  "submit": { "POST": "/jobs", "capture": { "name": "$.name" } },
                  "poll": { "GET": "/${{ self.name }}", "until": "response.body.done == true", \(rule),
                            "message": "$.error.message", "capture": { "url": "$.response.url?" } } }
                """, network: service.network)
            return (await bench.resume(), service.lines)
        }
        let failed = try await outcome(#"{"name": "o", "done": true, "error": {"code": 3, "message": "bad"}}"#)
        #expect(failed.0.definite == "the job failed at service 'api': bad")
        #expect(failed.1 == ["POST /v1/jobs"])
        #expect(try await outcome(#"{"name": "o", "done": true, "response": {"url": "u"}}"#).0.isFinished)
        #expect(try await outcome(#"{"name": "o"}"#).0.isWaiting)
    }

    // The 200 that only said that the job was taken once was its end, and its body the result.
    @Test(
        "a poll that knows the end by the status alone is asked for it, whatever the status of the submit's answer",
        arguments: [
            #""until": "response.status == 200""#, #""status": "status", "running": [202], "succeeded": [200]"#,
        ])
    func statusOfTheSubmit(end: String) async throws {
        let service = ScriptedService()
        service.on("POST /v1/jobs", 200, #"{"id": "7", "url": "no"}"#)
        service.on("GET /v1/jobs/7", 202, #"{"id": "7", "url": "no"}"#)
        service.on("GET /v1/jobs/7", 200, #"{"url": "u"}"#)
        let bench = try StageBench(
            """
            { "id": "model", "kind": "compute", "service": "api",
              "submit": { "POST": "/jobs", "capture": { "id": "$.id" } },
              "poll": { "GET": "/jobs/${{ self.id }}", "capture": { "url": "$.url" }, \(end) } }
            """, network: service.network)
        #expect(await bench.run().isFinished)
        #expect(bench.captures["url"] == "u")
        #expect(service.lines == ["POST /v1/jobs", "GET /v1/jobs/7", "GET /v1/jobs/7"])
    }

    @Test("a rule that the submit's answer has nothing for leaves the end to the poll")
    func unjudgedSubmit() async throws {
        let service = ScriptedService()
        service.on("POST /v1/jobs", 200, #"{"id": "7", "state": "done"}"#)
        let bench = try StageBench(
            """
            { "id": "model", "kind": "compute", "service": "api",
              "submit": { "POST": "/jobs", "capture": { "id": "$.id" } },
              "poll": { "GET": "/jobs/${{ self.id }}", "failWhen": "response.body.percent > 100", \(states) } }
            """, network: service.network)
        #expect(await bench.resume().isWaiting)
    }

    // MARK: Cancelling

    @Test("cancelling tells the service, and what is gone already is as good", arguments: [204, 404, 410, 409])
    func cancelling(status: Int) async throws {
        let service = ScriptedService()
        service.on("POST /v1/jobs", 201, #"{"id": "7"}"#)
        service.on("DELETE /v1/jobs/7", status)
        let bench = try StageBench(
            """
            { "id": "model", "kind": "compute", "service": "api",
              "submit": { "POST": "/jobs", "capture": { "id": "$.id" } },
              "poll": { "GET": "/jobs/${{ self.id }}", \(states) },
              "cancel": { "DELETE": "/jobs/${{ self.id }}" } }
            """, network: service.network)
        #expect(await bench.cancel() == nil)
        #expect(service.lines.isEmpty)
        await bench.resume()
        #expect(await bench.cancel() == nil)
        // The process may end after the ledger's commit and before the checkpoint's.
        bench.checkpoint = nil
        #expect(await bench.cancel() == nil)
        #expect(service.lines.filter { $0 == "DELETE /v1/jobs/7" }.count == 2)
    }

    @Test("a cancellation that the service refuses is told")
    func cancellationFails() async throws {
        let service = ScriptedService()
        service.on("DELETE /v1/jobs/7", 500)
        let bench = try watch(service, states, stage: #""cancel": { "DELETE": "/jobs/7" },"#)
        guard case .failed(let failed)? = await bench.cancel() else {
            Issue.record("no failure")
            return
        }
        #expect(failed.failure.title == "service 'api' answered 500 Internal Server Error")
    }

    /// It said nothing: who pays for the job believed it ended.
    @Test("a job that has no \"cancel\" goes on at its service, and that is told")
    func cannotCancel() async throws {
        let service = ScriptedService()
        service.on("POST /v1/jobs", 201, #"{"id": "7"}"#)
        let bench = try StageBench(
            """
            { "id": "model", "kind": "compute", "service": "api",
              "submit": { "POST": "/jobs", "capture": { "id": "$.id" } },
              "poll": { "GET": "/jobs/${{ self.id }}", \(states) } }
            """, network: service.network)
        #expect(await bench.cancel() == nil)
        await bench.resume()
        guard case .failed(let running)? = await bench.cancel() else {
            Issue.record("what goes on was not told")
            return
        }
        #expect(running.failure.title == "the stage has no \"cancel\", and the job goes on there")
        bench.host.read { $0.record?.phase = .unknown }
        guard case .failed(let unknown)? = await bench.cancel() else {
            Issue.record("what may be there was not told")
            return
        }
        #expect(unknown.failure.title == "it is not known whether the service took the submit")
    }
}
