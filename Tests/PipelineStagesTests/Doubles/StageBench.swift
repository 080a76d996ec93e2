import JSONPath
import PipelineCore
import PipelineHTTP
import PipelineStages
import Testing

/// One stage of a document, planned for real, and called as the engine calls it.
final class StageBench {
    let host: MemoryStageHost
    let stage: AnyStage
    var checkpoint: [UInt8]?
    /// The last wait.
    private(set) var wake: Timestamp?
    private(set) var reason: WaitReason?

    /// - Parameters:
    ///   - stages: the `stages` array's JSON; the last is the one under test.
    ///   - header: further members of the document.
    ///   - secretInputs: those of the inputs that are declared to be secret.
    init(
        _ stages: String, network: Network, inputs: JSONObject = [:], secrets: [String: String] = [:],
        captures: [String: JSON] = [:], header: String = "", url: String = "http://api.test/v1",
        with decorators: String = "[]", folders: JobFolders = JobFolders(document: "/tmp", output: "/tmp"),
        polls: SharedPolls = SharedPolls(), secretInputs: Set<String> = [], limits: String? = nil
    ) throws {
        let plan = try Self.plan(
            stages, network: network, inputs: inputs.names, header: header, url: url, with: decorators,
            polls: polls, secretInputs: secretInputs, limits: limits)
        let planned = try #require(plan.stages.last)
        stage = planned.stage
        host = MemoryStageHost(
            stage: planned.id, retry: planned.retry, inputs: inputs, secrets: secrets, stages: captures,
            folders: folders)
    }

    static func plan(
        _ stages: String, network: Network, inputs: [String] = [], header: String = "",
        url: String = "http://api.test/v1", with decorators: String = "[]",
        polls: SharedPolls = SharedPolls(), secretInputs: Set<String> = [], limits: String? = nil
    ) throws -> Plan {
        let declared = inputs.map { name in
            "\"\(name)\": { \"type\": \"json\", \"secret\": \(secretInputs.contains(name)) }"
        }.joined(separator: ", ")
        let limits = limits.map { ", \"limits\": \($0)" } ?? ""
        let text = """
            { "pipeline": 1, "name": "test", \(header) "inputs": { \(declared) },
              "services": { "api": { "url": "\(url)", "with": \(decorators)\(limits) } },
              "stages": [ \(stages) ] }
            """
        let catalogue = Catalogue(
            kinds: kinds(network, polls)
        ) { definitions, findings in
            DecoratorCatalogue.standard.check(definitions, findings: findings)
        }
        return try Planner(catalogue: catalogue).plan(SourceText(name: "test.json", text: text))
    }

    static func kinds(_ network: Network, _ polls: SharedPolls = SharedPolls()) -> [StageKind] {
        StandardStages.kinds(network: network, decorators: .standard, polls: polls)
    }

    /// The report of a document that is wrong; empty when it is right.
    static func report(_ stages: String, header: String = "", with decorators: String = "[]") -> String {
        do {
            _ = try plan(stages, network: ScriptedService().network, header: header, with: decorators)
            return ""
        } catch let error as DefinitionError {
            return error.report
        } catch {
            return "\(error)"
        }
    }

    /// Calls the stage once, at the time of its wake.
    @discardableResult func resume() async -> Result<StageOutcome<[UInt8]>, StageFailure> {
        if let wake { host.read { $0.now = max($0.now, wake) } }
        let result = await stage.resume(checkpoint, host)
        switch result {
        case .success(.waiting(let bytes, let until, let why)):
            checkpoint = bytes
            wake = until.time
            reason = why
        case .success(.unknown(let bytes, _)): checkpoint = bytes ?? checkpoint
        case .success(.finished(let captures)):
            host.read { state in for member in captures { state.captures[member.name] = member.value } }
        case .failure: checkpoint = host.read(\.checkpoint) ?? checkpoint
        }
        return result
    }

    /// Calls the stage until it no longer waits; at most so often.
    func run(limit: Int = 100) async -> Result<StageOutcome<[UInt8]>, StageFailure> {
        for _ in 0..<limit {
            let result = await resume()
            guard case .success(.waiting) = result else { return result }
        }
        Issue.record("still waiting after \(limit) calls")
        return .failure(.stopped)
    }

    func cancel() async -> StageFailure? { await stage.cancel(checkpoint, host) }

    /// What the stage has captured.
    var captures: JSONObject { host.read(\.captures) }
    /// How long the stage asked to wait, in seconds.
    var wait: Double? { wake.map { ($0 - host.now).seconds } }
}

extension Result where Success == StageOutcome<[UInt8]>, Failure == StageFailure {
    var isFinished: Bool { if case .success(.finished) = self { true } else { false } }
    var isWaiting: Bool { if case .success(.waiting) = self { true } else { false } }
    var unknown: UnknownSubmit? { if case .success(.unknown(_, let submit)) = self { submit } else { nil } }
    var tryFailure: AttemptFailure? { if case .failure(.failed(let failure)) = self { failure } else { nil } }
    /// The title of a definite failure.
    var definite: String? { tryFailure.flatMap { $0.kind == .definite ? $0.failure.title : nil } }
}
