import PipelineTestKit
import SelfieStudio
import Testing

@Suite("Killed at a crash point, the built program loses nothing")
struct CrashPointTests {
    @Test(
        "a selfie job killed at each point is finished by resume: one submit, the same file", arguments: Crash.ofSelfie)
    func selfie(_ crash: Crash) async throws {
        try await withWorkplace { workplace in
            try await withService(in: workplace, { $0.minimumSeconds = 0.3 }) { service in
                let killed = try await workplace.runSelfie(service, environment: crash.environment)
                #expect(killed.cause == .killed(9), "the point was not passed: \(killed)")
                let resumed = try await workplace.run("resume", environment: service.environment)
                try await workplace.checkMesh(resumed)
                try await workplace.checkEvents()
                let counters = service.counters
                #expect(counters.modelsSubmitted == 1)
                #expect(counters.uploadBytesReceived - Documents.videoSize <= crash.uploadedAgain)
                let mesh = try await UninterruptedRun.mesh
                #expect(counters.resultBytesSent - mesh.count <= crash.downloadedAgain)
            }
        }
    }

    @Test("a large upload killed in its middle goes on where the server has it", arguments: Crash.ofLargeUpload)
    func largeUpload(_ crash: Crash) async throws {
        try await withWorkplace { workplace in
            try await withService(in: workplace, { $0.cutAfter = crash.serverTakes }) { service in
                let randomness = SeededRandomness(seed: UInt64(crash.pass))
                let file = (0..<Crash.largeSize / 8 + 1).flatMap { _ in
                    withUnsafeBytes(of: randomness.bits()) { Array($0) }
                }
                .prefix(Crash.largeSize)
                let path = try workplace.write("large.bin", Array(file))
                let document = try workplace.write("large.json", Documents.largeUpload)
                let killed = try await workplace.run(
                    "run", document, "-i", "file=\(path)", "--output", workplace.output,
                    environment: service.environment.merging(crash.environment) { $1 })
                #expect(killed.cause == .killed(9), "the point was not passed: \(killed)")
                let before = service.counters.uploadBytesReceived
                let resumed = try await workplace.run("resume", environment: service.environment)
                #expect(resumed.cause == .exited(0), "\(resumed)")
                let isSame = service.videos == [Array(file)]
                #expect(isSame, "the server has something else")
                #expect(service.counters.uploadBytesReceived - file.count <= crash.uploadedAgain, "\(before) before")
                try await workplace.checkEvents()
            }
        }
    }

    @Test("a point that does not exist, or a pass that never comes, kills nothing")
    func otherPoints() async throws {
        try await withWorkplace { workplace in
            try await withService(in: workplace) { service in
                let end = try await workplace.runSelfie(service, environment: ["PIPELINE_CRASH_AT": "submit.intent:7"])
                try await workplace.checkMesh(end)
            }
        }
    }
}
