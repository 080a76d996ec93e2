import Foundation
import JSONPath
import PipelineSQLite
import PipelineTestKit
import SelfieStudio
import Synchronization
import Testing

@Suite("A job has one owner, and other processes reach it")
struct OwnershipTests {
    @Test("while a process has a job, another is refused and told who has it")
    func refused() async throws {
        try await withWaitingJob { workplace, _, owner in
            let second = try await workplace.run("resume", "last")
            #expect(second.cause == .exited(75), "\(second)")
            #expect(second.errors.contains("the job is running in another process (\(owner.processID)-"))
            #expect(second.errors.contains("'pipeline watch' shows it, 'pipeline cancel' or 'pipeline pause' reach it"))
            let shown = try await workplace.show()
            #expect(shown["state"] != "suspended")
            let (half, most) = (shown["estimate"]?["p50"]?.number?.double, shown["estimate"]?["p90"]?.number?.double)
            #expect(try #require(half) > 0 && #require(half) <= #require(most))
            owner.signal(SIGINT)
            #expect(await owner.end.cause == .exited(75))
        }
    }

    @Test("a process that is stopped keeps its job while its lease lasts, and goes on when it is continued")
    func stopped() async throws {
        try await withWaitingJob(seconds: 1) { workplace, service, owner in
            try await workplace.stop(owner)
            let second = try await workplace.run("resume", "last", environment: service.environment)
            owner.signal(SIGCONT)
            #expect(second.cause == .exited(75), "\(second)")
            try await workplace.checkMesh(await owner.end)
            #expect(service.counters.modelsSubmitted == 1)
        }
    }

    @Test("of two processes that take up a killed job at once, one gets it")
    func race() async throws {
        try await withWorkplace { workplace in
            try await withService(in: workplace, { $0.minimumSeconds = 1 }) { service in
                let killed = try await workplace.runSelfie(
                    service, environment: ["PIPELINE_CRASH_AT": "submit.committed"])
                #expect(killed.cause == .killed(9), "\(killed)")
                let both = try (1...2).map { _ in
                    try workplace.start("resume", "last", environment: service.environment)
                }
                let ends = [await both[0].end, await both[1].end].sorted { $0.output > $1.output }
                try await workplace.checkMesh(ends[0])
                #expect(ends[1].cause == .exited(75), "\(ends[1])")
                #expect(service.counters.modelsSubmitted == 1)
                try await workplace.checkEvents()
            }
        }
    }

