import Foundation
import JSONPath
import PipelineTestKit
import SelfieStudio
import Testing

/// The background owner of a workplace that a command started: known by what it wrote, ended with the test.
struct BackgroundProcess: Sendable {
    let workplace: Workplace

    private var log: String { (try? String(contentsOfFile: workplace.state + "/daemon.log", encoding: .utf8)) ?? "" }

    /// The ids of all owners that were ready, the last one at the end.
    var processes: [Int32] {
        log.split(separator: "\n").compactMap { line in
            guard let start = line.range(of: "ready, process ")?.upperBound else { return nil }
            return Int32(line[start...].prefix { $0.isNumber })
        }
    }

    var isRunning: Bool { processes.last.map { ForeignProcess($0).isRunning } ?? false }

    /// Sends the last owner a signal and returns when it has ended.
    func end(by signal: Int32) async throws {
        let process = try #require(processes.last, "\(log)")
        await ForeignProcess(process).end(by: signal)
    }

    /// Ends it in any case.
    func remove() async {
        for process in processes.map(ForeignProcess.init) where process.isRunning { await process.end(by: SIGKILL) }
    }
}

extension Workplace {
    /// The job, once its state is one of these.
    func waitFor(_ states: Set<String>, of job: String = "last") async throws -> JSON {
        try await waitFor(of: job) { shown in shown["state"]?.string.map { states.contains($0) } ?? false }
    }

    /// The job, once it is so: looked at again whenever 'watch' reports an event of it, which its owner committed first.
    func waitFor(of job: String = "last", _ isSo: (JSON) async throws -> Bool) async throws -> JSON {
        let end = ContinuousClock.now.advanced(by: .seconds(120))
        while ContinuousClock.now < end {
            let watch = try start("watch", job, "--json")
            // A job of which nothing is reported is waited for no longer.
            let limit = Task {
                try await Task.sleep(until: end)
                watch.signal(SIGKILL)
            }
            defer {
                limit.cancel()
                watch.signal(SIGKILL)
            }
            var seen: Int? = 0
            while let count = seen {
                let shown = try await show(job)
                if try await isSo(shown) { return shown }
                seen = await watch.outputCount(above: count)
            }
            // Nobody has the job: an owner that is just beginning will have it.
            let shown = try await show(job)
            if try await isSo(shown) { return shown }
        }
        throw WaitedTooLong(shown: try await show(job))
    }

    /// Returns once the job's log has an event of that type.
    func waitForEvent(_ type: String, of job: String = "last") async throws {
        _ = try await waitFor(of: job) { _ in
            try await run("logs", job, "--json").output.contains("\"type\":\"\(type)\"")
        }
    }
}

/// What is thrown for a job that did not become in two minutes what a test waits for.
struct WaitedTooLong: Error {
    let shown: JSON
}

/// A workplace with a service and what is started in the background there.
func withBackground(
    _ change: (inout StudioChange) -> Void = { _ in },
    _ body: (Workplace, Service, BackgroundProcess) async throws -> Void
) async throws {
    var studio = StudioChange()
    change(&studio)
    try await withWorkplace { workplace in
        try await withService(in: workplace, { $0.minimumSeconds = studio.seconds }) { service in
            let background = BackgroundProcess(workplace: workplace)
            do {
                try await body(workplace, service, background)
            } catch {
                await background.remove()
                throw error
            }
            await background.remove()
        }
    }
}

/// How the studio of a background test behaves.
struct StudioChange {
    /// The least that a model takes.
    var seconds = 0.2
}
