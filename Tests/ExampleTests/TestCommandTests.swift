import Foundation
import JSONPath
import PipelineTestKit
import Synchronization
import Testing

/// `pipeline test` as people use it: recorded once against a real server, then replayed without one.
@Suite("Tests of documents") struct TestCommandTests {
    private static let folder = ExampleTests.root.appendingPathComponent("Fixtures/Exchanges")

    /// Examples whose services answer soon enough to be recorded in real time.
    static let names = [
        "anthropic-batch", "assemblyai", "gradio-space", "google-operation", "http-async", "meshy", "replicate~one",
    ]

    private func run(
        _ folder: URL, _ arguments: [String], _ fixture: ExchangeFixture? = nil
    ) async throws -> ProgramEnd {
        var environment = BuiltProgram.environment(home: folder.path)
        environment.merge(fixture?.environment ?? [:]) { $1 }
        for (name, value) in fixture?.secrets ?? [:] { environment["PIPELINE_SECRET_" + name] = value }
        return try await BuiltProgram(named: "pipeline").run(
            ["test"] + arguments, environment: environment, folder: folder.path)
    }

    private func inFolder(_ body: (URL) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("test-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await body(folder)
    }

    private func write(_ text: String, _ name: String, in folder: URL) throws {
        try text.write(to: folder.appendingPathComponent(name), atomically: true, encoding: .utf8)
    }

    private func read(_ name: String, in folder: URL) throws -> String {
        try String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)
    }

