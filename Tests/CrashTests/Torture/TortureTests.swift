import Foundation
import JSONPath
import PipelineTestKit
import SelfieStudio
import Testing

@Suite("Killed again and again at random times, over a bad network, several jobs at once")
struct TortureTests {
    @Test("every job ends with one submit and the same file", arguments: Rounds.seeds())
    func killedAgainAndAgain(_ seed: UInt64) async throws {
        try await withWorkplace { workplace in
            try await withService(in: workplace, { $0.minimumSeconds = 0.2 }) { service in
                let randomness = SeededRandomness(seed: seed)
                service.proxy.choose { _ in .random(randomness, bytes: Documents.videoSize) }
                let document = try workplace.write("selfie.json", Documents.selfieRetryingSoon())
                let jobs = (1...3).map {
                    TorturedJob(number: $0, document: document, workplace: workplace, service: service)
                }
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for job in jobs {
                        let randomness = SeededRandomness(seed: seed &+ UInt64(job.number) &* 7919)
                        group.addTask { try await job.suffer(randomness) }
                    }
                    try await group.waitForAll()
                }
                service.proxy.calm()
                for job in jobs { try await job.finish() }
                #expect(service.counters.modelsSubmitted == jobs.count)
                for job in jobs { try await workplace.checkEvents(job.key) }
            }
        }
    }
}

/// A job that is started, killed at random times, and taken up again by its key.
private struct TorturedJob: Sendable {
    let number: Int
    let document: String
    let workplace: Workplace
    let service: Service

    var key: String { "torture-\(number)" }
    private var output: String { workplace.path("out-\(number)") }

    private func start() throws -> RunningProgram {
        try workplace.start(
            "run", document, "-i", "video=\(Documents.video)", "--output", output, "--key", key,
            environment: service.environment)
    }

    /// Kills it five times, each time somewhere in its life.
    func suffer(_ randomness: SeededRandomness) async throws {
        for _ in 1...5 {
            let program = try start()
            try await Task.sleep(for: .milliseconds(randomness.number(in: 10...900)))
            program.signal(SIGKILL)
            let end = await program.end
            #expect([.killed(SIGKILL), .exited(0)].contains(end.cause), "\(key): \(end)")
        }
    }

    /// Lets it end, over a quiet network.
    func finish() async throws {
        let end = await (try start()).end
        #expect(end.cause == .exited(0), "\(key): \(end)")
        #expect(end.lines == [output + "/selfie.obj"])
        #expect(workplace.files(below: output) == ["selfie.obj"])
        let isSame = workplace.bytes(output + "/selfie.obj") == (try await UninterruptedRun.mesh)
        #expect(isSame, "\(key): the file differs from an uninterrupted run's")
        let state = try await workplace.show(key)["state"]
        #expect(state == "succeeded")
    }
}
