import Foundation
import PipelineTestKit
import Testing

@Suite("A service that is killed and started again loses no job")
struct ServiceRestartTests {
    @Test("a job that waits for its model goes on when the service is back")
    func whileComputing() async throws {
        try await withWorkplace { workplace in
            let watch = try FolderWatch(workplace.path("studio/models"))
            let port = try LoopbackServer.unusedPort()
            let first = try startStudio(workplace, port)
            #expect(await first.hasWritten("selfie-studio listening on http://127.0.0.1:\(port)\n"))
            let file = try workplace.write("selfie.json", try Documents.selfieRetryingSoon())
            let job = try workplace.start(
                "run", file, "-i", "video=\(Documents.video)", "--output", workplace.output,
                environment: ["SELFIE_URL": "http://127.0.0.1:\(port)"])
            #expect(await job.hasWritten("model: started"))
            #expect(await watch.until { modelCount(workplace) > 0 })
            first.signal(SIGKILL)
            #expect(await first.end.cause == .killed(SIGKILL))
            let second = try startStudio(workplace, port)
            try await workplace.checkMesh(await job.end)
            #expect(modelCount(workplace) == 1)
            second.signal(SIGTERM)
            #expect(await second.end.cause == .exited(0))
        }
    }

    private func startStudio(_ workplace: Workplace, _ port: UInt16) throws -> RunningProgram {
        try BuiltProgram(named: "selfie-studio").start(
            ["--port", "\(port)", "--data", workplace.path("studio"), "--seconds", "0.5"],
            environment: workplace.environment())
    }

    private func modelCount(_ workplace: Workplace) -> Int {
        let names = try? FileManager.default.contentsOfDirectory(atPath: workplace.path("studio/models"))
        return names?.filter { $0.hasSuffix(".json") }.count ?? 0
    }
}
