import CLibrary
import JSONPath
import PipelineCore
import PipelineEngine
import PipelineJournal
import PipelineKit
import Synchronization

/// The parts of one measurement: a workspace of its own, a document, a file to send.
final class JobBench: Sendable {
    private let workspace: Workspace
    let journal: Workspace.Journal
    let engine: Engine
    let plan: Plan
    private let folder: String
    private let document: String
    private let last = Mutex(JobID(""))

    /// - Parameters:
    ///   - stages: the JSON of the document's stages; nil for the three of a small job.
    ///   - address: the database of the journal; nil for one in the folder.
    init(
        folder: String, url: String, journal address: String? = nil, polls pace: String = #""first": "0ms""#,
        stages: String? = nil, environment: [String: String] = [:],
        observe: @escaping @Sendable (JobEvent) -> Void = { _ in }
    ) throws {
        self.folder = folder
        mkdir(folder, 0o700)
        if let address { _ = try PostgresJournal.migrate(address) }
        let named = address.map { ["PIPELINE_JOURNAL": $0] } ?? [:]
        let settings = Settings(
            stateFolder: "\(folder)/state", secretsFile: nil,
            environment: environment.merging(named) { _, new in new })
        workspace = Workspace(settings: settings)
        journal = try workspace.openJournal()
        engine = try workspace.engine(journal: journal, secrets: try workspace.secrets(), observe: observe)
        document = Self.document(url: url, stages: stages ?? Self.stages(file: "\(folder)/input", pace: pace))
        plan = try Planner(catalogue: workspace.catalogue).plan(SourceText(name: "bench.json", text: document))
        let input = fopen("\(folder)/input", "w")
        let bytes = [UInt8](repeating: 7, count: 4096)
        fwrite(bytes, 1, bytes.count, input)
        fclose(input)
        mkdir("\(folder)/out", 0o700)
    }

    /// The last job that was begun.
    var newest: JobID { last.withLock { $0 } }

    /// Gives what is still on its way a moment, as a program does at its end.
    func finish() async { await workspace.finish() }

    /// Transactions of the journal so far.
    var transactions: Int {
        (journal as? SQLiteJournal)?.statistics.transactions ?? (journal as? PostgresJournal)?.statistics.transactions
            ?? 0
    }

    func run(count: Int, concurrency: Int) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<count {
                if index >= concurrency { try await group.next() }
                group.addTask { try await self.job(index) }
            }
            try await group.waitForAll()
        }
    }

    private func job(_ index: Int) async throws {
        let drive = try await engine.start(record(index), plan: plan, mode: .attached)
        let end = try await drive.run()
        guard end == .ended(.succeeded) else { throw BenchFailure(end: "\(end)") }
    }

    /// Keeps jobs that wait for a remote job which takes a day, as the background owner does, and prints what they
    /// cost.
    func park(count: Int, watching seconds: Int) async throws {
        let scheduler = JobScheduler(BenchJobs(engine: engine, plan: plan), clock: SystemClock())
        let before = Measured.ofThisProcess
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await scheduler.run() }
            for index in 0..<count {
                let drive = try await engine.start(record(index), plan: plan, mode: .background)
                scheduler.adopt(drive)
                while index - (scheduler.counts.jobs - scheduler.counts.driven) >= 64 {
                    try await Task.sleep(for: .milliseconds(1))
                }
            }
            while scheduler.counts.jobs < count || scheduler.counts.driven > 0 {
                try await Task.sleep(for: .milliseconds(10))
            }
            let jobs = scheduler.counts.jobs
            guard jobs == count else { throw BenchFailure(end: "\(jobs) of \(count) wait") }
            let parked = Measured.ofThisProcess
            try await Task.sleep(for: .seconds(seconds))
            let after = Measured.ofThisProcess
            print(
                "\(count) jobs: peak \(text(after.memory, 1)) MiB, \(text(after.memory - before.memory, 1)) MiB more, "
                    + "now \(text(Measured.residentMemory, 1)) MiB, "
                    + "\(text((after.cpu - parked.cpu) / (after.wall - parked.wall) * 100, 2)) % of a core, "
                    + "started and parked at \(text((parked.cpu - before.cpu) * 1000 / Double(count), 2)) ms of CPU each"
            )
            scheduler.stop()
        }
    }

    func record(_ index: Int) -> JobRecord {
        let id = workspace.newJobID()
        last.withLock { $0 = id }
        return JobRecord(
            id: id, pipeline: "bench", key: id.text, started: SystemClock().now, source: document,
            sourceName: "bench.json", digest: "", inputs: ["n": .number(JSONNumber(index))], environment: [:],
            folders: JobFolders(document: folder, output: "\(folder)/out"), overwrites: true)
    }

    private static func document(url: String, stages: String) -> String {
        """
        { "pipeline": 1, "name": "bench", "background": { "budget": "unlimited" },
          "inputs": { "n": { "type": "number" } },
          "services": { "s": { "url": "\(url)" } },
          "stages": [ \(stages) ] }
        """
    }

    private static func stages(file: String, pace: String) -> String {
        """
            { "id": "upload", "kind": "upload", "service": "s", "file": "\(file)", "protocol": "put",
              "request": { "PUT": "/files/${{ inputs.n }}" }, "capture": { "id": "$.id" } },
            { "id": "compute", "kind": "compute", "service": "s",
              "submit": { "POST": "/jobs", "json": { "file": "${{ stages.upload.id }}" }, "capture": { "id": "$.id" },
                          "once": { "key": "Idempotency-Key" } },
              "poll": { "GET": "/jobs/${{ self.id }}", "status": "$.state", "succeeded": ["done"],
                        "capture": { "url": "$.url" }, \(pace) } },
            { "id": "download", "kind": "download", "service": "s",
              "request": { "GET": "${{ stages.compute.url }}" }, "to": "${{ inputs.n }}.bin" }
        """
    }
}

/// The jobs of the bench, all of one document.
private struct BenchJobs: JobSource {
    let engine: Engine
    let plan: Plan

    func takeUp(_ job: JobID) async throws(JournalFailure) -> Engine.JobHandle? {
        try await engine.resume(job, plan: plan, mode: .background)
    }

    func unpark(_ job: ParkedJob) async throws(JournalFailure) -> Engine.JobHandle {
        try await engine.unpark(job) { engine.unpark(job, as: $0, plan: plan) }
    }

    func ended(_ job: JobID, _ result: Result<JobEnd, JournalFailure>, as snapshot: JobSnapshot?) async {}
}

/// A job that did not succeed spoils a measurement.
struct BenchFailure: Error { let end: String }
