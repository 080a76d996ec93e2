import ArgumentParser
import CLibrary
import JSONPath
import PipelineCore
import PipelineJournal

/// Commits changes of jobs side by side to a journal in SQLite, and to one in PostgreSQL where PIPELINE_JOURNAL names it.
struct JournalsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "journals", abstract: "Commit changes of many jobs side by side to each journal.")

    @Option(help: "Changes of each job.") var count = 200
    @Option(help: "Jobs.") var jobs = 64
    @Option(help: "An empty folder for the journal in SQLite.") var folder: String

    func run() async throws {
        let sqlite = try SQLiteJournal(folder: folder)
        let base = try await measure(sqlite, owner: sqlite.owner, "SQLite") { sqlite.statistics }
        await sqlite.close()
        guard let variable = getenv("PIPELINE_JOURNAL") else {
            return print("PostgreSQL: skipped, no PIPELINE_JOURNAL")
        }
        let address = String(cString: variable)
        _ = try PostgresJournal.migrate(address)
        let postgres = try PostgresJournal(address)
        let other = try await measure(postgres, owner: postgres.owner, "PostgreSQL") { postgres.statistics }
        await postgres.close()
        print("PostgreSQL's journal costs this process \(text((other - base) * 1e6, 1)) µs more for a change")
    }

    /// Prints what it took, and returns the seconds of this process's CPU for one change.
    private func measure(
        _ journal: any Journal, owner: OwnerID, _ name: String, statistics: () -> JournalStatistics
    ) async throws -> Double {
        var leases: [(JobSnapshot, Lease)] = []
        for number in 1...jobs {
            let job = Self.job(number)
            leases.append((job, try await journal.create(job, events: [], owner: owner)))
        }
        let (before, transactions) = (Measured.ofThisProcess, statistics().transactions)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (job, lease) in leases {
                group.addTask { [count] in
                    for version in 1...count {
                        try await journal.commit(Self.changes(of: job, version), under: lease)
                    }
                }
            }
            try await group.waitForAll()
        }
        let after = Measured.ofThisProcess
        let changes = Double(jobs * count)
        let commits = Double(statistics().transactions - transactions)
        let cost = (after.cpu - before.cpu) / changes
        print(
            "\(name): \(text(changes / (after.wall - before.wall), 0)) changes a second of \(jobs) jobs side by side, "
                + "\(text(changes / commits, 1)) a commit, \(text(cost * 1e6, 1)) µs of CPU each")
        return cost
    }

    private static let stage = StepKey(stage: "model")

    private static func job(_ number: Int) -> JobSnapshot {
        let now = Timestamp(milliseconds: 1_763_640_000_000)
        let id = JobID(at: now, random: (UInt16(number), UInt64.random(in: .min ... .max)))
        let record = JobRecord(
            id: id, pipeline: "bench", key: id.text, started: now, source: "{}", sourceName: "bench.json",
            digest: "bench",
            inputs: [:], environment: [:], folders: JobFolders(document: "/", output: "/"), overwrites: false)
        return JobSnapshot(record: record, steps: [stage: StepRecord()], mode: .attached)
    }

    /// A step's new state and the event that tells of it: what most commits of a job are.
    private static func changes(of job: JobSnapshot, _ version: Int) -> [JournalChange] {
        var step = StepRecord(state: .running(AttemptState()))
        step.version = version
        let event = JobEvent(
            sequence: version, time: job.record.started, kind: .stageStarted, job: job.record.id,
            pipeline: job.record.pipeline, step: stage, attempt: 1)
        return [.step(stage, step), .event(event)]
    }
}
