import HTTPTypes
import JSONPath
import PipelineTestKit
import Synchronization

/// A service that makes one thing of each idempotency key, and counts what it made; names that begin with `bad` are
/// refused until it is mended.
final class BatchService: Sendable {
    private struct State {
        var made: [String: String] = [:]
        var isMended = false
    }

    private let state: Box
    let server: LoopbackServer

    private final class Box: Sendable {
        let state = Mutex(State())
    }

    init() throws {
        let box = Box()
        state = box
        server = try LoopbackServer { request in Self.answer(request, box) }
    }

    /// The names that it made something of, one for each key that was submitted.
    var names: [String] { state.state.withLock { $0.made.values.sorted() } }

    func mend() { state.state.withLock { $0.isMended = true } }

    private static func answer(_ request: ReceivedRequest, _ box: Box) -> ScriptedAnswer {
        guard request.method == "POST" else {
            return .json(request.path.hasPrefix("/jobs/") ? #"{"state": "done"}"# : #"{"text": "\#(request.path)"}"#)
        }
        let name = (try? JSON.parse(request.body))?["name"]?.string ?? ""
        let key = request.header("Idempotency-Key") ?? ""
        let isRefused = box.state.withLock { state in
            if name.hasPrefix("bad"), !state.isMended { return true }
            state.made[key] = name
            return false
        }
        return isRefused ? .json(#"{"error": "too long"}"#, status: 422) : .json(#"{"id": "\#(key)"}"#)
    }

    static let document = """
        { "pipeline": 1, "name": "caption", "retry": { "delay": "20ms", "max": "100ms" },
          "inputs": { "file": { "type": "file" }, "lang": { "type": "string", "default": "en" } },
          "services": { "api": { "url": "${{ env.API_URL }}" } },
          "stages": [
            { "id": "model", "kind": "compute", "service": "api",
              "submit": { "POST": "/jobs", "json": { "name": "${{ job.item }}", "lang": "${{ inputs.lang }}" },
                          "once": { "key": "Idempotency-Key" }, "capture": { "id": "$.id" } },
              "poll": { "GET": "/jobs/${{ self.id }}", "every": "20ms", "status": "$.state", "succeeded": ["done"] } },
            { "id": "fetch", "kind": "download", "service": "api",
              "request": { "GET": "/texts/${{ stages.model.id }}" }, "to": "${{ stem(inputs.file) }}.txt" } ] }
        """
}
