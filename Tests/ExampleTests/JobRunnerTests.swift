import Foundation
import JSONPath
import PipelineCore
import PipelineKit
import PipelineTestKit
import Testing

/// The engine inside a program of somebody else, over a journal of theirs.
@Suite("A runner of jobs", .timeLimit(.minutes(2))) struct JobRunnerTests {
    private struct Bench {
        let folder = TemporaryFolder()
        let journal = MemoryJournal()
        let events: AsyncStream<JobEvent>
        let runner: JobRunner

        init(owner: String = "one") throws {
            let (events, continuation) = AsyncStream<JobEvent>.makeStream()
            self.events = events
            runner = try JobRunner(
                journal: journal, owner: OwnerID(owner), stateFolder: folder.path + "/state",
                observe: { continuation.yield($0) })
        }

        /// A pipeline file that waits for so long, and then writes what its input says.
        func file(waiting: String, input: String = #""type": "string""#) throws -> String {
            let path = folder.path + "/note.json"
            try """
            { "pipeline": 1, "name": "note", "inputs": { "text": { \(input) } }, "stages": [
                { "id": "pause", "kind": "wait", "for": "\(waiting)" },
                { "id": "keep", "kind": "write", "needs": ["pause"], "to": "note.txt",
                  "text": "${{ inputs.text }}" } ] }
            """.write(toFile: path, atomically: true, encoding: .utf8)
            return path
        }

        /// The first event of the kind.
        func first(_ kind: JobEvent.Kind) async throws -> JobEvent {
            for await event in events where event.kind == kind { return event }
            throw CancellationError()
        }
    }

    @Test("suspends a job whose task is cancelled, and goes on with it")
    func suspends() async throws {
        let bench = try Bench()
        defer { bench.folder.remove() }
        let file = try bench.file(waiting: "1s")
        let running = Task { try await bench.runner.run(file, inputs: ["text": "hello"], output: bench.folder.path) }
        _ = try await bench.first(.stageWaiting)
        running.cancel()
        let suspended = try await running.value
        #expect(suspended.phase == .suspended && suspended.cause == .interrupted && suspended.files.isEmpty)
        let ended = try await bench.runner.resume(suspended.job)
        #expect(ended.phase == .succeeded && ended.cause == nil && ended.failure == nil)
        #expect(ended.files.map(\.path) == [bench.folder.path + "/note.txt"])
        #expect(try await bench.runner.resume(suspended.job).phase == .succeeded, "it has ended")
        try await bench.runner.remove(suspended.job)
        await #expect(throws: JournalFailure.noSuchJob(suspended.job)) {
            _ = try await bench.runner.resume(suspended.job)
        }
    }

    /// It went on with null.
    @Test("holds a job whose secret input is nowhere, goes on with a default that held, and with what is given")
    func secretInputs() async throws {
        for (input, inputs, given) in [
            (#""type": "string", "secret": true"#, ["text": "hello"], ["text": "hello"]),
            (#""type": "string", "secret": true, "default": "hello""#, [:], [:]),
        ] as [(String, JSONObject, JSONObject)] {
            let bench = try Bench()
            defer { bench.folder.remove() }
            let file = try bench.file(waiting: "1s", input: input)
            let running = Task { try await bench.runner.run(file, inputs: inputs, output: bench.folder.path) }
            _ = try await bench.first(.stageWaiting)
            running.cancel()
            let job = try await running.value.job
            if !given.isEmpty { #expect(try await bench.runner.resume(job).cause == .secret) }
            let ended = try await bench.runner.resume(job, secretInputs: given)
            #expect(ended.phase == .succeeded, "\(ended)")
            #expect(TemporaryFolder.text(of: bench.folder.path + "/note.txt") == "hello")
        }
    }

    @Test("hears what others ask of its jobs in the journal")
    func hears() async throws {
        let bench = try Bench()
        defer { bench.folder.remove() }
        let file = try bench.file(waiting: "1h")
        let running = Task { try await bench.runner.run(file, inputs: ["text": "hello"], key: "night") }
        let waiting = try await bench.first(.stageWaiting)
        await #expect(throws: JournalFailure.owned(by: OwnerID("one"))) {
            _ = try await bench.runner.resume(waiting.job)
        }
        await #expect(throws: JournalFailure.keyTaken(waiting.job)) {
            _ = try await bench.runner.run(file, inputs: ["text": "hello"], key: "night")
        }
        #expect(try await bench.journal.post(.cancel, to: waiting.job))
        #expect(try await running.value.phase == .cancelled)
    }

    @Test("lets a stage that runs again for fresh captures replace its file, unless somebody has changed that")
    func renewsFile() async throws {
        for isChanged in [false, true] {
            let bench = try Bench()
            defer { bench.folder.remove() }
            let folder = bench.folder
            let server = try LoopbackServer { request in
                switch request.target {
                case "/links?n=1":
                    let number = folder.read("links.json") == nil ? 1 : 2
                    return .json(#"{ "url": "/file?n=\#(number)" }"#)
                case "/file?n=1":
                    if isChanged { try? folder.write("links.json", "mine") }
                    return .status(403)
                default: return .status(200, body: "data")
                }
            }
            defer { server.stop() }
            try folder.write(
                "renew.json",
                """
                { "pipeline": 1, "name": "renew", "services": { "s": { "url": "\(server.url)" } }, "stages": [
                  { "id": "links", "kind": "request", "service": "s", "request": { "GET": "/links?n=1" },
                    "to": "links.json", "capture": { "url": "$.url" } },
                  { "id": "get", "kind": "download", "service": "s", "renew": "links",
                    "request": { "GET": "${{ stages.links.url }}" }, "to": "file" } ] }
                """)
            let end = try await bench.runner.run(folder.file("renew.json"), output: folder.path)
            #expect(end.phase == (isChanged ? .failed : .succeeded), "\(String(describing: end.failure))")
            #expect(folder.read("links.json") == (isChanged ? "mine" : #"{ "url": "/file?n=2" }"#))
        }
    }

    @Test("refuses what is wrong before anything is kept")
    func refuses() async throws {
        let bench = try Bench()
        defer { bench.folder.remove() }
        let file = try bench.file(waiting: "1s")
        await #expect(throws: StepFailure.self) { _ = try await bench.runner.run(file) }
        await #expect(throws: StepFailure.self) { _ = try await bench.runner.run(file, inputs: ["tex": "a"]) }
        await #expect(throws: StepFailure.self) {
            _ = try await bench.runner.run(file, inputs: ["text": "a"], key: "?")
        }
        await #expect(throws: StepFailure.self) { _ = try await bench.runner.run(bench.folder.path + "/none.json") }
        #expect(try await bench.journal.jobs(JobQuery()).isEmpty)
    }
}
