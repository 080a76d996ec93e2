import ArgumentParser
import CLibrary
import PipelineCore
import PipelineEngine
import PipelineKit
import PipelineJournal

/// Cancels waiting jobs from another process, and measures how long the owner takes to have ended them.
struct CancelCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cancel", abstract: "Cancel waiting jobs from another process; print how long that takes.")

    @Option(help: "Jobs.") var count = 20
    @Option(help: "The service's URL, see serve.") var url: String
    @Option(help: "An empty folder for state and results.") var folder: String

    func run() async throws {
        let (waits, waiting) = AsyncStream.makeStream(of: JobID.self)
        let bench = try JobBench(folder: folder, url: url, polls: #""first": "1d", "every": "1d""#) { event in
            if event.kind == .stageWaiting { waiting.yield(event.job) }
        }
        var iterator = waits.makeAsyncIterator()
        var delays: [Double] = []
        for index in 0..<count {
            let drive = try await bench.engine.start(bench.record(index), plan: bench.plan, mode: .attached)
            let heard = Task {
                for await job in bench.journal.requests(for: bench.journal.owner) where job == drive.job {
                    drive.checkInbox()
                }
            }
            async let end = drive.run()
            _ = await iterator.next()
            let state = "\(folder)/state"
            let poster = popen("'\(CommandLine.arguments[0])' post-cancel --state '\(state)' \(drive.job)", "r")
            guard try await end == .ended(.cancelled) else { throw BenchFailure(end: "not cancelled") }
            let ended = Measured.now()
            heard.cancel()
            var line = [CChar](repeating: 0, count: 64)
            guard fgets(&line, Int32(line.count), poster) != nil, pclose(poster) == 0 else {
                throw BenchFailure(end: "nothing was posted")
            }
            delays.append(ended - strtod(line, nil))
        }
        let worst = text((delays.max() ?? 0) * 1000, 1)
        print(
            "\(count) waiting jobs cancelled from another process: "
                + "ended after \(text(delays.median * 1000, 1)) ms, \(worst) ms at most")
    }
}

/// The other process: leaves the request, and prints when it began to.
struct PostCancelCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "post-cancel", shouldDisplay: false)

    @Option var state: String
    @Argument var job: String

    func run() async throws {
        let journal = try SQLiteJournal(folder: state)
        let began = Measured.now()
        guard try await journal.post(.cancel, to: JobID(job)) else { throw BenchFailure(end: "nobody heard") }
        print(began)
        await journal.close()
    }
}