    @Test("an example that was recorded is replayed without its service, and killed anywhere", arguments: names)
    func example(name: String) async throws {
        try await inFolder { folder in
            let service = try FixtureService()
            let fixture = try ExchangeFixture(name: name, server: service.url, in: Self.folder)
            service.play(fixture)
            for (file, content) in fixture.files { try write(content, file, in: folder) }
            let document = (name.split(separator: "~").first.map(String.init) ?? name) + ".json"
            let source = ExampleTests.root.appendingPathComponent("Pipelines/\(document)")
            try FileManager.default.copyItem(at: source, to: folder.appendingPathComponent(document))
            try write(JSON.object(fixture.inputs).text, "inputs.json", in: folder)
            let recorded = try await run(
                folder, [document, "--record", "exchanges", "--inputs", "inputs.json"], fixture)
            service.stop()
            #expect(recorded.cause == .exited(0), "\(recorded)")
            // What stands in the recording is enough: neither inputs nor secrets are given.
            let replayed = try await run(folder, [document, "--crash"])
            #expect(replayed.cause == .exited(0), "\(replayed)")
            #expect(replayed.output.hasPrefix("TAP version 14\nok 1 - "))
            #expect(replayed.output.contains("killed at poll.answered:1 and resumed"))
            let archive = folder.appendingPathComponent("exchanges/\(document.dropLast(5)).har")
            let text = try String(contentsOf: archive, encoding: .utf8)
            for secret in fixture.secrets.values { #expect(!text.contains(secret)) }
        }
    }

    private static let document = """
        { "pipeline": 1, "name": "job", "inputs": { "quality": { "type": "string", "default": "full" } },
          "services": { "s": { "url": "SERVER" } },
          "stages": [
            { "id": "model", "kind": "compute", "service": "s",
              "submit": { "POST": "/jobs", "json": { "quality": "${{ inputs.quality }}", "tag": "${{ uuid() }}" },
                          "capture": { "id": "$.id" } },
              "poll": { "GET": "/jobs/${{ self.id }}", "status": "$.state", "succeeded": ["done"],
                        "capture": { "text": "$.text" } } },
            { "id": "result", "kind": "write", "to": "result.txt", "text": "${{ stages.model.text }}" } ] }
        """

    @Test("what would be sent otherwise is told as a difference, what is missing and what is new too")
    func differences() async throws {
        try await inFolder { folder in
            let server = try LoopbackServer { request in
                request.method == "POST"
                    ? .json(#"{"id": "7"}"#, status: 201) : .json(#"{"state": "done", "text": "made"}"#)
            }
            let document = Self.document.replacing("SERVER", with: server.url)
            try write(document, "job.json", in: folder)
            let recorded = try await run(folder, ["job.json", "--record", "exchanges"])
            server.stop()
            #expect(recorded.cause == .exited(0), "\(recorded)")
            let same = try await run(folder, ["job.json", "--crash"])
            #expect(same.cause == .exited(0), "\(same)")
            // A recording is paid like any run: its results were removed with a temporary folder.
            #expect(recorded.output == folder.path + "/result.txt\n", "\(recorded)")
            #expect(try read("result.txt", in: folder) == "made")
            #expect(same.output.contains("at submit.sent:1 and resumed: the submit is unknown, and is not sent again"))
            let other = try await run(folder, ["job.json", "-i", "quality=draft"])
            #expect(other.cause == .exited(1))
            #expect(other.output.contains("not ok 1 - job: model: POST \(server.url)/jobs\n# - recorded\n# + sent\n"))
            #expect(other.output.contains("# -   \"quality\": \"full\",\n# +   \"quality\": \"draft\",\n"))
            #expect(other.output.contains("ok 2 - job: model: GET \(server.url)/jobs/7\n"))
            try write(document.replacing("\"GET\": \"/jobs/", with: "\"GET\": \"/models/"), "job.json", in: folder)
            let moved = try await run(folder, ["job.json"])
            #expect(moved.cause == .exited(1))
            #expect(moved.output.contains("GET \(server.url)/models/7\n# nothing was recorded for it"))
            #expect(moved.output.contains("model: GET \(server.url)/jobs/7\n# it was recorded, and was not sent"))
            #expect(moved.output.contains("the job ends as recorded, succeeded\n# it ended failed"))
        }
    }

    // A submit that was sent again got the answer of another operation that was left of the same URL.
    @Test("a service with one URL for everything answers a killed run as it did before")
    func oneURL() async throws {
        try await inFolder { folder in
            let polls = Mutex(0)
            let server = try LoopbackServer { request in
                switch request.header("x-target") {
                case "Start": .json(#"{"id": "7"}"#)
                case "Get":
                    .json(
                        polls.withLock { count in
                            count += 1
                            return count < 3 ? #"{"state": "RUNNING"}"# : #"{"state": "DONE"}"#
                        })
                default: .json(#"{"rows": "a,b"}"#)
                }
            }
            let document = """
                { "pipeline": 1, "name": "one", "services": { "s": { "url": "\(server.url)" } },
                  "stages": [
                    { "id": "query", "kind": "compute", "service": "s",
                      "submit": { "POST": "/", "headers": { "X-Target": "Start" }, "json": { "token": "${{ self.key }}" },
                                  "capture": { "id": "$.id" }, "once": { "key": true } },
                      "poll": { "POST": "/", "headers": { "X-Target": "Get" }, "json": { "id": "${{ self.id }}" },
                                "status": "$.state", "succeeded": ["DONE"], "first": "1ms", "every": "1ms" } },
                    { "id": "rows", "kind": "request", "service": "s",
                      "request": { "POST": "/", "headers": { "X-Target": "Rows" },
                                   "json": { "id": "${{ stages.query.id }}" }, "once": { "resend": true } },
                      "capture": { "text": "$.rows" } },
                    { "id": "result", "kind": "write", "to": "rows.csv", "text": "${{ stages.rows.text }}" } ] }
                """
            try write(document, "one.json", in: folder)
            let recorded = try await run(folder, ["one.json", "--record", "exchanges", "--output", "out"])
            server.stop()
            #expect(recorded.cause == .exited(0), "\(recorded)")
            #expect(try read("out/rows.csv", in: folder) == "a,b")
            let killed = try await run(folder, ["one.json", "--crash"])
            #expect(killed.cause == .exited(0), "\(killed)")
            #expect(killed.output.contains("killed at submit.sent:1 and resumed"))
        }
    }

    @Test("a callback that stands in the recording is delivered when the job waits for it")
    func callback() async throws {
        try await inFolder { folder in
            try write(
                """
                { "pipeline": 1, "name": "heard", "services": { "s": { "url": "http://s.test" } },
                  "stages": [
                    { "id": "words", "kind": "compute", "service": "s",
                      "submit": { "POST": "/listen", "json": { "to": "${{ self.callbackURL }}" },
                                  "capture": { "id": "$.id" } },
                      "callback": { "verify": { "token": "${{ secrets.HOOK }}" }, "capture": { "text": "$.text" } } },
                    { "id": "result", "kind": "write", "to": "words.txt", "text": "${{ stages.words.text }}" } ] }
                """, "heard.json", in: folder)
            try FileManager.default.createDirectory(
                at: folder.appendingPathComponent("exchanges"), withIntermediateDirectories: true)
            try write(
                #"""
                { "log": { "version": "1.2", "entries": [
                  { "request": { "method": "POST", "url": "http://s.test/listen", "bodySize": 37,
                                 "headers": [{ "name": "Content-Type", "value": "application/json" }],
                                 "postData": { "text": "{\"to\":\"https://callback.test/words\"}" } },
                    "response": { "status": 200, "headers": [], "content": { "text": "{\"id\": 1}" } } },
                  { "_callback": "words",
                    "request": { "method": "POST", "url": "https://callback.test/", "headers": [],
                                 "postData": { "text": "{\"text\": \"hello\"}" } } } ],
                  "_pipeline": { "files": {
                    "words.txt": "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824" } } } }
                """#, "exchanges/heard~once.har", in: folder)
            let end = try await run(folder, ["heard.json"])
            #expect(end.cause == .exited(0), "\(end)")
            #expect(end.output.hasSuffix("ok 3 - heard~once: it writes what was recorded\n1..3\n"))
        }
    }

    // Virtual time jumped to the stage's deadline before the program had answered.
    @Test("time stands still while a program of a plugin works")
    func plugin() async throws {
        try await inFolder { folder in
            try write(
                """
                #!/bin/sh
                read -r message
                case "$message" in
                *'"describe"'*) echo '{"type":"description","protocol":1,"kind":"say","captures":["text"]}' ;;
                *) echo '{"type":"finished","captures":{"text":"said"}}' ;;
                esac

                """, "pipeline-stage-say", in: folder)
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o755], ofItemAtPath: folder.appendingPathComponent("pipeline-stage-say").path)
            try write(
                """
                { "pipeline": 1, "name": "said", "stages": [
                    { "id": "say", "kind": "say" },
                    { "id": "result", "kind": "write", "to": "said.txt", "text": "${{ stages.say.text }}" } ] }
                """, "said.json", in: folder)
            for options in [["--record", "exchanges"], [], ["--crash"]] {
                let end = try await run(folder, ["said.json", "--plugins", folder.path] + options)
                #expect(end.cause == .exited(0), "\(end)")
            }
        }
    }

    @Test("a recording that is none, and a folder without one, say how to make one")
    func mistakes() async throws {
        try await inFolder { folder in
            try write(Self.document, "job.json", in: folder)
            let none = try await run(folder, ["job.json"])
            #expect(none.cause == .exited(2))
            #expect(none.errors.contains("there is no job.har in"))
            #expect(none.errors.contains("pipeline test job.json --record"))
            try write("[]", "job.har", in: folder)
            let wrong = try await run(folder, ["job.json", "--exchanges", folder.path])
            #expect(wrong.cause == .exited(2))
            #expect(wrong.errors.contains("is no HTTP Archive"))
            #expect(try await run(folder, ["job.json", "--record", "x", "--crash"]).cause == .exited(64))
            #expect(try await run(folder, ["job.json", "--output", "x"]).cause == .exited(64))
        }
    }
}
