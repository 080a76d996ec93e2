import JSONPath
import PipelineTestKit
import Synchronization

/// A service whose jobs end when the test lets them, and that counts what it made.
final class SlowService: Sendable {
    private struct State {
        var made: [String: String] = [:]
        var isOpen = false
        var cancelled = 0
    }

    private final class Box: Sendable {
        let state = Mutex(State())
    }

    private let box: Box
    let server: LoopbackServer

    init() throws {
        let box = Box()
        self.box = box
        server = try LoopbackServer { request in
            if request.method == "DELETE" {
                box.state.withLock { $0.cancelled += 1 }
                return .json("{}")
            }
            guard request.method == "POST" else {
                return .json(box.state.withLock { $0.isOpen } ? #"{"state": "done"}"# : #"{"state": "running"}"#)
            }
            let name = (try? JSON.parse(request.body))?["name"]?.string ?? ""
            let key = request.header("Idempotency-Key") ?? ""
            box.state.withLock { $0.made[key] = name }
            return .json(#"{"id": "\#(key)"}"#)
        }
    }

    /// The names that it made something of, one for each key that was submitted.
    var names: [String] { box.state.withLock { $0.made.values.sorted() } }
    var cancelled: Int { box.state.withLock { $0.cancelled } }
    func open() { box.state.withLock { $0.isOpen = true } }

    /// A document whose jobs are of the service, which `API_URL` names.
    static let document = """
        { "pipeline": 1, "name": "slow", "retry": { "delay": "20ms", "max": "100ms" },
          "inputs": { "name": { "type": "string" } },
          "services": { "api": { "url": "${{ env.API_URL }}" } },
          "stages": [
            { "id": "model", "kind": "compute", "service": "api",
              "submit": { "POST": "/jobs", "json": { "name": "${{ inputs.name }}" },
                          "once": { "key": "Idempotency-Key" }, "capture": { "id": "$.id" } },
              "poll": { "GET": "/jobs/${{ self.id }}", "every": "300ms", "status": "$.state", "succeeded": ["done"] },
              "cancel": { "DELETE": "/jobs/${{ self.id }}" } } ] }
        """
}
