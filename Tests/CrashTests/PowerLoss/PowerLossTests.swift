#if os(Linux)
    import Foundation
    import JSONPath
    import PipelineTestKit
    import SelfieStudio
    import Testing

    /// A moment at which the power goes, and what it takes away.
    struct PowerCut: Sendable, CustomStringConvertible {
        let seed: UInt64
        let loss: SimulatedDisk.Loss

        var description: String { "seed \(seed), losing \(loss)" }

        /// Each way of losing things, at seeded moments.
        static let all = Rounds.seeds(perRound: 8).flatMap { seed in
            SimulatedDisk.Loss.allCases.enumerated().map { PowerCut(seed: seed &* 31 &+ UInt64($0), loss: $1) }
        }
    }

    @Suite("When the power goes, what was promised is on the disk")
    struct PowerLossTests {
        @Test(
            "a job whose unsynced writes are lost is finished by resume: one submit, the same file",
            arguments: PowerCut.all)
        func powerCut(_ cut: PowerCut) async throws {
            let randomness = SeededRandomness(seed: cut.seed)
            let stop = randomness.number(in: 1...(try await RecordedRun.operationCount))
            try await withWorkplace { workplace in
                try await withService(in: workplace) { service in
                    let killed = try await workplace.runSelfie(
                        service, environment: try Recorder.environment(workplace, stopAt: stop))
                    let disk = SimulatedDisk(FileOperation.read(workplace.path("operations")))
                    try disk.restore(
                        [workplace.state, workplace.output], keeping: [workplace.output], cut.loss, randomness)
                    try await finish(killed, workplace, service, comment: "stopped at operation \(stop)")
                }
            }
        }

        /// A job that a person was told of must be there; one that was not must have done nothing.
        private func finish(
            _ killed: ProgramEnd, _ workplace: Workplace, _ service: Service, comment: String
        ) async throws {
            let list = try await workplace.run("list", "--json")
            #expect(list.cause == .exited(0), "\(comment): \(list)")
            guard list.output.contains("\"job\"") else {
                #expect(!killed.errors.contains("started"), "\(comment): the job is lost: \(killed)")
                #expect(service.counters.requests == 0, "\(comment)")
                return
            }
            let resumed = try await workplace.run("resume", "last", environment: service.environment)
            #expect(resumed.cause == .exited(0), "\(comment): \(resumed)")
            try await workplace.checkMesh(resumed)
            #expect(service.counters.modelsSubmitted == 1, "\(comment)")
            try await workplace.checkEvents()
        }

        @Test("the disk of the test loses what is not synced, and keeps what is")
        func disk() throws {
            let folder = NSTemporaryDirectory() + "disk-\(UUID().uuidString)"
            defer { try? FileManager.default.removeItem(atPath: folder) }
            let disk = SimulatedDisk([
                .makeFolder(path: folder), .sync(inode: 1, path: (folder as NSString).deletingLastPathComponent),
                .create(path: folder + "/a", inode: 7), .write(inode: 7, offset: 0, bytes: Array("kept".utf8)),
                .sync(inode: 7, path: folder + "/a"), .sync(inode: 1, path: folder),
                .write(inode: 7, offset: 4, bytes: Array(" lost".utf8)),
                .rename(from: folder + "/a", to: folder + "/b"), .create(path: folder + "/c", inode: 8),
            ])
            func content(after loss: SimulatedDisk.Loss) throws -> [String: String] {
                try disk.restore([folder], keeping: [], loss, SeededRandomness(seed: 1))
                let names = try FileManager.default.contentsOfDirectory(atPath: folder)
                return Dictionary(
                    uniqueKeysWithValues: try names.map { name in
                        (name, try String(contentsOfFile: "\(folder)/\(name)", encoding: .utf8))
                    })
            }
            #expect(try content(after: .everything) == ["a": "kept"])
            #expect(try content(after: .nothing) == ["b": "kept lost", "c": ""])
        }
    }

    /// How the program is made to record its file operations.
    enum Recorder {
        static func environment(_ workplace: Workplace, stopAt: Int? = nil) throws -> [String: String] {
            var variables = [
                "LD_PRELOAD": try BuiltProgram.productFolder() + "/libPowerLoss.so",
                "POWERLOSS_LOG": workplace.path("operations"),
                // With the parent, whose sync makes the state folder's own name durable.
                "POWERLOSS_FOLDERS": workplace.folder,
            ]
            variables["POWERLOSS_STOP_AT"] = stopAt.map(String.init)
            return variables
        }
    }

    /// A whole job whose operations were counted, made once.
    enum RecordedRun {
        static var operationCount: Int { get async throws { try await count.value } }

        private static let count = Task {
            try await inWorkplace { workplace in
                try await withService(in: workplace) { service in
                    let end = try await workplace.runSelfie(service, environment: try Recorder.environment(workplace))
                    try await workplace.checkMesh(end)
                    let operations = FileOperation.read(workplace.path("operations"))
                    try #require(operations.count > 50, "the program's file operations are not seen")
                    return operations.count
                }
            }
        }
    }
#endif
