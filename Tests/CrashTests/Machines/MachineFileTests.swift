import Foundation
import PipelineTestKit
import Testing

/// What stands on one of several machines alone.
@Suite("Files of one machine", .enabled(if: PostgresServer.isAvailable, Comment(rawValue: PostgresServer.howTo)))
struct MachineFileTests {
    private let unfinished = "SELECT count(*) FROM pipeline.jobs WHERE ended IS NULL"

    private static let sending = """
        { "pipeline": 1, "name": "send", "inputs": { "a": { "type": "file" } },
          "services": { "api": { "url": "${{ env.API_URL }}" } },
          "stages": [
            { "id": "put", "kind": "upload", "service": "api", "protocol": "put", "file": "${{ inputs.a }}",
              "request": { "PUT": "/store" } } ] }
        """

    /// What stood under the same path on the other machine was sent, and a batch failed for the files that it lacks.
    @Test("are read there alone: a command on another machine that would run their job is told which has them")
    func filesOfAnotherMachine() async throws {
        try await withWorkers { scene in
            try scene.workplace.write("send.json", Self.sending)
            try scene.workplace.write("a.wav", "of this machine")
            let (here, there) = (["PIPELINE_HOST": "here"], ["PIPELINE_HOST": "there"])
            for arguments in [["-i", "a=a.wav", "--key", "one"], ["--each", "a=*.wav", "--batch", "many"]] {
                let end = try await scene.workplace.program.run(
                    ["run", "send.json", "--detach"] + arguments,
                    environment: scene.workplace.environment(scene.environment.merging(here) { $1 }),
                    folder: scene.workplace.folder)
                #expect(end.cause == .exited(0), "\(end)")
            }
            for end in [
                try await scene.run("resume", "one", environment: there),
                try await scene.run("retry", "one", environment: there),
                try await scene.run("run", "send.json", "-i", "a=a.wav", "--key", "one", environment: there),
                try await scene.run("resume", "many", environment: there),
                try await scene.run("run", "send.json", "--each", "a=*.wav", "--batch", "many", environment: there),
                try await scene.run(
                    "run", "send.json", "--each", "a=*.wav", "--batch", "many", "--detach", environment: there),
            ] {
                #expect(end.cause == .exited(64) && end.errors.contains("on another machine: here"), "\(end)")
            }
            let from = try await scene.run("retry", "one", "--from", "put", environment: there)
            #expect(from.errors.contains("hint: give the command there\n"), "\(from)")
            for name in ["one", "many"] {
                let handed = try await scene.run("resume", name, "--detach", environment: there)
                #expect(handed.cause == .exited(0), "\(handed)")
            }
            let other = try await scene.startWorker("other", environment: there)
            let worker = try await scene.startWorker("worker", environment: here)
            try await scene.wait(for: unfinished, toBe: 0)
            #expect(scene.service.server.requests.filter { $0.method == "PUT" }.count == 2)
            let hosts = "SELECT count(*) FROM pipeline.jobs WHERE host = 'here'"
            #expect(try await scene.count(hosts) == 3)
            for worker in [other, worker] {
                worker.signal(SIGTERM)
                _ = await worker.end
            }
        }
    }

