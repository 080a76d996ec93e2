import Crypto
import JSONPath
import PipelineCore
import PipelineHTTP
import PipelineTestKit
import Synchronization
import Testing

@testable import PipelineStages

@Suite("Parts of which the service says where the next one begins")
struct AskedPartsTests {
    /// Takes parts at the place where it is, and says where that is.
    final class Service: LoopbackService {
        struct State: Sendable {
            var bytes: [UInt8] = []
            var isOver = false
            var completed: String?
            /// What is done with the next parts in place of taking them.
            var faults: [Fault] = []
            /// What is said of the next byte in place of the truth.
            var answers: [String] = []
        }

        enum Fault: Sendable {
            case none
            /// The part is taken, and nothing is answered.
            case silent
            /// Only so many bytes are taken, and a refusal is answered.
            case half(Int)
            /// All that there is is dropped, and the part is refused.
            case drop
        }

        let state = Mutex(State())
        let server = ServiceServer()
        let total: Int

        init(total: Int, faults: [Fault] = [], answers: [String] = []) throws {
            self.total = total
            state.withLock { ($0.faults, $0.answers) = (faults, answers) }
            try server.start(for: self)
        }

        var lines: [String] { requests.map { "\($0.method) \($0.path)" } }
        var bytes: [UInt8] { state.withLock(\.bytes) }

        func answer(_ request: ReceivedRequest) -> ScriptedAnswer {
            ScriptedAnswer([.readBody, .then { [weak self] in self?.answer(whole: $0) ?? .status(500) }])
        }

