import ArgumentParser
import Foundation
import PipelineKit

/// The cost of the background owner while its jobs wait, and how soon a push gets on with one.
struct OwnerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "owner",
        abstract: "Start a background owner with many waiting jobs; print wake-ups, memory, and push to resume.")

    @Option(help: "The program pipeline-daemon.") var daemon: String
    @Option(help: "Waiting jobs.") var count = 10_000
    @Option(help: "Seconds to watch the owner do nothing.") var seconds = 60
    @Option(help: "Pushes.") var pushes = 50
    @Option(help: "An empty folder for state and results.") var folder: String

    func run() async throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try await idle()
        try await push()
    }

    // MARK: Waiting

    private func idle() async throws {
        let bench = try OwnerBench(folder: "\(folder)/idle", callbackURL: nil)
        try await bench.submit(count: count) { _ in #"{ "id": "pause", "kind": "wait", "for": "1d" }"# }
        let owner = try bench.start(daemon)
        defer { owner.end() }
        try await bench.waitUntilParked(count)
        // What parking left behind is over.
        try await Task.sleep(for: .seconds(5))
        let before = owner.account
        try await Task.sleep(for: .seconds(seconds))
        let after = owner.account
        // What a thread did that has ended meanwhile is not known any more.
        let switches = after.switches.reduce(0) { $0 + $1.value - (before.switches[$1.key] ?? 0) }
        let wakes = Double(switches) / Double(seconds)
        print(
            "\(count) waiting jobs in a background owner: \(text(wakes, 2)) wake-ups a second over all its threads, "
                + "\(text((after.cpu - before.cpu) / Double(seconds) * 100, 3)) % of a core, "
                + "\(text(after.memory, 1)) MiB resident, peak \(text(after.peak, 1))")
    }

    // MARK: Pushes

    private func push() async throws {
        let service = try await CallbackService.start()
        let port = try await CallbackService.freePort()
        let bench = try OwnerBench(folder: "\(folder)/push", callbackURL: "http://127.0.0.1:\(port)")
        try await bench.submit(count: pushes) { index in
            """
            { "id": "model", "kind": "compute",
              "submit": { "POST": "\(service.url)/jobs/\(index)", "json": { "callback": "${{ self.callbackURL }}" },
                          "capture": { "id": "$.id" } },
              "poll": { "GET": "\(service.url)/jobs/${{ self.id }}", "status": "$.state", "succeeded": ["done"],
                        "every": "1d" }, "callback": {} }
            """
        }
        let owner = try bench.start(daemon)
        defer { owner.end() }
        try await bench.waitUntilParked(pushes)
        var delays: [Double] = []
        for index in 0..<pushes { delays.append(try await service.push(index)) }
        delays.sort()
        print(
            "push to resume, from the request's start to the poll that follows it, over \(pushes) parked jobs: median "
                + "\(text(delays.median, 1)) ms, 90 % within \(text(delays[delays.count * 9 / 10], 1)) ms, "
                + "at most \(text(delays.last ?? 0, 1)) ms")
        await service.stop()
    }
}
