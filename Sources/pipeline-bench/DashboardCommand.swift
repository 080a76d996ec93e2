import ArgumentParser
import Foundation
import JournalCopies
import PipelineCore
import PipelineJournal
import PipelineKit

/// The cost of people being able to look: memory of the background owner with the pages and without, how long pages
/// take over very many jobs, how soon a change is told, and what exporting a job's trace costs.
struct DashboardCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dashboard",
        abstract: "Measure the pages over many jobs, what they add to the background owner, and the trace exporter.")

    @Option(help: "The program pipeline-daemon.") var daemon: String
    @Option(help: "Jobs in the journal that have ended.") var jobs = 100_000
    @Option(help: "Jobs that wait.") var waiting = 10_000
    @Option(help: "Requests for each page.") var requests = 50
    @Option(help: "The service's URL, see serve.") var url: String
    @Option(help: "An empty folder for state and results.") var folder: String

    func run() async throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try await exporter()
        let pages = "\(folder)/pages"
        let few = try JobBench(folder: pages, url: url)
        try await few.run(count: 20, concurrency: 4)
        await few.journal.close()
        let owner = try OwnerBench(folder: pages, callbackURL: nil)
        try await owner.submit(count: waiting) { _ in #"{ "id": "pause", "kind": "wait", "for": "1d" }"# }
        let alone = try await memory(of: owner, [])
        let token = "\(folder)/token"
        try String(repeating: "x", count: 32).write(toFile: token, atomically: true, encoding: .utf8)
        let port = try await CallbackService.freePort()
        let arguments = ["--dashboard", "127.0.0.1:\(port)", "--token-file", token]
        let page = PageClient(port: port, token: String(repeating: "x", count: 32))
        let shown = try await memory(of: owner, arguments) {
            // Three people look at it.
            for _ in 0..<3 { _ = try page.get("/") }
            return try (0..<3).map { _ in try page.stream("/changes") }
        }
        print(
            "background owner with \(waiting) waiting jobs: \(text(alone, 1)) MiB, with the pages open three times "
                + "\(text(shown, 1)) MiB, \(text(shown - alone, 1)) MiB more")
        try JournalCopies.make(jobs, of: .ended, in: "\(pages)/state/journal.sqlite")
        try await times(owner, arguments, page, few.newest)
    }

    /// The owner's memory in MiB once all jobs are parked and the body's connections are open.
    private func memory(
        of owner: OwnerBench, _ arguments: [String], _ open: () async throws -> [PageClient.Stream] = { [] }
    ) async throws -> Double {
        let process = try owner.start(daemon, arguments)
        defer { process.end() }
        try await owner.waitUntilParked(waiting)
        let streams = try await open()
        // What parking left behind is over.
        try await Task.sleep(for: .seconds(5))
        let memory = process.account.memory
        withExtendedLifetime(streams) {}
        return memory
    }

    /// Measures how long pages take, and how soon a change is told.
    private func times(_ owner: OwnerBench, _ arguments: [String], _ page: PageClient, _ job: JobID) async throws {
        let process = try owner.start(daemon, arguments)
        defer { process.end() }
        try await owner.waitUntilParked(waiting)
        for (name, target) in [
            ("list", "/"), ("list of what succeeded", "/?state=succeeded"), ("list of what waits", "/?state=waiting"),
            ("search", "/?q=many-77"), ("a job", "/jobs/\(job)"), ("pipelines", "/pipelines"),
            ("services", "/services"), ("style, script and icon", "/style.css"),
        ] {
            _ = try page.get(target)
            var (times, size) = ([Double](), 0)
            for _ in 0..<requests {
                let start = Measured.now()
                size = try page.get(target)
                times.append((Measured.now() - start) * 1000)
            }
            times.sort()
            print(
                "page \(name) over \(jobs + waiting) jobs: median \(text(times.median, 1)) ms, 90 % within "
                    + "\(text(times[times.count * 9 / 10], 1)) ms, \(size >> 10) KiB")
        }
        let stream = try page.stream("/changes")
        var delays: [Double] = []
        for _ in 0..<20 {
            let committed = try await owner.commitOne()
            try stream.waitForChange()
            delays.append((Measured.now() - committed) * 1000)
        }
        print(
            "a commit to the event that tells it: median \(text(delays.median, 1)) ms, at most "
                + "\(text(delays.max() ?? 0, 1)) ms; a page reads itself again then, once in 250 ms at most")
    }

    /// Processor time of a job with its trace exported, against one without.
    private func exporter() async throws {
        var costs: [Double] = []
        for (name, environment) in [("plain", [:]), ("traced", ["OTEL_EXPORTER_OTLP_ENDPOINT": url])] {
            let bench = try JobBench(folder: "\(folder)/\(name)", url: url, environment: environment)
            try await bench.run(count: 50, concurrency: 16)
            let before = Measured.ofThisProcess
            try await bench.run(count: 500, concurrency: 16)
            await bench.finish()
            costs.append((Measured.ofThisProcess.cpu - before.cpu) * 1000 / 500)
            await bench.journal.close()
        }
        print(
            "a job of three stages: \(text(costs[0], 2)) ms of CPU, with its trace exported \(text(costs[1], 2)) ms")
    }
}
