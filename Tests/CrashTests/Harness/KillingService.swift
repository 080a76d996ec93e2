import Foundation
import JSONPath
import PipelineTestKit
import Synchronization

/// A service that makes one thing of each idempotency key, and kills a process (SIGKILL) at a request that the test chose.
final class KillingService: Sendable {
    private struct State {
        var requests = 0
        var killAt = Int.max
        var process: Int32?
        /// The keys that each item's submits came with.
        var keys: [String: Set<String>] = [:]
        /// How often each thing is still said to run.
        var polls: [String: Int] = [:]
    }

    private final class Box: Sendable {
        let state = Mutex(State())
    }

    private let box: Box
    let server: LoopbackServer

    /// - Parameter polls: how often a thing is said to run before it is done.
    init(polls: Int = 0) throws {
        let box = Box()
        self.box = box
        server = try LoopbackServer { request in Self.answer(request, box, polls) }
    }

    /// The keys that each item's submits came with, by its name.
    var keys: [String: Set<String>] { box.state.withLock { $0.keys } }

    /// Has the service kill the process at the request that comes so many after now, the first being 1; nil for none.
    func kill(_ process: Int32?, at step: Int?) {
        box.state.withLock { state in
            state.process = process
            state.killAt = step.map { state.requests + $0 } ?? .max
        }
    }

    /// Names the process for a kill that was arranged before it was there.
    func aim(at process: Int32) { box.state.withLock { $0.process = process } }

    private static func answer(_ request: ReceivedRequest, _ box: Box, _ polls: Int) -> ScriptedAnswer {
        box.state.withLock { state in
            state.requests += 1
            if state.requests >= state.killAt, let process = state.process {
                Foundation.kill(process, SIGKILL)
                state.killAt = .max
            }
            guard request.method == "POST" else {
                let left = state.polls[request.path, default: polls]
                state.polls[request.path] = left - 1
                return .json(left > 0 ? #"{"state": "running"}"# : #"{"state": "done"}"#)
            }
            let name = (try? JSON.parse(request.body))?["name"]?.string ?? ""
            let key = request.header("Idempotency-Key") ?? ""
            state.keys[name, default: []].insert(key)
            return .json(#"{"id": "\#(key)"}"#)
        }
    }

    /// A document of one computation at it, whose input is `name`; `API_URL` names the service.
    static let document = """
        { "pipeline": 1, "name": "model", "retry": { "attempts": 1000 }, "inputs": { "name": { "type": "string" } },
          "services": { "api": { "url": "${{ env.API_URL }}", "limits": { "computations": 40 } } },
          "stages": [
            { "id": "model", "kind": "compute", "service": "api", "cost": "0.5",
              "submit": { "POST": "/jobs", "json": { "name": "${{ inputs.name }}" },
                          "once": { "key": "Idempotency-Key" }, "capture": { "id": "$.id" } },
              "poll": { "GET": "/jobs/${{ self.id }}", "every": "20ms", "status": "$.state",
                        "succeeded": ["done"] } } ] }
        """

    /// A table of so many names.
    static func rows(_ count: Int) -> String { "name\n" + (1...count).map { "talk-\($0)\n" }.joined() }

    /// How often a test kills: `PIPELINE_KILLS`, else as the test says.
    static let kills = ProcessInfo.processInfo.environment["PIPELINE_KILLS"].flatMap(Int.init)
}
