import Foundation
import JSONPath
import PipelineSQLite
import PipelineTestKit
import Testing

/// A folder with a state folder, an output folder and documents, and the built program run in it. Gone with the test.
struct Workplace: Sendable {
    let folder: String
    let program: BuiltProgram

    init() throws {
        folder = "\(NSTemporaryDirectory().hasSuffix("/") ? NSTemporaryDirectory() : "/tmp/")crash-\(UUID().uuidString)"
        program = try BuiltProgram(named: "pipeline")
        for path in [folder, output] {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        }
    }

    /// Made by the program itself.
    var state: String { folder + "/state" }
    var output: String { folder + "/out" }
    func path(_ name: String) -> String { "\(folder)/\(name)" }

    /// Writes a file beside the state folder.
    @discardableResult func write(_ name: String, _ text: String) throws -> String {
        try write(name, Array(text.utf8))
    }

    @discardableResult func write(_ name: String, _ bytes: [UInt8]) throws -> String {
        try Data(bytes).write(to: URL(filePath: path(name)))
        return path(name)
    }

    /// Runs the shipped pipeline, asking often, against the service.
    func runSelfie(
        _ service: Service, document: String? = nil, environment more: [String: String] = [:], _ arguments: String...
    ) async throws -> ProgramEnd {
        try await startSelfie(service, document: document, environment: more, arguments).end
    }

    func startSelfie(
        _ service: Service, document: String? = nil, environment more: [String: String] = [:],
        _ arguments: [String] = []
    ) throws -> RunningProgram {
        let file = try write("selfie.json", try document ?? Documents.selfie())
        let all = ["run", file, "-i", "video=\(Documents.video)", "--output", output] + arguments
        return try program.start(
            all, environment: environment(service.environment.merging(more) { $1 }), folder: folder)
    }

    /// The environment of the program: nothing of the test's own, but where the loader finds the toolchain.
    func environment(_ more: [String: String] = [:]) -> [String: String] {
        BuiltProgram.environment(home: folder, ["PIPELINE_STATE_DIR": state].merging(more) { $1 })
    }

    func start(
        _ arguments: String..., environment more: [String: String] = [:], limit: Duration = .seconds(60)
    ) throws -> RunningProgram {
        try program.start(arguments, environment: environment(more), folder: folder, limit: limit)
    }

    func run(
        _ arguments: String..., environment more: [String: String] = [:], limit: Duration = .seconds(60)
    ) async throws -> ProgramEnd {
        try await program.run(arguments, environment: environment(more), folder: folder, limit: limit)
    }

    /// Stops a program (SIGSTOP) at a moment at which it writes nothing: one that is stopped in the middle of a transaction
    /// holds the journal, and no other can write.
    func stop(_ program: RunningProgram) async throws {
        let journal = try SQLiteConnection(state + "/journal.sqlite", busyTimeout: .seconds(10))
        try journal.execute("BEGIN IMMEDIATE")
        defer { journal.rollBack() }
        program.signal(SIGSTOP)
        while try !String(contentsOfFile: "/proc/\(program.processID)/stat", encoding: .utf8).contains(") T ") {
            await Task.yield()
        }
    }

    /// Returns what `show --json` says of the job.
    func show(_ job: String = "last") async throws -> JSON {
        let end = try await run("show", job, "--json")
        try #require(end.cause == .exited(0), "\(end)")
        return try JSON.parse(Array(end.output.utf8))
    }

    /// The job's events, as `logs --json` tells them.
    func events(_ job: String = "last") async throws -> [JSON] {
        let end = try await run("logs", job, "--json")
        try #require(end.cause == .exited(0), "\(end)")
        return try end.lines.map { try JSON.parse(Array($0.utf8)) }
    }

    /// The names of all files below a folder, relative to it, sorted.
    func files(below folder: String) -> [String] {
        let names = FileManager.default.enumerator(atPath: folder)?.allObjects as? [String] ?? []
        var isFolder: ObjCBool = false
        return names.filter { name in
            FileManager.default.fileExists(atPath: "\(folder)/\(name)", isDirectory: &isFolder) && !isFolder.boolValue
        }.sorted()
    }

    /// Expects that everything in the state folder is the user's alone.
    func expectPrivateState() throws {
        let names = FileManager.default.enumerator(atPath: state)?.allObjects as? [String] ?? []
        try #require(!names.isEmpty)
        for path in [state] + names.map({ state + "/" + $0 }) {
            var status = stat()
            // What an owner that is still there has removed meanwhile.
            guard lstat(path, &status) == 0 else { continue }
            let expected: mode_t = status.st_mode & S_IFMT == S_IFDIR ? 0o700 : 0o600
            #expect(status.st_mode & 0o777 == expected, "\(path)")
        }
    }

    func bytes(_ path: String) -> [UInt8]? { FileManager.default.contents(atPath: path).map { Array($0) } }

    /// With `PIPELINE_KEEP` set it stays, to be looked at.
    func remove() {
        if ProcessInfo.processInfo.environment["PIPELINE_KEEP"] != nil { return print("kept: \(folder)") }
        // A test may have taken rights away.
        for folder in [state, output] { chmod(folder, 0o700) }
        try? FileManager.default.removeItem(atPath: folder)
    }
}

/// A workplace for the time of the body, in a lane of its own.
func withWorkplace<Result>(_ body: (Workplace) async throws -> Result) async throws -> Result {
    await Lanes.shared.enter()
    let result = await Swift.Result { try await inWorkplace(body) }
    await Lanes.shared.leave()
    return try result.get()
}

/// Returns the same beside the lanes: for what tests in a lane wait for.
func inWorkplace<Result>(_ body: (Workplace) async throws -> Result) async throws -> Result {
    let workplace = try Workplace()
    defer { workplace.remove() }
    return try await body(workplace)
}

extension Result where Failure == any Error {
    init(_ body: () async throws -> Success) async {
        do {
            self = .success(try await body())
        } catch {
            self = .failure(error)
        }
    }
}
