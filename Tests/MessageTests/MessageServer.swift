import Foundation
import JSONPath
import PipelineTestKit
import Synchronization

/// The server of a case, as its `server.json` has it: a list of rules, each with the request that it is about (`on`;
/// without it any), and what is done: `status`, `headers`, `body`, or `do` with something that servers should not do.
///
/// Rules for the same request are used one after the other, the last one for ever. `SERVER` stands for its own URL,
/// `OTHER` for the same server as another origin.
final class MessageServer: Sendable {
    private let server: LoopbackServer
    var url: String { server.url }
    var otherURL: String { server.otherURL }

    /// Nil without a script.
    init?(script: Data?) throws {
        guard let script else { return nil }
        let rules = try JSON.parse(Array(script)).array ?? []
        let known = Mutex((own: "", other: ""))
        let used = Mutex([String: Int]())
        let server = try LoopbackServer { request in
            let line = "\(request.method) \(request.path)"
            let fitting = rules.filter { $0["on"]?.string.map { $0 == line } ?? true }
            let count = used.withLock { used in
                used[line, default: 0] += 1
                return used[line, default: 0]
            }
            guard !fitting.isEmpty else { return .json(#"{"detail":"nobody knows \#(line)"}"#, status: 404) }
            return Self.answer(fitting[min(count, fitting.count) - 1], known.withLock { $0 })
        }
        known.withLock { $0 = (server.url, server.otherURL) }
        self.server = server
    }

    func stop() { server.stop() }

    private static func answer(_ rule: JSON, _ address: (own: String, other: String)) -> ScriptedAnswer {
        func filled(_ text: String) -> String {
            text.replacing("SERVER", with: address.own).replacing("OTHER", with: address.other)
        }
        let headers = (rule["headers"]?.object ?? [:]).map { ($0.name, filled($0.value.string ?? "")) }
        switch rule["do"]?.string {
        case "reset": return .reset()
        case "silence": return .silence
        case "garbage": return .garbage
        case "close": return ScriptedAnswer([.readBody, .close])
        case "fill": return .filled(Int64(rule["size"]?.number?.int ?? 0))
        case "truncate": return .truncated(100_000, after: 5_000)
        default: break
        }
        let body = rule["body"].map { $0.string ?? $0.text } ?? ""
        return .status(rule["status"]?.number?.int ?? 200, headers: headers, body: filled(body))
    }
}
