import JSONPath
import PipelineTestKit
import Synchronization

/// A service whose jobs end once the test lets them, and that counts what it made and cancelled; `API_URL` names it.
final class HeldService: Sendable {
    private struct State {
        /// The names by the keys that they were submitted under.
        var made: [String: String] = [:]
        var cancelled: Set<String> = []
        var isOpen = false
    }

    private final class Box: Sendable {
        let state = Mutex(State())
    }

    private let box: Box
    let server: LoopbackServer

    init() throws {
        let box = Box()
        self.box = box
        server = try LoopbackServer { request in Self.answer(request, box) }
    }

    private static func answer(_ request: ReceivedRequest, _ box: Box) -> ScriptedAnswer {
        let id = String(request.path.split(separator: "/").last ?? "")
        switch request.method {
        case "POST":
            let name = (try? JSON.parse(request.body))?["name"]?.string ?? ""
            let key = request.header("Idempotency-Key") ?? ""
            box.state.withLock { $0.made[key] = name }
            return .json(#"{"id": "\#(key)"}"#)
        case "DELETE":
            box.state.withLock { _ = $0.cancelled.insert(id) }
            return .json("{}")
        default:
            return .json(box.state.withLock { $0.isOpen } ? #"{"state": "done"}"# : #"{"state": "running"}"#)
        }
    }

    /// The names that it made something of, one for each key that was submitted.
    var names: [String] { box.state.withLock { $0.made.values.sorted() } }
    var cancelled: Int { box.state.withLock { $0.cancelled.count } }
    func open() { box.state.withLock { $0.isOpen = true } }

    static let document = """
        { "pipeline": 1, "name": "held", "retry": { "delay": "20ms", "max": "100ms" },
          "inputs": { "name": { "type": "string" } },
          "batch": { "key": "${{ inputs.name }}" },
          "services": { "api": { "url": "${{ env.API_URL }}" } },
          "stages": [
            { "id": "model", "kind": "compute", "service": "api",
              "submit": { "POST": "/jobs", "json": { "name": "${{ inputs.name }}" },
                          "once": { "key": "Idempotency-Key" }, "capture": { "id": "$.id" } },
              "poll": { "GET": "/jobs/${{ self.id }}", "every": "100ms", "status": "$.state", "succeeded": ["done"] },
              "cancel": { "DELETE": "/jobs/${{ self.id }}" } } ] }
        """

    /// A table of so many names, and these.
    static func rows(_ count: Int) -> (text: String, names: [String]) {
        let names = (1...count).map { "talk-\($0)" }
        return ("name\n" + names.map { $0 + "\n" }.joined(), names)
    }
}
