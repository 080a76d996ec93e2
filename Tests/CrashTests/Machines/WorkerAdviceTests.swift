import Foundation
import JSONPath
import PipelineTestKit
import Testing

/// What commands tell a person to do about jobs that workers run.
@Suite("Advice about jobs of workers")
struct WorkerAdviceTests {
    /// The log of the worker said that the command opens its pages, and the command served pages of its own.
    @Test("the pages that a worker serves are opened by 'pipeline dashboard', by no other journal's")
    func pages() async throws {
        try await withWorkers { scene in
            let folder = scene.workplace.path("a")
            let worker = try scene.workplace.program.start(
                ["worker", "--state-dir", folder, "--dashboard", "127.0.0.1:0"],
                environment: scene.workplace.environment(scene.environment), folder: scene.workplace.folder)
            #expect(await worker.hasWritten("ready"), "\(worker.text)")
            let told = try #require(worker.text.firstMatch(of: #/at (http://[^ ;]+)/#))
            let end = try await scene.run("dashboard", "--print-only", "--state-dir", folder)
            #expect(end.cause == .exited(0) && end.output.hasPrefix(String(told.output.1)), "\(end)")
            let detached = try await scene.run(
                "run", "held.json", "-i", "name=x", "--detach", "--state-dir", folder,
                environment: ["PIPELINE_JOURNAL": ""])
            #expect(detached.cause == .exited(0), "it is the daemon's of that folder, not the worker's: \(detached)")
            let stopped = try await scene.run(
                "cancel", "last", "--state-dir", folder, environment: ["PIPELINE_JOURNAL": ""])
            #expect(stopped.cause == .exited(0), "\(stopped)")
            worker.signal(SIGTERM)
            #expect(await worker.end.cause == .exited(0))
            #expect(!FileManager.default.fileExists(atPath: folder + "/worker.sock"))
        }
    }

    /// The advice was the command that had just had no effect.
    @Test("a job that lacks a secret input is told to be resumed by a command that stays")
    func secretInputs() async throws {
        try await withWorkers { scene in
            let document = HeldService.document
                .replacing(#""name": { "type": "string" }"#, with: #""name": { "type": "string", "secret": true }"#)
                .replacing(#""batch": { "key": "${{ inputs.name }}" },"#, with: "")
            try #require(document != HeldService.document)
            try scene.workplace.write("held.json", document)
            let worker = try await scene.startWorker("a")
            let end = try await scene.run("run", "held.json", "-i", "name=s3cret", "--key", "one", "--detach")
            #expect(end.cause == .exited(0) && end.errors.contains("are given to no worker"), "\(end)")
            try await scene.wait(for: "SELECT count(*) FROM pipeline.jobs WHERE cause = 'secret'", toBe: 1)
            let why = try await scene.run("why", "one")
            #expect(why.output.contains(" -i name=…") && !why.output.contains("--detach"), "\(why)")
            let again = try await scene.run("resume", "one", "--detach", "-i", "name=s3cret")
            #expect(again.cause == .exited(64) && again.errors.contains("are given to no worker"), "\(again)")
            scene.service.open()
            let resumed = try await scene.run("resume", "one", "-i", "name=s3cret")
            #expect(resumed.cause == .exited(0), "\(resumed)")
            worker.signal(SIGTERM)
            _ = await worker.end
        }
    }

    @Test("a submit that is settled is gone on with by a worker, and nobody is told to resume it")
    func settled() async throws {
        try await withWorkers { scene in
            let lost = try LoopbackServer { request in
                request.method == "POST" ? .status(500) : .json(#"{"state": "done"}"#)
            }
            defer { lost.stop() }
            let more = ["API_URL": lost.url]
            let document = HeldService.document.replacing(#""once": { "key": "Idempotency-Key" }, "#, with: "")
            try #require(document != HeldService.document)
            try scene.workplace.write("held.json", document)
            let end = try await scene.run(
                "run", "held.json", "-i", "name=a", "--key", "one", "--detach", environment: more)
            #expect(end.cause == .exited(0), "\(end)")
            let worker = try await scene.startWorker("a", environment: more)
            try await scene.wait(for: "SELECT count(*) FROM pipeline.steps WHERE state = 'unknown'", toBe: 1)
            let settled = try await scene.run("resolve", "one", "--id", "7")
            #expect(settled.errors.contains("settled; a worker goes on with it"), "\(settled)")
            try await scene.wait(for: "SELECT count(*) FROM pipeline.jobs WHERE ended IS NULL", toBe: 0)
            worker.signal(SIGTERM)
            _ = await worker.end
        }
    }
}
