import Assertions
import Foundation
import JSONPath
import PipelineCore
import PipelineKit
import Synchronization
import Testing

@testable import PipelineDashboard

/// The pages as Chromium shows them, by a driver that others wrote. `.scripts/browser` gets both.
@Suite(
    "Pages in a browser", .serialized, .enabled(if: Chromium.isWanted, Chromium.howTo),
    .timeLimit(.minutes(10)))
struct BrowserTests {
    @Test(
        "each page fits, passes axe-core, changes by itself, works by keyboard and without script; attackers get nothing"
    )
    func whole() async throws {
        let recorder = SafetyTests.Recorder()
        let world = try await DashboardWorld(actions: recorder)
        let sample = try await SampleJobs(world).make()
        Self.recordMistake(in: world, of: sample.failed)
        let hostile = "<script>window.pwned = 1; alert(1)</script>"
        try await world.make(
            900, key: "hostile", model: .failed(StepFailure(hostile)), kind: .jobFailed,
            captures: ["id": .string(hostile)])
        let targets =
            [
                "/", "/?state=failed", "/?q=nothing", "/pipelines", "/services", "/workers", "/mistakes",
                "/batches/\(sample.batch)",
            ]
            + [sample.waiting, sample.failed, sample.succeeded].map { "/jobs/\($0)" }
        var count = 0
        try await drive(["check", world.service.link()] + targets) {
            count += 1
            try await world.make(-count, key: "fresh-\(count)")
        }
        #expect(Chromium.checks > targets.count * 9, "it went through to its end")
        #expect(recorder.asked.isEmpty, "no page of another site did anything")
        await world.close()
    }

    /// The stream was refused again and again, and the page said "Connecting" over rows of before for ever.
    @Test("a page that is open while the program is started again asks to sign in")
    func restart() async throws {
        let world = try await DashboardWorld()
        try await world.make(1)
        // One that was stopped has no port any more.
        let address = "127.0.0.1:\(world.service.port)"
        var again: DashboardService?
        try await drive(["restart", world.service.link()]) {
            await world.service.stop()
            again = try await DashboardService.start(
                world.workspace, journal: world.journal, options: DashboardOptions(listen: address))
        }
        await again?.stop()
        await world.close(isServed: false)
    }

    /// Runs the script with its checks. `act` does what it asks for in between.
    private func drive(_ arguments: [String], act: () async throws -> Void) async throws {
        let process = Process()
        let (input, output) = (Pipe(), Pipe())
        process.executableURL = URL(filePath: try #require(Chromium.python))
        process.arguments = [Chromium.script] + arguments
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        for await line in Self.lines(of: output.fileHandleForReading) {
            if line == "act" {
                try await act()
                let now = Double(SystemClock().now.milliseconds)
                input.fileHandleForWriting.write(Data("\(now)\n".utf8))
            } else {
                print(line)
                #expect(line.hasPrefix("ok "), "\(line)")
                if line.hasPrefix("ok ") || line.hasPrefix("not ok ") { Chromium.checks += 1 }
            }
        }
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
    }

    private static func recordMistake(in world: DashboardWorld, of job: JobID) {
        AssertionFiles(settings: world.workspace.settings).record(
            AssertionFailure(
                message: "finished cannot happen to a step that is pending",
                file: "PipelineEngine/JobExecutor+Recovery.swift", line: 14, job: job.text, step: "stage 'model'"))
    }

    /// Its lines as they come, until it is closed.
    private static func lines(of handle: FileHandle) -> AsyncStream<String> {
        AsyncStream { continuation in
            let rest = Mutex("")
            handle.readabilityHandler = { handle in
                let data = handle.availableData
                guard !data.isEmpty else {
                    handle.readabilityHandler = nil
                    return continuation.finish()
                }
                let lines = rest.withLock { rest -> [Substring] in
                    rest += String(decoding: data, as: UTF8.self)
                    var lines = rest.split(separator: "\n", omittingEmptySubsequences: false)
                    rest = String(lines.removeLast())
                    return lines
                }
                for line in lines { continuation.yield(String(line)) }
            }
        }
    }

    @Test(
        "screenshots of each page",
        .enabled(if: ProcessInfo.processInfo.environment["SCREENSHOTS"] != nil, "make screenshots"))
    func screenshots() async throws {
        let folder = try #require(ProcessInfo.processInfo.environment["SCREENSHOTS"])
        let world = try await DashboardWorld(actions: SafetyTests.Recorder())
        let empty = try await DashboardWorld()
        let sample = try await SampleJobs(world).make()
        Self.recordMistake(in: world, of: sample.failed)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let shots: [(DashboardWorld, [String])] = [
            (
                world,
                [
                    "/=jobs", "/jobs/\(sample.waiting)=job-waiting", "/jobs/\(sample.failed)=job-failed",
                    "/jobs/\(sample.succeeded)=job", "/batches/\(sample.batch)=batch", "/pipelines=pipelines",
                    "/services=services", "/workers=workers", "/mistakes=mistakes",
                ]
            ), (empty, ["/=empty"]),
        ]
        for (world, targets) in shots {
            let process = Process()
            process.executableURL = URL(filePath: try #require(Chromium.python))
            process.arguments = [Chromium.script, "screenshots", folder, world.service.link()] + targets
            try process.run()
            process.waitUntilExit()
            #expect(process.terminationStatus == 0)
            await world.close()
        }
    }
}

/// The browser, and how it is driven.
enum Chromium {
    static let howTo: Testing.Comment = "needs Debian's chromium-driver and axe-core: '.scripts/browser' gets them"
    static let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "browser.py").path
    nonisolated(unsafe) static var checks = 0

    /// Continuous integration has it; where it can't be had there, the tests fail and are not passed over.
    static let isWanted = python != nil || ProcessInfo.processInfo.environment["CI"] != nil

    /// The Python that has axe-core beside it; nil where there is none, or no driver.
    static let python: String? = {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: ".build/browser")
        let python = folder.appending(path: "bin/python").path
        let isThere = FileManager.default.isExecutableFile(atPath: "/usr/bin/chromedriver")
        return isThere && FileManager.default.fileExists(atPath: folder.appending(path: "complete").path) ? python : nil
    }()
}
