import JSONPath
import PipelineCore
import PipelineTestKit
import Synchronization
import Testing

@testable import PipelineStages

@Suite("An upload in parts whose links are no longer good")
struct RenewedPartsTests {
    /// Makes uploads, each with links of its own, and knows to which a part went.
    final class Service: LoopbackService {
        struct State: Sendable {
            var uploads: [String: [Int: [UInt8]]] = [:]
            /// Statuses of the next parts in place of their own; 0 for that.
            var refusals: [Int] = []
            /// What stands in these beside the status.
            var refusalFields: [(String, String)] = []
            var completed: [String] = []
        }

        let state = Mutex(State())
        let server = ServiceServer()

        init(refusals: [Int], fields: [(String, String)] = []) throws {
            state.withLock { state in
                state.refusals = refusals
                state.refusalFields = fields
            }
            try server.start(for: self)
        }

        var lines: [String] { requests.map { "\($0.method) \($0.path)" } }
        var completed: [String] { state.withLock(\.completed) }

        func bytes(of upload: String) -> [UInt8] {
            state.withLock { $0.uploads[upload, default: [:]].sorted { $0.key < $1.key }.flatMap(\.value) }
        }

        func answer(_ request: ReceivedRequest) -> ScriptedAnswer {
            ScriptedAnswer([.readBody, .then { [weak self] in self?.answer(whole: $0) ?? .status(500) }])
        }

        private func answer(whole request: ReceivedRequest) -> ScriptedAnswer {
            let path = request.path.split(separator: "/").map(String.init)
            let url = url
            return state.withLock { state in
                switch (request.method, path.count) {
                case ("POST", 1) where path[0] == "new":
                    let id = "up\(state.uploads.count + 1)"
                    state.uploads[id] = [:]
                    return .json("{\"id\": \"\(id)\", \"link\": \"\(url)/\(id)/\"}", status: 201)
                case ("GET", 1): return .json("{\"there\": \(state.uploads[path[0]]?.values.joined().count ?? 0)}")
                case ("POST", 2):
                    state.completed.append(path[0])
                    return .json("{}")
                case ("PUT", 2):
                    let status = state.refusals.isEmpty ? 0 : state.refusals.removeFirst()
                    if status != 0 { return .status(status, headers: state.refusalFields) }
                    state.uploads[path[0], default: [:]][Int(path[1]) ?? 0] = request.body
                    return .json("{}")
                default: return .status(204)
                }
            }
        }
    }

    private let folder = TransferFolder()
    private let content = TransferFolder.bytes(2_500)

    private func bench(_ service: Service, _ more: String) throws -> TransferBench {
        folder.write("data.bin", content)
        return try TransferBench(
            """
            { "id": "move", "kind": "upload", "service": "api", "file": "data.bin", "protocol": "parts",
              "partSize": "1KB", \(more) }
            """, url: service.url, folder: folder.path, captured: ["start": ["id", "token"]])
    }

    /// An upload that an earlier stage makes, of which a part is kept.
    private func begun(
        _ service: Service, _ more: String = "", renews source: String? = nil
    ) async throws -> TransferBench {
        let bench = try bench(
            service,
            """
            "part": { "PUT": "/${{ stages.start.id }}/${{ part.number }}", "part": true,
                      "headers": { "X-Token": "${{ stages.start.token }}" } },
            "complete": { "POST": "/${{ stages.start.id }}/end" }, "once": { "resend": true } \(more)
            """)
        bench.captures = ["start": ["id": "up1", "token": "t1"]]
        bench.state.hidden = ["t1": "start.token", "t2": "start.token"]
        bench.state.source = source
        _ = await bench.resume()
        #expect(service.bytes(of: "up1") == Array(content[..<1_000]))
        return bench
    }

    /// The rest of the parts went to the other upload, which was then completed without its beginning.
    @Test("begins with the first part in another upload that fresh captures lead to")
    func anotherUpload() async throws {
        let service = try Service(refusals: [0, 403])
        let bench = try await begun(service)
        bench.captures = ["start": ["id": "up2", "token": "t2"]]
        #expect(await bench.run().finished != nil)
        #expect(service.bytes(of: "up2") == content)
        #expect(service.completed == ["up2"])
    }