    /// The advice was a command that is refused on another machine, and on theirs takes the job out of the workers' hands.
    @Test("'why' on another machine names theirs, and no command for a job that a worker takes up")
    func why() async throws {
        try await withWorkers { scene in
            let document = HeldService.document.replacing(#""type": "string""#, with: #""type": "file""#)
            try scene.workplace.write("file.json", document)
            try scene.workplace.write("a.wav", "of this machine")
            let (here, there) = (["PIPELINE_HOST": "here"], ["PIPELINE_HOST": "there"])
            let asked = "SELECT count(*) FROM pipeline.steps WHERE state = 'waiting'"
            let program = try scene.workplace.program.start(
                ["run", "file.json", "-i", "name=a.wav", "--key", "one"],
                environment: scene.workplace.environment(scene.environment.merging(here) { $1 }),
                folder: scene.workplace.folder)
            try await scene.wait(for: asked, toBe: 1)
            program.signal(SIGINT)
            #expect(await program.end.cause == .exited(75))
            let suspended = try await scene.run("why", "one", environment: there)
            #expect(suspended.output.contains(/do: pipeline resume \w+; on here, which has its files/), "\(suspended)")
            let own = try await scene.run("why", "one", environment: here)
            #expect(own.output.contains("do: pipeline resume") && !own.output.contains("on here"), "\(own)")
            let worker = try await scene.startWorker("worker", environment: here)
            let handed = try await scene.run("resume", "one", "--detach", environment: there)
            #expect(handed.cause == .exited(0), "\(handed)")
            try await scene.wait(for: "SELECT count(*) FROM pipeline.jobs WHERE owner IS NOT NULL", toBe: 1)
            try await scene.wait(for: asked, toBe: 1)
            worker.signal(SIGKILL)
            _ = await worker.end
            try await scene.expire(worker)
            let left = try await scene.run("why", "one", environment: there)
            #expect(left.output.contains("waits for a worker on here, which has its files"), "\(left)")
            #expect(!left.output.contains("pipeline resume"), "\(left)")
        }
    }

    /// A worker elsewhere took it and failed for good, or sent another file of that path.
    @Test(
        "bind the job also where its document names them by itself",
        arguments: [
            (#""kind": "upload", "protocol": "put", "file": "a.wav", "request": { "PUT": "/store" }"#, 1),
            (#""kind": "request", "request": { "POST": "/x", "file": "a.wav" }"#, 1),
            (#""kind": "request", "request": { "POST": "/x", "json": { "a": [ "${{ text('a.wav') }}" ] } }"#, 1),
            (#""kind": "request", "request": { "POST": "/x", "json": { "file": "a.wav" } }"#, 0),
        ])
    func named(stage: String, bound: Int) async throws {
        try await withWorkers { scene in
            try scene.workplace.write("a.wav", "of this machine")
            try scene.workplace.write(
                "named.json",
                """
                { "pipeline": 1, "name": "named", "services": { "api": { "url": "${{ env.API_URL }}" } },
                  "stages": [ { "id": "a", "service": "api", \(stage) } ] }
                """)
            let end = try await scene.run("run", "named.json", "--detach", environment: ["PIPELINE_HOST": "here"])
            #expect(end.cause == .exited(0), "\(end)")
            #expect(try await scene.count("SELECT count(*) FROM pipeline.jobs WHERE host = 'here'") == bound)
        }
    }

    /// The file of an earlier job, which stood under the same path on the next machine, was sent.
    @Test("that a stage has written are made again where another file stands under their path")
    func otherFile() async throws {
        try await withWorkers { scene in
            try scene.workplace.write("chain.json", Self.chain)
            let first = try await scene.startWorker("first")
            let begun = try await scene.run("run", "chain.json", "--key", "one", "--overwrite", "--detach")
            #expect(begun.cause == .exited(0), "\(begun)")
            try await scene.wait(for: "SELECT count(*) FROM pipeline.steps WHERE state = 'waiting'", toBe: 1)
            first.signal(SIGKILL)
            _ = await first.end
            try await scene.expire(first)
            let path = try await scene.server.query("SELECT path FROM pipeline.files", in: scene.database)
            let written = try #require(FileManager.default.contents(atPath: path), "\(path)")
            #expect(FileManager.default.createFile(atPath: path, contents: Data(written.map { _ in 0x78 })))
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSince1970: 1_000_000)], ofItemAtPath: path)
            scene.service.open()
            let second = try await scene.startWorker("second")
            try await scene.wait(for: unfinished, toBe: 0)
            // What the service gives by now.
            let sent = scene.service.server.requests.filter { $0.method == "PUT" }.map(\.text)
            #expect(sent == [#"{"state": "done"}"#])
            #expect(scene.service.names == [""])
            let warned = "SELECT count(*) FROM pipeline.events WHERE data LIKE '%makes it again%'"
            #expect(try await scene.count(warned) == 1)
            second.signal(SIGTERM)
            _ = await second.end
        }
    }

    private static let chain = """
        { "pipeline": 1, "name": "chain", "services": { "api": { "url": "${{ env.API_URL }}" } },
          "stages": [
            { "id": "get", "kind": "download", "service": "api", "request": { "GET": "/file" }, "to": "result.bin" },
            { "id": "model", "kind": "compute", "service": "api",
              "submit": { "POST": "/jobs", "json": {}, "once": { "key": "Idempotency-Key" },
                          "capture": { "id": "$.id" } },
              "poll": { "GET": "/jobs/${{ self.id }}", "every": "100ms", "status": "$.state",
                        "succeeded": ["done"] } },
            { "id": "put", "kind": "upload", "service": "api", "protocol": "put", "file": "${{ stages.get.path }}",
              "request": { "PUT": "/store" } } ] }
        """
}
