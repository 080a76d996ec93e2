import Foundation
import JSONPath
import PipelineCore
import PipelineTestKit
import Synchronization

/// What a service was seen to answer, for one example: a file of `Fixtures/Exchanges`. `{{key STAGE}}` stands for the key
/// of a stage's submit, `{{server}}` for the server of the test.
struct ExchangeFixture: Sendable {
    let name: String
    /// The values of inputs; those in `files` are paths.
    let inputs: JSONObject
    let environment: [String: String]
    let secrets: [String: String]
    /// Local files that the example reads, by name.
    let files: [String: String]
    /// Answers by `METHOD /path`; with a query only where the key has one, with AWS's target behind a space.
    let exchanges: [String: [JSON]]
    /// What requests must have held: text in their bodies, and fields, with a value for all of them or a list of one for
    /// each.
    let sent: JSONObject
    /// The files that the example writes, with their content.
    let output: [String: String]
    let warnings: [String]
    /// How the job ends: it succeeds where nothing is said.
    let end: JobPhase
    /// What the service calls back with, by stage.
    let callbacks: JSONObject

    init(name: String, server: String, in folder: URL) throws {
        let bytes = try Data(contentsOf: folder.appendingPathComponent(name + ".json"))
        let text = String(decoding: bytes, as: UTF8.self).replacingOccurrences(of: "{{server}}", with: server)
            .replacing(/\{\{key ([a-z]+)\}\}/) { found in
                SubmitName(jobKey: "example", step: StepKey(stage: String(found.output.1))).key(ofGeneration: 1)
            }
        let json = try JSON.parse(Array(text.utf8))
        func texts(_ key: String) -> [String: String] {
            Dictionary(uniqueKeysWithValues: (json[key]?.object ?? [:]).map { ($0.name, $0.value.string ?? "") })
        }
        self.name = name
        inputs = json["inputs"]?.object ?? [:]
        environment = texts("environment")
        secrets = texts("secrets")
        files = texts("files")
        exchanges = Dictionary(
            uniqueKeysWithValues: (json["exchanges"]?.object ?? [:]).map { ($0.name, $0.value.array ?? []) })
        sent = json["sent"]?.object ?? [:]
        output = texts("output")
        callbacks = json["callbacks"]?.object ?? [:]
        warnings = (json["warnings"]?.array ?? []).compactMap(\.string)
        end = json["end"]?.string.flatMap { JobPhase(rawValue: $0) } ?? .succeeded
    }
}

/// A service on loopback that answers as a fixture says: each row of answers in order, the last one for ever.
final class FixtureService: Sendable {
    private final class Script: Sendable {
        struct State {
            var rows: [String: [JSON]] = [:]
            var used: Set<String> = []
            var strays: [String] = []
        }
        let state = Mutex(State())

        func answer(to request: ReceivedRequest) -> ScriptedAnswer {
            let keys = FixtureService.keys(of: request)
            let answer = state.withLock { state -> JSON? in
                guard let key = keys.first(where: { state.rows[$0] != nil }), var row = state.rows[key],
                    let first = row.first
                else {
                    state.strays.append(keys[0])
                    return nil
                }
                state.used.insert(key)
                if row.count > 1 { row.removeFirst() }
                state.rows[key] = row
                return first
            }
            guard let answer else { return .json(#"{"error":"the fixture has no answer to this"}"#, status: 418) }
            return FixtureService.answer(answer)
        }
    }

    private let script: Script
    private let server: LoopbackServer

    init() throws {
        let script = Script()
        self.script = script
        server = try LoopbackServer { script.answer(to: $0) }
    }

    var url: String { server.url }
    var requests: [ReceivedRequest] { server.requests }
    /// What was asked and not foreseen.
    var unforeseen: [String] { script.state.withLock(\.strays) }
    /// What was foreseen and not asked.
    var unused: [String] { script.state.withLock { Set($0.rows.keys).subtracting($0.used).sorted() } }

    func play(_ fixture: ExchangeFixture) { script.state.withLock { $0.rows = fixture.exchanges } }
    func stop() { server.stop() }

    /// The keys that a request answers to, the most exact first.
    static func keys(of request: ReceivedRequest) -> [String] {
        let target = request.header("X-Amz-Target").map { " \($0)" } ?? ""
        return ["\(request.method) \(request.target)\(target)", "\(request.method) \(request.path)\(target)"]
    }

    private static func answer(_ json: JSON) -> ScriptedAnswer {
        let headers = (json["headers"]?.object ?? [:]).map { ($0.name, $0.value.string ?? "") }
        let status = json["status"]?.number?.int ?? 200
        guard let body = json["body"] else { return .status(status, headers: headers) }
        let hasType = headers.contains { $0.0.lowercased() == "content-type" }
        let type = hasType || body.string != nil ? [] : [("Content-Type", "application/json")]
        return .status(status, headers: headers + type, body: body.string ?? body.text)
    }
}
