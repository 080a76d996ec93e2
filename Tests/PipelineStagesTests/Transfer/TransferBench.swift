import Foundation
import JSONPath
import PipelineCore
import PipelineHTTP
import Synchronization
import Testing

@testable import PipelineStages

/// One transfer of a document, planned for real, and called as the engine calls it, over real sockets.
final class TransferBench {
    let stage: AnyStage
    var state = TransferHost.State()
    let folder: String
    var inputs: JSONObject = [:]
    var captures: [String: JSON] = [:]
    var retry = RetryPolicy()
    var onPass: @Sendable (CrashPoint, Int) -> Void = { _, _ in }

    /// - Parameter document: the stage's JSON; its service is `api`.
    init(_ document: String, url: String, folder: String, captured: [String: [String]] = [:]) throws {
        stage = try #require(try Self.plan(document, url: url, captured: captured).stages.last).stage
        self.folder = folder
    }

    /// What the uploads of all tests have made out of their files.
    static let digests = DigestCache()

    static func plan(_ document: String, url: String = "http://127.0.0.1:1", captured: [String: [String]] = [:]) throws
        -> Plan
    {
        let network = Network(transport: CurlTransport())
        let others = captured.map { id, names in
            let captures = names.map { "\"\($0)\": \"$\"" }.joined(separator: ", ")
            return """
                { "id": "\(id)", "kind": "download", "service": "api", "request": { "GET": "/x" }, "to": "x",
                  "capture": { \(captures) } },
                """
        }.joined()
        let text = """
            { "pipeline": 1, "name": "test", "inputs": { "file": { "type": "json" } },
              "services": { "api": { "url": "\(url)", "with": [ { "bearer": "token" } ] } },
              "stages": [ \(others) \(document) ] }
            """
        let kinds = StandardStages.kinds(network: network, decorators: .standard, digests: digests)
        let catalogue = Catalogue(kinds: kinds) { DecoratorCatalogue.standard.check($0, findings: $1) }
        return try Planner(catalogue: catalogue).plan(SourceText(name: "test.json", text: text))
    }

    /// Returns what is said of a document that is wrong.
    static func report(_ document: String) -> String {
        do {
            _ = try plan(document)
            return ""
        } catch let error as DefinitionError {
            return error.report
        } catch {
            return "\(error)"
        }
    }

    /// One try; a process that died before starts again with what the journal has.
    @discardableResult func resume(
        crash: (CrashPoint, Int)? = nil
    ) async -> Result<StageOutcome<[UInt8]>, StageFailure> {
        let host = host(crash)
        defer { state = host.state.withLock { $0 } }
        return await stage.resume(state.checkpoint, host)
    }

    /// Tries until there is an end, as the engine would without its waits.
    func run(limit: Int = 12) async -> Result<StageOutcome<[UInt8]>, StageFailure> {
        var last = await resume()
        for _ in 1..<limit {
            guard case .failure(.failed(let failed)) = last, failed.kind != .definite else { return last }
            last = await resume()
        }
        return last
    }

    func cancel() async -> StageFailure? { await stage.cancel(state.checkpoint, host(nil)) }

    /// Changes what the journal has of an upload.
    func change(_ change: (inout UploadCheckpoint) -> Void) throws {
        var saved = try JSONDecoder().decode(UploadCheckpoint.self, from: Data(try #require(state.checkpoint)))
        change(&saved)
        state.checkpoint = Array(try JSONEncoder().encode(saved))
    }

    /// A task that can be cancelled.
    func host(_ crash: (CrashPoint, Int)?) -> TransferHost {
        state.isDead = false
        state.points = []
        state.crash = crash
        return TransferHost(
            state, folders: JobFolders(document: folder, output: folder), inputs: inputs, stages: captures,
            retry: retry,
            onPass: onPass)
    }
}

extension Result where Success == StageOutcome<[UInt8]>, Failure == StageFailure {
    var finished: JSONObject? { if case .success(.finished(let captures)) = self { captures } else { nil } }
    var failedTry: AttemptFailure? { if case .failure(.failed(let failure)) = self { failure } else { nil } }
    /// The title of a failure that is definite.
    var refusal: String? { failedTry.flatMap { $0.kind == .definite ? $0.failure.title : nil } }
    var isUnknown: Bool { if case .success(.unknown) = self { true } else { false } }
    var isStopped: Bool { if case .failure(.stopped) = self { true } else { false } }
    var hasDied: Bool { if case .failure(.journal) = self { true } else { false } }
}
