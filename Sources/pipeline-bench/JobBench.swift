import Glibc
import JSONPath
import PipelineCore
import PipelineEngine
import PipelineJournal
import PipelineKit

/// The parts of one measurement: a workspace of its own, a document, a file to send.
final class JobBench: Sendable {
    private let workspace: Workspace
    private let journal: SQLiteJournal
    private let engine: Engine
    private let plan: Plan
    private let folder: String
    private let document: String

    init(folder: String, url: String) throws {
        self.folder = folder
        mkdir(folder, 0o700)
        let settings = Settings(stateFolder: "\(folder)/state", secretsFile: nil, environment: [:])
        workspace = Workspace(settings: settings)
        journal = try SQLiteJournal(folder: settings.stateFolder)
        engine = try workspace.engine(journal: journal, secrets: try workspace.secrets()) { _ in }
        document = Self.document(url: url, file: "\(folder)/input")
        plan = try Planner(catalogue: workspace.catalogue).plan(SourceText(name: "bench.json", text: document))
        let input = fopen("\(folder)/input", "w")
        let bytes = [UInt8](repeating: 7, count: 4096)
        fwrite(bytes, 1, bytes.count, input)
        fclose(input)
        mkdir("\(folder)/out", 0o700)
    }

    /// Transactions of the journal so far.
    var transactions: Int { journal.statistics.transactions }

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

    /// Keeps jobs that wait for something that never comes, and prints what they cost.
    func park(count: Int, watching seconds: Int) async throws {
        let before = Measured.ofThisProcess
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<count {
                let drive = try await engine.start(record(index), plan: plan, mode: .background)
                group.addTask { _ = try await drive.run() }
            }
            let parked = Measured.ofThisProcess
            try await Task.sleep(for: .seconds(seconds))
            let after = Measured.ofThisProcess
            print(
                "\(count) jobs: \(text(parked.memory - before.memory, 1)) MiB more, "
                    + "\(text((after.cpu - parked.cpu) / (after.wall - parked.wall) * 100, 2)) % of a core")
            group.cancelAll()
        }
    }

    private func record(_ index: Int) -> JobRecord {
        let id = workspace.newJobID()
        return JobRecord(
            id: id, pipeline: "bench", key: id.text, started: SystemClock().now, source: document,
            sourceName: "bench.json", digest: "", inputs: ["n": .number(JSONNumber(index))], environment: [:],
            folders: JobFolders(document: folder, output: "\(folder)/out"), overwrites: true)
    }

    private static func document(url: String, file: String) -> String {
        """
        { "pipeline": 1, "name": "bench",
          "inputs": { "n": { "type": "number" } },
          "services": { "s": { "url": "\(url)" } },
          "stages": [
            { "id": "upload", "kind": "upload", "service": "s", "file": "\(file)", "protocol": "put",
              "request": { "PUT": "/files/${{ inputs.n }}" }, "capture": { "id": "$.id" } },
            { "id": "compute", "kind": "compute", "service": "s",
              "submit": { "POST": "/jobs", "json": { "file": "${{ stages.upload.id }}" }, "capture": { "id": "$.id" },
                          "once": { "key": "Idempotency-Key" } },
              "poll": { "GET": "/jobs/${{ self.id }}", "status": "$.state", "succeeded": ["done"],
                        "capture": { "url": "$.url" }, "first": "0ms" } },
            { "id": "download", "kind": "download", "service": "s",
              "request": { "GET": "${{ stages.compute.url }}" }, "to": "${{ inputs.n }}.bin" }
          ] }
        """
    }
}

/// A job that did not succeed spoils a measurement.
struct BenchFailure: Error { let end: String }
