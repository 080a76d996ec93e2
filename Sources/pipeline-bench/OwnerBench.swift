import Foundation
import JSONPath
import PipelineCore
import PipelineEngine
import PipelineKit
import Synchronization

/// A state folder of its own with background jobs, and the owner that has them.
final class OwnerBench: Sendable {
    /// The time when the last job was journaled.
    private let committed = Mutex(0.0)
    private let settings: Settings
    private let workspace: Workspace
    private let folder: String

    init(folder: String, callbackURL: String?) throws {
        self.folder = folder
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        var environment = ["PATH": ProcessInfo.processInfo.environment["PATH"] ?? "", "HOME": folder]
        if let callbackURL { environment["PIPELINE_CALLBACK_URL"] = callbackURL }
        settings = Settings(stateFolder: "\(folder)/state", secretsFile: nil, environment: environment)
        workspace = Workspace(settings: settings)
    }

    /// Journals so many jobs for the background, each of the one stage that is given for its number.
    func submit(count: Int, stage: (Int) -> String) async throws {
        let journal = try workspace.openJournal()
        let engine = try workspace.engine(journal: journal, secrets: try workspace.secrets()) { _ in }
        let planner = Planner(catalogue: workspace.catalogue)
        for index in 0..<count {
            let document = """
                { "pipeline": 1, "name": "bench", "background": { "budget": "unlimited" }, "stages": [ \(stage(index)) ] }
                """
            let id = workspace.newJobID()
            let record = JobRecord(
                id: id, pipeline: "bench", key: id.text, started: SystemClock().now, source: document,
                sourceName: "bench.json", digest: "bench-\(stage(index).hashValue)", inputs: [:], environment: [:],
                folders: JobFolders(document: folder, output: folder), overwrites: true)
            try await engine.submit(record, plan: try planner.plan(SourceText(name: "bench.json", text: document)))
            committed.withLock { $0 = Measured.now() }
        }
        await journal.close()
    }

    /// Journals one more job, and returns when it was committed, in seconds of ``Measured/now()``.
    func commitOne() async throws -> Double {
        try await submit(count: 1) { _ in #"{ "id": "pause", "kind": "wait", "for": "1d" }"# }
        return committed.withLock { $0 }
    }

    /// Starts the owner; it takes the jobs up by itself.
    func start(_ program: String, _ arguments: [String] = []) throws -> OwnerProcess {
        let process = Process()
        process.executableURL = URL(filePath: program)
        process.arguments = ["--state-dir", settings.stateFolder] + arguments
        process.environment = settings.environment
        process.standardError = FileHandle(forWritingAtPath: "/dev/null")
        try process.run()
        return OwnerProcess(process: process)
    }

    /// Returns when the owner has all jobs and does nothing with any of them.
    func waitUntilParked(_ count: Int) async throws {
        let owner = BackgroundOwner(settings: settings)
        while true {
            let status = try? owner.ask(.status)
            if let status, status["jobs"] == .number(JSONNumber(count)), status["driven"] == 0 { return }
            try await Task.sleep(for: .milliseconds(100))
        }
    }
}

/// A background owner under measurement.
struct OwnerProcess {
    let process: Process

    /// The cost of it so far.
    struct Account {
        /// Context switches by thread: each wake-up is one.
        var switches: [String: Int] = [:]
        /// Seconds.
        var cpu = 0.0
        /// MiB.
        var memory = 0.0
        var peak = 0.0
    }

    /// From proc_pid_status(5) and proc_pid_stat(5).
    var account: Account {
        var account = Account()
        let folder = "/proc/\(process.processIdentifier)"
        for thread in (try? FileManager.default.contentsOfDirectory(atPath: "\(folder)/task")) ?? [] {
            let lines = Self.text("\(folder)/task/\(thread)/status")
            account.switches[thread] = Self.number("voluntary_ctxt_switches:", lines)
        }
        let status = Self.text("\(folder)/status")
        account.memory = Double(Self.number("VmRSS:", status)) / 1024
        account.peak = Double(Self.number("VmHWM:", status)) / 1024
        let fields = Self.text("\(folder)/stat").split(separator: ")").last?.split(separator: " ") ?? []
        if fields.count > 13, let user = Double(fields[11]), let system = Double(fields[12]) {
            account.cpu = (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
        }
        return account
    }

    private static func text(_ path: String) -> String { (try? String(contentsOfFile: path, encoding: .utf8)) ?? "" }

    private static func number(_ name: String, _ text: String) -> Int {
        for line in text.split(separator: "\n") where line.hasPrefix(name) {
            return line.split(whereSeparator: { $0 == " " || $0 == "\t" }).dropFirst().first.flatMap { Int($0) } ?? 0
        }
        return 0
    }

    func end() {
        process.terminate()
        process.waitUntilExit()
    }
}
