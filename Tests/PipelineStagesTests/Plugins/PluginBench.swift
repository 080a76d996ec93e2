import CLibrary
import JSONPath
import PipelineCore
import PipelineStages
import PipelineTestKit
import Testing

/// A plugin's program in a folder of its own, and a stage of its kind, called as the engine calls it.
final class PluginBench {
    let folder: TemporaryFolder
    let plugins: PluginHost
    let host: MemoryStageHost
    var checkpoint: [UInt8]?

    static var quick: PluginLimits {
        PluginLimits(
            describing: .seconds(20), cancelling: .seconds(20), writing: .seconds(20), grace: .seconds(3),
            line: 64 << 10, output: 1 << 20, description: 128 << 10)
    }

    /// - Parameters:
    ///   - body: what the Python program does with the message in `first`, after `describe` was answered.
    ///   - describing: further members of the description, as Python.
    init(
        _ body: String, describing: String = "{}", limits: PluginLimits = quick, secrets: [String: String] = [:]
    ) throws {
        folder = TemporaryFolder()
        plugins = Self.host(in: folder.path, limits)
        host = MemoryStageHost(
            stage: "work", retry: RetryPolicy(), secrets: secrets,
            folders: JobFolders(document: folder.path, output: folder.path))
        try program("pipeline-stage-demo", Self.prelude(describing) + body)
    }

    /// A bench over programs that stand somewhere else.
    init(programs: String, limits: PluginLimits = quick, inputs: JSONObject = [:]) throws {
        folder = TemporaryFolder()
        plugins = Self.host(in: programs, limits)
        host = MemoryStageHost(
            stage: "work", retry: RetryPolicy(), inputs: inputs,
            folders: JobFolders(document: folder.path, output: folder.path))
    }

    private static func host(in folder: String, _ limits: PluginLimits) -> PluginHost {
        let variables = ["PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/nowhere", "PIPELINE_SECRET_TOKEN": "hush"]
        return PluginHost(
            folders: PluginFolders([folder]), settings: PluginSettings(environment: variables, limits: limits),
            reserved: [.stage: ["upload"]])
    }

    /// The folder of the programs that are installed with `pipeline`.
    static var shipped: String {
        let parts = #filePath.split(separator: "/").dropLast(4)
        return "/" + parts.joined(separator: "/") + "/Sources/pipeline/Plugins"
    }

    func program(_ name: String, _ text: String) throws {
        try folder.write(name, text)
        chmod("\(folder.path)/\(name)", 0o755)
    }

    static func prelude(_ describing: String) -> String {
        """
        #!/usr/bin/env python3
        import json, os, signal, sys, time
        def send(**message):
            sys.stdout.write(json.dumps(message) + "\\n")
            sys.stdout.flush()
        def receive():
            return json.loads(sys.stdin.readline())
        first = receive()
        if first["type"] == "describe":
            said = dict(type="description", protocol=1, kind="demo", version="1", captures=["id"],
                        schema={"type": "object"})
            said.update(\(describing))
            send(**said)
            sys.exit(0)

        """
    }

    /// The plan of a document with one stage of the kind; `members` are further ones of its object.
    func plan(_ members: String = "", kind: String = "demo") async throws -> Plan {
        let text = """
            { "pipeline": 1, "name": "test", "inputs": { "n": { "type": "json" } },
              "stages": [ { "id": "work", "kind": "\(kind)"\(members.isEmpty ? "" : ", " + members) } ] }
            """
        let source = SourceText(name: "test.json", text: text)
        let catalogue = Catalogue(kinds: await plugins.plugins(namedIn: source).stages) { _, _ in }
        return try Planner(catalogue: catalogue).plan(source)
    }

    /// The report of a document that is wrong; empty when it is right.
    func report(_ members: String = "", kind: String = "demo") async throws -> String {
        do {
            _ = try await plan(members, kind: kind)
            return ""
        } catch let error as DefinitionError {
            return error.report
        }
    }

    @discardableResult func resume(
        _ members: String = "", kind: String = "demo", through other: (any StageHost)? = nil
    ) async throws -> Result<StageOutcome<[UInt8]>, StageFailure> {
        let stage = try #require(try await plan(members, kind: kind).stages.first?.stage)
        let result = await stage.resume(checkpoint, other ?? host)
        checkpoint = host.read(\.checkpoint) ?? checkpoint
        if case .success(.waiting(let bytes, _, _)) = result { checkpoint = bytes }
        return result
    }

    func cancel(_ members: String = "", kind: String = "demo") async throws -> StageFailure? {
        let stage = try #require(try await plan(members, kind: kind).stages.first?.stage)
        return await stage.cancel(checkpoint, host)
    }

    /// The checkpoint as text.
    var kept: String? { checkpoint.map { String(decoding: $0, as: UTF8.self) } }

    /// Returns whether the process whose number a file holds still runs. One that has been killed may need a moment to
    /// go.
    func runs(_ file: String) throws -> Bool {
        let number = try #require(folder.read(file))
        let end = ContinuousClock.now + .seconds(5)
        while ContinuousClock.now < end {
            guard let facts = TemporaryFolder.text(of: "/proc/\(number)/stat"), !facts.contains(") Z") else {
                return false
            }
            sched_yield()
        }
        return true
    }
}

extension Result where Success == StageOutcome<[UInt8]>, Failure == StageFailure {
    /// The captures of a stage that finished.
    var captures: JSONObject? { if case .success(.finished(let captures)) = self { captures } else { nil } }
    /// The failure of a try.
    var failed: AttemptFailure? { if case .failure(.failed(let failed)) = self { failed } else { nil } }
    var lost: UnknownSubmit? { if case .success(.unknown(_, let submit)) = self { submit } else { nil } }
}
