import ArgumentParser
import PipelineCore
import PipelineEngine
import PipelineKit

/// Runs many three-stage jobs in one process: PUT 4 KiB, POST, GET status, GET 4 KiB.
struct JobsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "jobs", abstract: "Run many small durable jobs at a time; print CPU, commits and jobs per second.")

    @Option(help: "Jobs in all.") var count = 1000
    @Option(help: "Jobs at a time.") var concurrency = 64
    @Option(help: "The service's URL, see serve.") var url: String
    @Option(help: "An empty folder for state and results.") var folder: String
    @Option(help: "The database of the journal; one in the folder by default.") var journal: String?

    func run() async throws {
        let bench = try JobBench(folder: folder, url: url, journal: journal)
        let before = Measured.ofThisProcess
        try await bench.run(count: count, concurrency: concurrency)
        let after = Measured.ofThisProcess
        let (cpu, wall) = (after.cpu - before.cpu, after.wall - before.wall)
        let commits = Double(bench.transactions) / Double(count)
        let place = journal == nil ? "" : " on PostgreSQL"
        print(
            "\(count) jobs\(place), \(concurrency) at a time: \(text(Double(count) / wall, 0)) jobs/s, "
                + "\(text(cpu * 1000 / Double(count), 3)) ms of CPU and \(text(commits, 2)) commits a job, "
                + "peak \(text(after.memory, 1)) MiB")
    }
}

/// Parks jobs that wait, and measures what they cost.
struct WaitingCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "waiting", abstract: "Keep many waiting jobs; print memory and idle CPU.")

    @Option(help: "Jobs.") var count = 10_000
    @Option(help: "The service's URL, see serve.") var url: String
    @Option(help: "An empty folder for state and results.") var folder: String
    @Option(help: "Seconds to watch.") var seconds = 10

    func run() async throws {
        let bench = try JobBench(folder: folder, url: url, polls: #""first": "1d", "every": "1d""#)
        try await bench.park(count: count, watching: seconds)
    }
}