    /// What another process would find is another journal, or none: a submit that only this one knows is sent twice.
    @Test("a state folder that is moved away stops its owner before anything more is sent; put back, the job goes on")
    func moved() async throws {
        try await withWorkplace { workplace in
            let gate = Gate()
            let service = try LoopbackServer { request in
                switch (request.method, request.path) {
                case ("PUT", _): ScriptedAnswer([.wait(gate), .send(200, [], [])])
                case ("POST", _): .json(#"{"id": "m"}"#)
                default: .json(#"{"state": "done"}"#)
                }
            }
            defer { service.stop() }
            try workplace.write("film", "film")
            let file = try workplace.write(
                "moved.json",
                """
                { "pipeline": 1, "name": "moved", "services": { "api": { "url": "\(service.url)" } },
                  "stages": [
                    { "id": "film", "kind": "upload", "protocol": "put", "service": "api", "file": "film", "request": { "PUT": "/film" } },
                    { "id": "model", "kind": "compute", "service": "api", "submit": { "POST": "/models" },
                      "poll": { "GET": "/models/1", "status": "$.state", "succeeded": ["done"] } } ] }
                """)
            let owner = try workplace.start("run", file)
            _ = await service.requests(atLeast: 1)
            let aside = workplace.path("aside")
            try FileManager.default.moveItem(atPath: workplace.state, toPath: aside)
            gate.open()
            let end = await owner.end
            #expect(end.cause == .exited(75), "\(end)")
            #expect(end.errors.contains("journal.sqlite was moved or removed while it was in use"), "\(end)")
            #expect(!service.requests.contains { $0.method == "POST" })
            try? FileManager.default.removeItem(atPath: workplace.state)
            try FileManager.default.moveItem(atPath: aside, toPath: workplace.state)
            let resumed = try await workplace.run("resume", "last")
            #expect(resumed.cause == .exited(0), "\(resumed)")
            #expect(service.requests.count(where: { $0.method == "POST" }) == 1)
        }
    }

    @Test("cancel from another process reaches the owner at once, and the service is told")
    func cancelled() async throws {
        try await withWaitingJob { workplace, service, owner in
            // The next poll, which would find it too, is an hour away.
            let cancel = try await workplace.run("cancel", "last", environment: service.environment)
            let end = await owner.end
            #expect(cancel.cause == .exited(0), "\(cancel)")
            #expect(end.cause == .exited(1), "\(end)")
            try await expectCancelled(workplace, service)
        }
    }

    @Test("pause from another process lets the job go, and resume takes it up")
    func paused() async throws {
        try await withWaitingJob(seconds: 0.5) { workplace, service, owner in
            let pause = try await workplace.run("pause", "last", environment: service.environment)
            #expect(pause.cause == .exited(0), "\(pause)")
            #expect(await owner.end.cause == .exited(75))
            #expect(try await workplace.show()["cause"] == "paused")
            try await workplace.checkMesh(try await workplace.run("resume", environment: service.environment))
        }
    }

    @Test(
        "cancel of a killed job tells the service too, also when the answer to the submit was lost",
        arguments: ["submit.sending", "submit.sent", "submit.answered", "submit.committed", "poll.answered"])
    func cancelledAfterKill(_ point: String) async throws {
        try await withWorkplace { workplace in
            try await withService(in: workplace, { $0.minimumSeconds = 60 }) { service in
                let killed = try await workplace.runSelfie(service, environment: ["PIPELINE_CRASH_AT": point])
                #expect(killed.cause == .killed(SIGKILL), "\(killed)")
                #expect(try await workplace.show()["cause"] == "crashed")
                let cancel = try await workplace.run("cancel", "last", environment: service.environment)
                #expect(cancel.cause == .exited(0), "\(cancel)")
                #expect(!cancel.errors.contains("warning"), "\(cancel)")
                #expect(service.counters.modelsSubmitted == 1)
                try await expectCancelled(workplace, service)
            }
        }
    }

    @Test("cancel of a job whose submit nobody can settle warns of what may go on at the service")
    func cancelledUnknown() async throws {
        try await withWorkplace { workplace in
            try await withService(in: workplace, { $0.lostAnswers = 1 }) { service in
                let lost = try await workplace.runSelfie(service, document: Documents.selfieWithoutOnce())
                #expect(lost.cause == .exited(3), "\(lost)")
                let cancel = try await workplace.run("cancel", "last", environment: service.environment)
                #expect(cancel.cause == .exited(0), "\(cancel)")
                #expect(cancel.errors.contains("it is not known whether the service took the submit"), "\(cancel)")
                #expect(try await workplace.show()["state"] == "cancelled")
                #expect(service.counters.modelRequests == 1)
            }
        }
    }

    /// Its parts were sent to the upload that was gone, each four times, until that was seen.
    @Test("an upload that a cancel removed at its service begins as a new one")
    func cancelledUpload() async throws {
        try await withWorkplace { workplace in
            let state = Mutex<(paths: [String], uploads: Int)>(([], 0))
            let server = try LoopbackServer { request in
                let (uploads, isHeld) = state.withLock { state -> (Int, Bool) in
                    state.paths.append("\(request.method) \(request.path)")
                    if request.path == "/new" { state.uploads += 1 }
                    return (state.uploads, state.uploads == 1 && request.path == "/u1/2")
                }
                if isHeld { return .silence }
                if request.path == "/new" { return .json(#"{"id": "u\#(uploads)"}"#) }
                if request.method == "DELETE" { return .status(204) }
                return request.path.hasPrefix("/u\(uploads)/") ? .json(#"{"tag": "t"}"#) : .status(503)
            }
            defer { server.stop() }
            try workplace.write("film.mov", String(repeating: "x", count: 2500))
            try workplace.write(
                "parts.json",
                """
                { "pipeline": 1, "name": "parts", "services": { "api": { "url": "\(server.url)" } },
                  "stages": [ { "id": "move", "kind": "upload", "service": "api", "file": "film.mov", "protocol": "parts",
                    "partSize": "1KB", "parallel": 1, "request": { "POST": "/new", "capture": { "id": "$.id" } },
                    "part": { "PUT": "/${{ self.id }}/${{ part.number }}", "part": true, "capture": { "tag": "$.tag" } },
                    "complete": { "POST": "/${{ self.id }}/end" }, "cancel": { "DELETE": "/${{ self.id }}" } } ] }
                """)
            let run = try workplace.program.start(
                ["run", "parts.json"], environment: workplace.environment([:]), folder: workplace.folder)
            _ = await server.requests(atLeast: 3)
            let cancel = try await workplace.run("cancel", "last")
            #expect(cancel.cause == .exited(0), "\(cancel)")
            #expect(await run.end.cause == .exited(1), "\(run.text)")
            let first = state.withLock { state in
                defer { state.paths = [] }
                return state.paths
            }
            #expect(first == ["POST /new", "PUT /u1/1", "PUT /u1/2", "DELETE /u1"])
            let retry = try await workplace.program.run(
                ["retry", "last"], environment: workplace.environment([:]), folder: workplace.folder)
            #expect(retry.cause == .exited(0), "\(retry)")
            let second = state.withLock(\.paths)
            #expect(second == ["POST /new", "PUT /u2/1", "PUT /u2/2", "PUT /u2/3", "POST /u2/end"])
        }
    }

    @Test("cancel of a job that has sent no submit sends none")
    func cancelledEarly() async throws {
        try await withWorkplace { workplace in
            try await withService(in: workplace) { service in
                let killed = try await workplace.runSelfie(service, environment: ["PIPELINE_CRASH_AT": "submit.intent"])
                #expect(killed.cause == .killed(SIGKILL), "\(killed)")
                let cancel = try await workplace.run("cancel", "last", environment: service.environment)
                #expect(cancel.cause == .exited(0), "\(cancel)")
                #expect(service.counters.modelRequests == 0)
            }
        }
    }

    @Test("a signal suspends, and the line that goes on is printed")
    func signals() async throws {
        // The last is what a terminal sends that is closed.
        for number in [SIGINT, SIGTERM, SIGHUP] {
            try await withWaitingJob(seconds: 0.5) { workplace, service, owner in
                owner.signal(number)
                let end = await owner.end
                let job = try #require(try await workplace.show()["job"]?.string)
                #expect(end.cause == .exited(75), "\(end)")
                #expect(end.output.isEmpty)
                #expect(end.errors.contains("suspended (interrupted); go on with: pipeline resume \(job)\n"))
                #expect(try await workplace.show()["cause"] == "interrupted")
                try await workplace.checkMesh(try await workplace.run("resume", environment: service.environment))
            }
        }
    }

    /// SIGPIPE ended it in the middle of its submits.
    @Test("a reader of its events that leaves suspends it")
    func readerLeaves() async throws {
        try await withWorkplace { workplace in
            try workplace.write(
                "steps.json",
                """
                { "pipeline": 1, "name": "steps", "stages": [
                  { "id": "one", "kind": "wait", "for": "50ms", "forEach": "\(Array(1...400))", "concurrency": 1 } ] }
                """)
            let command = #"{ "$0" run steps.json --json; echo $? >status; } | head -n 1"#
            let end = try await BuiltProgram(path: "/bin/sh").run(
                ["-c", command, workplace.program.path], environment: workplace.environment([:]),
                folder: workplace.folder)
            let job = try #require(try await workplace.show()["job"]?.string)
            #expect(end.errors.contains("suspended (interrupted); go on with: pipeline resume \(job)\n"), "\(end)")
            #expect(try String(contentsOfFile: workplace.path("status"), encoding: .utf8) == "75\n", "\(end)")
            #expect(try await workplace.show()["cause"] == "interrupted")
        }
    }

    /// That counted as the first wish, so that one Ctrl-C cut off what was waited for.
    @Test("one signal after its reader has left is no second wish")
    func signalAfterReader() async throws {
        let asked = Gate()
        let server = try LoopbackServer { _ in
            asked.open()
            return ScriptedAnswer([.stall])
        }
        defer { server.stop() }
        try await withWorkplace { workplace in
            try workplace.write(
                "order.json",
                """
                { "pipeline": 1, "name": "order", "services": { "api": { "url": "\(server.url)" } }, "stages": [
                  { "id": "one", "kind": "wait", "for": "50ms", "forEach": "\(Array(1...400))", "concurrency": 1 },
                  { "id": "order", "kind": "request", "service": "api", "needs": [],
                    "request": { "POST": "/orders" } } ] }
                """)
            try #require(mkfifo(workplace.path("events"), 0o600) == 0)
            let reader = open(workplace.path("events"), O_RDONLY | O_NONBLOCK)
            let program = try BuiltProgram(path: "/bin/sh").start(
                ["-c", #"exec "$0" run order.json --json >events"#, workplace.program.path],
                environment: workplace.environment([:]), folder: workplace.folder)
            await asked.wait()
            close(reader)
            #expect(await program.hasWritten("stopping; a service's response is waited for"))
            program.signal(SIGINT)
            let end = await program.end
            #expect(end.cause != .exited(130) && !end.errors.contains("left at once"), "\(end)")
        }
    }

    /// It was once ended by the signal itself, with 130 or 143 and no word.
    @Test("a signal to a run that has joined the job of another says that it goes on, and ends with 75")
    func signalToJoined() async throws {
        try await withWorkplace { workplace in
            let file = try workplace.write(
                "wait.json",
                #"{ "pipeline": 1, "name": "w", "stages": [ { "id": "long", "kind": "wait", "for": "60s" } ] }"#)
            let owner = try workplace.start("run", file, "--key", "a")
            #expect(await owner.hasWritten("long: goes on in"))
            let job = try #require(try await workplace.show()["job"]?.string)
            for number in [SIGINT, SIGTERM, SIGHUP] {
                let joined = try workplace.start("run", file, "--key", "a")
                #expect(await joined.hasWritten("long: goes on in"))
                joined.signal(number)
                let end = await joined.end
                #expect(end.cause == .exited(75) && end.output.isEmpty, "\(end)")
                #expect(end.errors.contains("\(job) goes on in another process; 'pipeline watch \(job)' shows it"))
            }
            #expect(try await workplace.show()["state"] == "waiting")
            owner.signal(SIGINT)
            #expect(await owner.end.cause == .exited(75))
        }
    }

    @Test("two signals quit at once with 130, and nothing is lost")
    func twoSignals() async throws {
        try await withWaitingJob(seconds: 0.5) { workplace, service, owner in
            // While another has the database, the suspension that the first asks for can't be committed.
            let journal = try SQLiteConnection(workplace.state + "/journal.sqlite", busyTimeout: .seconds(10))
            try journal.execute("BEGIN IMMEDIATE")
            owner.signal(SIGINT)
            // What comes at once with the first is taken for the same wish.
            #expect(await owner.hasWritten("stopping; a service's response is waited for"))
            owner.signal(SIGTERM)
            let end = await owner.end
            journal.rollBack()
            #expect(
                end.cause == .exited(130) && end.errors.contains("left at once; go on with: pipeline resume"), "\(end)")
            try await workplace.checkMesh(try await workplace.run("resume", environment: service.environment))
            #expect(service.counters.modelsSubmitted == 1)
        }
    }

    private func expectCancelled(_ workplace: Workplace, _ service: Service) async throws {
        let shown = try await workplace.show()
        #expect(shown["state"] == "cancelled")
        let model = try #require(service.models.first)
        #expect(model["state"] == "error")
        #expect(model["message"] == "cancelled by request")
        let resumed = try await workplace.run("resume", "last", environment: service.environment)
        #expect(resumed.cause == .exited(1), "\(resumed)")
        try await workplace.checkEvents()
    }

    /// A selfie job whose model is being computed for that long, and which waits for it.
    private func withWaitingJob(
        seconds: Double = 60, _ body: (Workplace, Service, RunningProgram) async throws -> Void
    ) async throws {
        try await withWorkplace { workplace in
            try await withService(in: workplace, { $0.minimumSeconds = seconds }) { service in
                let document = seconds > 10 ? try Documents.selfieAskingRarely() : nil
                let owner = try workplace.startSelfie(service, document: document)
                #expect(await owner.hasWritten("model: started"))
                // The first question after the submit: its answer is committed by then.
                await service.counts(unless: owner) { $0.modelsSubmitted > 0 }
                let requests = service.counters.requests
                await service.counts(unless: owner) { $0.requests > requests }
                try await body(workplace, service, owner)
                owner.signal(SIGKILL)
            }
        }
    }
}