        private func answer(whole request: ReceivedRequest) -> ScriptedAnswer {
            switch (request.method, request.path) {
            case ("POST", "/new"): return .json(#"{"size": 100000, "id": "up1"}"#, status: 201)
            case ("POST", "/end"):
                state.withLock { $0.completed = request.text }
                return .json(#"{"file": "f1"}"#)
            case ("GET", "/up1"):
                return state.withLock { state in
                    if state.isOver { return .status(404) }
                    let next = #"{"next": ["\#(state.bytes.count)-\#(total)"], "there": \#(state.bytes.count)}"#
                    return .json(state.answers.isEmpty ? next : state.answers.removeFirst())
                }
            case ("PUT", "/up1"): return state.withLock { take(request, &$0) }
            default: return .status(404)
            }
        }

        private func take(_ request: ReceivedRequest, _ state: inout State) -> ScriptedAnswer {
            guard request.header("X-Offset") == "\(state.bytes.count)" else { return .status(416) }
            switch state.faults.isEmpty ? .none : state.faults.removeFirst() {
            case .none:
                state.bytes += request.body
                return .json(#"{"id": "p\#(request.header("X-Number") ?? "")"}"#)
            case .silent:
                state.bytes += request.body
                state.isOver = state.bytes.count == total
                return ScriptedAnswer([.reset])
            case .half(let count):
                state.bytes += request.body.prefix(count)
                return .status(416)
            case .drop:
                state.bytes = []
                return .status(409)
            }
        }
    }

    private let folder = TransferFolder()
    private let content = TransferFolder.bytes(250_000)

    private static let end = """
        "complete": { "POST": "/end", "json": { "ids": "${{ self.parts.part }}", "at": "${{ self.parts.at }}" },
                      "headers": { "X-Rows": "${{ json(self.parts.row) }}" } },
        "capture": { "file": "$.file" }
        """

    private func bench(
        _ service: Service, ask: String = #""offset": "$.next""#, request: String = #""request": { "POST": "/new" },"#,
        size: String = "100KB", end: String = AskedPartsTests.end
    ) throws -> TransferBench {
        folder.write("a.bin", content)
        return try TransferBench(
            """
            { "id": "move", "kind": "upload", "service": "api", "file": "a.bin", "protocol": "parts", "partSize": "\(size)",
              \(request) "ask": { "GET": "/up1", \(ask) },
              "part": { "PUT": "/up1", "part": true, "capture": { "part": "$.id" },
                        "headers": { "X-Offset": "${{ part.offset }}", "X-Number": "${{ part.number }}",
                                     "X-Digest": "${{ part.digest('sha256', 'base64') }}" },
                        "keep": { "at": "${{ part.offset }}", "sum": "${{ part.digest('md5') }}",
                                  "row": { "PartNumber": "${{ part.number }}", "ETag": "${{ self.part }}" } } },
              \(end) }
            """, url: service.url, folder: folder.path)
    }

    @Test("go one at a time, with digests and values of each that the end may name")
    func simple() async throws {
        let service = try Service(total: 250_000)
        let bench = try bench(service)
        #expect(await bench.resume().finished != nil)
        #expect(bench.state.captures["file"] == "f1")
        #expect(service.bytes == content)
        #expect(service.lines == ["POST /new", "PUT /up1", "PUT /up1", "PUT /up1", "POST /end"])
        #expect(service.state.withLock(\.completed) == #"{"ids":["p1","p2","p3"],"at":[0,100000,200000]}"#)
        let rows = (1...3).map { #"{"PartNumber":\#($0),"ETag":"p\#($0)"}"# }
        #expect(service.requests.last?.header("X-Rows") == "[\(rows.joined(separator: ","))]")
        let digest = service.requests[1].header("X-Digest")
        #expect(digest == Base64Bytes.encode(Array(SHA256.hash(data: content[..<100_000]))))
        #expect(bench.state.moved.sent == 250_000)
    }

    @Test("go on after a lost response where the service is, and what it has counts as a part without captures")
    func lost() async throws {
        let service = try Service(total: 250_000, faults: [.none, .silent])
        let bench = try bench(service)
        #expect(await bench.run().finished != nil)
        #expect(bench.state.captures["file"] == "f1")
        #expect(service.bytes == content)
        // No part is sent twice by itself, on a connection that was kept neither.
        #expect(service.lines == ["POST /new", "PUT /up1", "PUT /up1", "GET /up1", "PUT /up1", "POST /end"])
        #expect(service.state.withLock(\.completed) == #"{"ids":["p1",null,"p3"],"at":[0,100000,200000]}"#)
    }

    @Test(
        "go to where the service is after a refusal, forward and back",
        arguments: [Service.Fault.half(1000), .half(0), .drop])
    func refused(fault: Service.Fault) async throws {
        let service = try Service(total: 250_000, faults: [.none, fault])
        let bench = try bench(service, ask: #""received": "$.there""#)
        let end = await bench.run(limit: 3)
        if case .half(0) = fault { return }
        #expect(end.finished != nil)
        #expect(bench.state.captures["file"] == "f1")
        #expect(service.bytes == content)
    }

    @Test("survive a crash at each point", arguments: [CrashPoint.uploadCreated, .uploadPart, .uploadSent])
    func crash(point: CrashPoint) async throws {
        let service = try Service(total: 250_000)
        let bench = try bench(service)
        #expect(await bench.resume(crash: (point, point == .uploadPart ? 2 : 1)).hasDied)
        #expect(await bench.run().finished != nil)
        #expect(bench.state.captures["file"] == "f1")
        #expect(service.bytes == content)
        #expect(service.lines.count { $0 == "POST /new" } == 1)
    }

    @Test("without an end of their own pass the point at which all bytes are sent")
    func crashAtEnd() async throws {
        let service = try Service(total: 250_000)
        let bench = try bench(service, end: #""capture": { "last": "$.id?" }"#)
        #expect(await bench.resume(crash: (.uploadSent, 1)).hasDied)
        #expect(await bench.run().finished != nil)
        #expect(service.bytes == content)
    }

    @Test(
        "believe no place that can't be",
        arguments: [
            (#"{"next": ["250001-"]}"#, "250001 bytes of a file that has 250000"), (#"{"next": "x"}"#, "no number"),
            (#"{"next": -1}"#, "no number"), (#"{"next": {}}"#, "no number"), ("{}", "no number"),
            (#"{"next": "99999999999999999999-"}"#, "no number"), (#"{"next": 1.5}"#, "no number"),
        ])
    func hostile(answer: String, words: String) async throws {
        let service = try Service(total: 250_000, faults: [.none, .silent], answers: [answer])
        let bench = try bench(service)
        #expect(await bench.run().refusal?.contains(words) == true)
    }

    @Test("that are dropped again and again come to an end")
    func droppedForever() async throws {
        let faults = (0..<100).flatMap { _ in [Service.Fault.none, .drop] }
        let service = try Service(total: 250_000, faults: faults)
        let bench = try bench(service)
        #expect(await bench.run().refusal?.contains("keeps going back") == true)
        #expect(service.requests.count < 60)
    }

    @Test("fill an upload that another stage made, in parts as large as its service says")
    func madeElsewhere() async throws {
        let service = try Service(total: 250_000)
        let bench = try bench(service, request: "", size: "${{ 120000 }}")
        #expect(await bench.resume().finished != nil)
        #expect(bench.state.captures["file"] == "f1")
        #expect(service.lines == ["PUT /up1", "PUT /up1", "PUT /up1", "POST /end"])
        #expect(service.requests.map(\.contentLength).prefix(3) == [120_000, 120_000, 10_000])
    }

    @Test("are as large as the response to their creation says")
    func capturedSize() async throws {
        let service = try Service(total: 250_000)
        let bench = try bench(
            service, request: #""request": { "POST": "/new", "capture": { "size": "$.size" } },"#,
            size: "${{ self.size }}")
        #expect(await bench.resume().finished != nil)
        #expect(bench.state.captures["file"] == "f1")
        #expect(service.requests.map(\.contentLength)[1...3] == [100_000, 100_000, 50_000])
    }

    @Test(
        "read what services say of their place",
        arguments: [
            (#"{"next": 7}"#, 7), (#"{"next": "7"}"#, 7), (#"{"next": "7-"}"#, 7), (#"{"next": "7-99"}"#, 7),
            (#"{"next": ["7-9", "20-"]}"#, 7), (#"{"next": []}"#, 100), (#"{"next": "a-"}"#, nil), ("{}", nil),
        ] as [(String, Int64?)])
    func offsets(body: String, expected: Int64?) throws {
        let ask = AskDefinition(
            request: RequestDefinition(captured: "/"), meaning: .offset(try Selector.parse("$.next")))
        let answer = ServiceResponse(status: 200, url: "http://h", body: Array(body.utf8))
        #expect(ask.position(in: answer, of: 100) == expected)
    }

    @Test(
        "read what services say is there",
        arguments: [
            ("bytes=0-6", 7), ("bytes 0-6", 7), ("0-6", 7), ("7", 7), (nil, 0), ("bytes=3-6", nil), ("x", nil),
            ("bytes=0-9223372036854775807", nil),
        ] as [(String?, Int64?)])
    func received(range: String?, expected: Int64?) throws {
        let ask = AskDefinition(
            request: RequestDefinition(captured: "/"), meaning: .received(try Selector.parse("header:Range")))
        let headers = range.map { [("Range", $0)] } ?? []
        let answer = ServiceResponse(status: 200, headers: headers, url: "http://h", body: [])
        #expect(ask.position(in: answer, of: 100) == expected)
        // Where bytes were acknowledged, saying nothing does not say that none are there.
        #expect(ask.position(in: answer, of: 100, after: 5) == (range == nil ? nil : expected))
    }

    @Test("say what is wrong in a document")
    func documents() {
        func report(_ keys: String) -> String {
            TransferBench.report(
                """
                { "id": "move", "kind": "upload", "service": "api", "file": "a.bin",
                  "part": { "PUT": "/x", "part": true }, \(keys) }
                """)
        }
        #expect(report(#""protocol": "parts", "ask": { "GET": "/x" }"#).contains("'ask' needs either"))
        let both = #""protocol": "parts", "ask": { "GET": "/x", "offset": "$.a", "received": "$.b" }"#
        #expect(report(both).contains("'ask' needs either"))
        let parallel = #""protocol": "parts", "parallel": 2, "ask": { "GET": "/x", "offset": "$.a" }"#
        #expect(report(parallel).contains("with 'ask' parts go one at a time"))
        #expect(
            report(#""protocol": "tus", "request": { "POST": "/x" }, "ask": { "GET": "/x", "offset": "$.a" }"#)
                .contains("'ask' belongs to the protocol 'parts'"))
        #expect(report(#""protocol": "s3""#).contains("request"))
        #expect(report(#""protocol": "parts""#).isEmpty)
    }
}