    @Test("goes on in the same upload when only a token is fresh")
    func freshToken() async throws {
        let service = try Service(refusals: [0, 403])
        let bench = try await begun(service)
        bench.captures = ["start": ["id": "up1", "token": "t2"]]
        #expect(await bench.run().finished != nil)
        #expect(service.bytes(of: "up1") == content)
        #expect(service.lines.count { $0 == "PUT /up1/1" } == 1)
    }

    /// The very upload was removed that then went on, and each part after that answered 404.
    @Test("is not removed where another stage has made it, and gives fresh links to it")
    func kept() async throws {
        let service = try Service(refusals: [0, 403])
        let cancel = #", "cancel": { "DELETE": "/${{ stages.start.id }}" }"#
        let bench = try await begun(service, cancel, renews: "start")
        bench.captures = ["start": ["id": "up1", "token": "t2"]]
        #expect(await bench.run().finished != nil)
        #expect(service.bytes(of: "up1") == content)
        #expect(!service.lines.contains { $0.hasPrefix("DELETE") })
        let last = try Service(refusals: [0, 403])
        _ = try await begun(last, cancel)
        #expect(last.lines.contains { $0.hasPrefix("DELETE") }, "nobody gives fresh ones")
    }

    @Test("asks what is there, where the service can say it, also when all parts had been sent", arguments: [1, 3])
    func asked(sent: Int) async throws {
        let service = try Service(refusals: sent == 1 ? [0, 403] : [])
        let ask = #", "ask": { "GET": "/${{ stages.start.id }}", "received": "$.there" }"#
        let bench: TransferBench
        if sent == 1 {
            bench = try await begun(service, ask)
        } else {
            bench = try self.bench(
                service,
                """
                "part": { "PUT": "/${{ stages.start.id }}/${{ part.number }}", "part": true },
                "complete": { "POST": "/${{ stages.start.id }}/end" }, "once": { "resend": true } \(ask)
                """)
            bench.captures = ["start": ["id": "up1"]]
            #expect(await bench.resume(crash: (.uploadPart, 3)).hasDied)
        }
        bench.captures = ["start": ["id": "up2"]]
        #expect(await bench.run().finished != nil)
        #expect(service.bytes(of: "up2") == content)
        #expect(service.completed == ["up2"])
    }

    /// The dead link was asked at each resume, and no other upload was ever made.
    @Test("makes another upload where the stage itself was given the links", arguments: [401, 403, 404, 410])
    func ownLink(status: Int) async throws {
        let service = try Service(refusals: [0, status])
        let bench = try bench(service, Self.ownRequest)
        bench.retry.attempts = 3
        #expect(await bench.run().finished != nil)
        #expect(service.bytes(of: "up2") == content)
        #expect(service.completed == ["up2"])
        #expect(service.lines.contains("DELETE /up1"))
    }

    @Test("goes on with the links where a 403 says that there were too many requests")
    func limited() async throws {
        let service = try Service(refusals: [0, 403], fields: [("X-RateLimit-Remaining", "0")])
        let bench = try bench(service, Self.ownRequest)
        #expect(await bench.run().finished != nil)
        #expect(service.bytes(of: "up1") == content)
        #expect(service.completed == ["up1"])
    }

    @Test("makes no more of them than there are attempts")
    func bounded() async throws {
        let service = try Service(refusals: Array(repeating: 410, count: 20))
        let bench = try bench(service, Self.ownRequest)
        bench.retry.attempts = 3
        #expect(await bench.run().refusal?.contains("lost the upload 3 times") == true)
        #expect(service.lines.count { $0 == "POST /new" } == 3)
    }

    private static let ownRequest = """
        "request": { "POST": "/new", "capture": { "id": "$.id", "link": "$.link" } },
        "part": { "PUT": "${{ self.link }}${{ part.number }}", "part": true },
        "complete": { "POST": "/${{ self.id }}/end" }, "cancel": { "DELETE": "/${{ self.id }}" },
        "once": { "resend": true }
        """
}
