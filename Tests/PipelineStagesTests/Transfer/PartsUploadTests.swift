import Foundation
import JSONPath
import PipelineCore
import PipelineTestKit
import Synchronization
import Testing

@testable import PipelineStages

@Suite("An upload in parts that the author describes, over real sockets")
struct PartsUploadTests {
    /// Takes parts as forms or as bodies, and gives each an ID.
    final class Service: LoopbackService {
        struct State: Sendable {
            var parts: [Int: [UInt8]] = [:]
            var refusals: [Int] = []
            /// Statuses of the next answers to the end, in place of its own; 0 for none after it was taken.
            var ends: [Int] = []
            var ended: [String?] = []
            /// How long the answer to the first part takes.
            var thinkingMilliseconds = 0
            /// Nothing of a part behind the first is read before so many have begun.
            var together = 0
            let gate = Gate()
            var completed: String?
        }

        let state = Mutex(State())
        let server = ServiceServer()

        init(refusals: [Int] = []) throws {
            state.withLock { $0.refusals = refusals }
            try server.start(for: self)
        }

        var lines: [String] { requests.map { "\($0.method) \($0.path)" } }
        var received: Int64 { requests.filter { $0.method == "PUT" }.reduce(0) { $0 + $1.bodyCount } }
        var bytes: [UInt8] { state.withLock { $0.parts.sorted { $0.key < $1.key }.flatMap(\.value) } }

        func answer(_ request: ReceivedRequest) -> ScriptedAnswer {
            let rest = [
                ScriptedAnswer.Step.readBody, .then { [weak self] in self?.answer(whole: $0) ?? .status(500) },
            ]
            return state.withLock { state in
                guard request.method == "PUT", state.together > 0, !request.path.hasSuffix("/1") else {
                    return ScriptedAnswer(rest)
                }
                state.together -= 1
                return ScriptedAnswer([state.together == 0 ? .open(state.gate) : .wait(state.gate)] + rest)
            }
        }

        private func answer(whole request: ReceivedRequest) -> ScriptedAnswer {
            switch request.path {
            case "/uploads": return .json("{\"id\": \"up1\"}", status: 201)
            case "/uploads/up1/complete":
                let status = state.withLock { state in
                    state.ended.append(request.header("Idempotency-Key"))
                    return state.ends.isEmpty ? nil : state.ends.removeFirst()
                }
                if status == 0 { return ScriptedAnswer([.reset]) }
                if let status { return .status(status, headers: [("Retry-After", "0")]) }
                state.withLock { $0.completed = request.text }
                return .json("{\"file\": {\"id\": \"f1\"}}")
            case "/uploads/up1": return .status(204)
            default: break
            }
            guard let number = Int(request.path.split(separator: "/").last ?? "") else { return .status(404) }
            return state.withLock { state in
                if !state.refusals.isEmpty {
                    return .status(state.refusals.removeFirst(), headers: [("Retry-After", "0")])
                }
                state.parts[number] = request.body
                guard number == 1, state.thinkingMilliseconds > 0 else { return .json("{\"id\": \"p\(number)\"}") }
                return ScriptedAnswer([
                    .slowly(Array("H".utf8), milliseconds: state.thinkingMilliseconds),
                    .bytes(Array("TTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n{\"id\": \"p1\"}".utf8)),
                ])
            }
        }
    }

    private let folder = TransferFolder()
    private let content = TransferFolder.bytes(2_500_000)

    private func bench(
        _ url: String, part: String = #""part": true"#, bytes: [UInt8]? = nil, end: String = "POST",
        more: String = ""
    ) throws -> TransferBench {
        folder.write("data.bin", bytes ?? content)
        return try TransferBench(
            """
            { "id": "move", "kind": "upload", "service": "api", "file": "data.bin", "protocol": "parts",
              "partSize": "1MB", "parallel": 2,
              "request": { "POST": "/uploads", "json": { "bytes": 2500000 },
                           "capture": { "id": "$.id" } },
              "part": { "PUT": "/uploads/${{ self.id }}/parts/${{ part.number }}", \(part),
                        "headers": { "X-Place": "${{ part.offset }}+${{ part.size }}" },
                        "capture": { "part": "$.id" } },
              "complete": { "\(end)": "/uploads/${{ self.id }}/complete",
                            "json": { "part_ids": "${{ self.parts.part }}" } },
              "cancel": { "DELETE": "/uploads/${{ self.id }}" },
              "capture": { "file": "$.file.id" } \(more) }
            """, url: url, folder: folder.path)
    }

    @Test("is made, filled and completed with what the parts gave, in their order")
    func simple() async throws {
        let service = try Service()
        let bench = try bench(service.url)
        #expect(await bench.resume().finished != nil)
        #expect(bench.state.captures["file"] == "f1")
        #expect(service.bytes == content)
        #expect(service.requests[0].text == #"{"bytes":2500000}"#)
        #expect(service.state.withLock(\.completed) == #"{"part_ids":["p1","p2","p3"]}"#)
        let places = service.requests.compactMap { $0.header("X-Place") }.sorted()
        #expect(places == ["0+1000000", "1000000+1000000", "2000000+500000"])
    }

    /// One part alone is silent until its answer is there; a number to begin with is found by nobody who sends one.
    @Test("sends two parts at a time once the first has shown that the service thinks", .timeLimit(.minutes(1)))
    func together() async throws {
        let service = try Service()
        service.state.withLock { ($0.thinkingMilliseconds, $0.together) = (300, 2) }
        let bench = try bench(service.url)
        let outcome = await bench.resume()
        service.state.withLock { $0.gate.open() }
        #expect(outcome.finished != nil)
        #expect(service.bytes == content)
    }

    @Test("may send its parts as files of a form")
    func form() async throws {
        let service = try Service()
        let part = #""with": [ { "multipart": { "files": [ { "name": "data", "part": true } ] } } ]"#
        let bench = try bench(service.url, part: part)
        #expect(await bench.resume().finished != nil)
        let first = try #require(service.state.withLock { $0.parts[3] })
        #expect(String(decoding: first.prefix(400), as: UTF8.self).contains("name=\"data\""))
        #expect(first.firstRange(of: content[2_000_000...]) != nil)
    }

    /// Empty requests went out, and the job succeeded.
    @Test(
        "is refused when its part does not carry the bytes",
        arguments: ["\"headers\": {}", "\"json\": { \"a\": 1 }", "\"part\": false", "\"text\": \"x\""])
    func withoutBytes(body: String) {
        let report = TransferBench.report(
            """
            { "id": "move", "kind": "upload", "service": "api", "file": "data.bin", "protocol": "parts",
              "request": { "POST": "/uploads" }, "part": { "PUT": "/${{ part.number }}", \(body) } }
            """)
        #expect(report.contains("error: this request does not carry the part's bytes"))
        #expect(report.contains("\"part\": true is the body"))
    }

    @Test("of an empty file has one empty part")
    func empty() async throws {
        let service = try Service()
        let bench = try bench(service.url, bytes: [])
        #expect(await bench.resume().finished != nil)
        #expect(service.state.withLock(\.parts) == [1: []])
    }

    @Test("sends a part that was kept no second time after a crash")
    func crash() async throws {
        let service = try Service()
        let bench = try bench(service.url)
        #expect(await bench.resume(crash: (.uploadPart, 2)).hasDied)
        #expect(await bench.run().finished != nil)
        #expect(bench.state.captures["file"] == "f1")
        #expect(service.lines.count { $0 == "POST /uploads" } == 1)
        #expect(service.bytes == content)
        // The two parts that were committed before the process died are not sent again.
        #expect(service.lines.count { $0.contains("/parts/") } <= 4)
    }

    @Test("goes on with the parts that failed")
    func retry() async throws {
        let service = try Service(refusals: [503])
        let bench = try bench(service.url)
        #expect(await bench.run().finished != nil)
        #expect(service.bytes == content)
        #expect(service.lines.count { $0.contains("/parts/") } == 4)
    }

    /// The refusal of the end was taken for that of the whole upload: all parts were sent once more.
    @Test("whose end is refused for now keeps its parts, and only ends again", arguments: [503, 429])
    func refusedEnd(status: Int) async throws {
        let service = try Service()
        service.state.withLock { $0.ends = [status, status] }
        let bench = try bench(service.url)
        #expect(await bench.run().finished != nil)
        #expect(bench.state.captures["file"] == "f1")
        #expect(service.received == 2_500_000)
        #expect(service.lines.count { $0 == "POST /uploads" } == 1)
        #expect(service.lines.count { $0 == "POST /uploads/up1/complete" } == 3)
    }

    @Test("whose end is refused for good is removed")
    func refusedEndForGood() async throws {
        let service = try Service()
        service.state.withLock { $0.ends = [400] }
        let bench = try bench(service.url)
        #expect(await bench.resume().refusal?.contains("400") == true)
        #expect(service.lines.last == "DELETE /uploads/up1")
    }

    /// It was sent again, and a service may have made two files of the parts.
    @Test("whose end was lost, and that says nothing of it in `once`, is unknown: nothing is sent again or removed")
    func unknownEnd() async throws {
        let service = try Service()
        service.state.withLock { $0.ends = [0] }
        let bench = try bench(service.url)
        #expect(await bench.resume().isUnknown)
        #expect(await bench.resume().isUnknown)
        #expect(service.state.withLock(\.ended).count == 1)
        #expect(!service.lines.contains("DELETE /uploads/up1"))
    }

    @Test("whose end may be sent twice, as a PUT may, is ended again when the response to that was lost")
    func idempotentEnd() async throws {
        let service = try Service()
        service.state.withLock { $0.ends = [0] }
        let bench = try bench(service.url, end: "PUT")
        #expect(await bench.run().finished?["file"] == "f1")
        #expect(service.state.withLock(\.ended).count == 2)
    }

    @Test(
        "whose end was lost, and is refused under its key or can't be found, is not removed", arguments: [true, false])
    func lostAndRefused(hasKey: Bool) async throws {
        let service = try Service()
        service.state.withLock { $0.ends = [0, 422] }
        let look = #""name": { "GET": "/uploads/up1", "fail": [ { "when": "true" } ] }, "ours": "true""#
        let once = hasKey ? #"{ "key": "Idempotency-Key" }"# : "{ \(look) }, \"onUnknown\": \"fail\""
        let bench = try bench(service.url, more: ", \"once\": \(once)")
        #expect(await bench.run().failedTry?.kind == .definite)
        #expect(!service.lines.contains("DELETE /uploads/up1"))
    }

    @Test("whose end is refused outright after it was refused for now is removed")
    func refusedTwice() async throws {
        let service = try Service()
        service.state.withLock { $0.ends = [503, 400] }
        let bench = try bench(service.url)
        #expect(await bench.run().refusal?.contains("400") == true)
        #expect(service.lines.last == "DELETE /uploads/up1")
    }

    /// To settle the end by a key, all parts were sent once more to another upload.
    @Test("whose end was lost sends that again under one key, and no part of the file")
    func lostEnd() async throws {
        let service = try Service()
        service.state.withLock { $0.ends = [0, 503] }
        let bench = try bench(service.url, more: #", "once": { "key": "Idempotency-Key" }"#)
        #expect(await bench.run().finished != nil)
        #expect(bench.state.captures["file"] == "f1")
        #expect(service.received == 2_500_000)
        let keys = service.state.withLock(\.ended)
        #expect(keys.count == 3 && Set(keys).count == 1 && keys[0] != nil)
    }

    @Test(
        "whose process dies around its end ends under one key, and once where the answer was kept",
        arguments: [
            CrashPoint.uploadSent, .submitIntent, .submitSending, .submitSent, .submitAnswered, .submitCommitted,
        ])
    func crashAtEnd(point: CrashPoint) async throws {
        let service = try Service()
        let bench = try bench(service.url, more: #", "once": { "key": "Idempotency-Key" }"#)
        #expect(await bench.resume(crash: (point, 1)).hasDied)
        #expect(await bench.run().finished != nil)
        #expect(bench.state.captures["file"] == "f1")
        #expect(service.received == 2_500_000)
        let keys = service.state.withLock(\.ended)
        #expect(Set(keys).count == 1 && keys[0] != nil)
        #expect(keys.count <= (point == .submitCommitted ? 1 : 2))
    }

    /// The file that the end had made was removed, and the next try took the old answer for that to the new file.
    @Test("whose end was taken is done, whatever became of the file before that was noted", arguments: [true, false])
    func changedBehindEnd(isGone: Bool) async throws {
        let service = try Service()
        let bench = try bench(service.url, more: #", "once": { "key": "Idempotency-Key" }"#)
        #expect(await bench.resume(crash: (.submitCommitted, 1)).hasDied)
        if isGone {
            try FileManager.default.removeItem(atPath: folder.path + "/data.bin")
        } else {
            folder.write("data.bin", Array(content.reversed()))
        }
        #expect(await bench.resume().finished != nil)
        #expect(bench.state.captures["file"] == "f1")
        #expect(bench.state.moved.sent == 2_500_000)
        #expect(!service.lines.contains("DELETE /uploads/up1"))
    }

    @Test("whose end may have been taken is not removed when the file changes")
    func changedAtOpenEnd() async throws {
        let service = try Service()
        service.state.withLock { $0.ends = [0] }
        let bench = try bench(service.url, more: #", "once": { "key": "Idempotency-Key" }"#)
        #expect(await bench.resume().failedTry?.kind == .silent)
        folder.write("data.bin", Array(content.reversed()))
        #expect(await bench.resume().refusal?.hasPrefix("the file changed while it was being uploaded") == true)
        #expect(!service.lines.contains("DELETE /uploads/up1"))
    }

    @Test("whose end was lost is found by its name, and not ended twice")
    func foundEnd() async throws {
        let service = try Service()
        service.state.withLock { $0.ends = [0] }
        let look = try LoopbackServer { _ in .json(#"{"file": {"id": "found"}, "key": "key1"}"#) }
        defer { look.stop() }
        let bench = try bench(
            service.url,
            more: """
                , "once": { "name": { "GET": "\(look.url)/f" }, "ours": "response.body.key == job.key" }
                """)
        #expect(await bench.run().finished != nil)
        #expect(bench.state.captures["file"] == "found")
        #expect(service.state.withLock(\.ended).count == 1)
    }

    /// Between the last part's answer and the end its captures were lost, and those who read them found nothing.
    @Test("without an end of its own asks for the last part's answer again after a crash")
    func lastAnswer() async throws {
        let service = try Service()
        folder.write("data.bin", content)
        let bench = try TransferBench(
            """
            { "id": "move", "kind": "upload", "service": "api", "file": "data.bin", "protocol": "parts",
              "partSize": "1MB", "request": { "POST": "/uploads", "capture": { "id": "$.id" } },
              "part": { "PUT": "/uploads/${{ self.id }}/parts/${{ part.number }}", "part": true,
                        "fail": [ { "when": "part.number > 3", "message": "no" } ] },
              "capture": { "last": "$.id" } }
            """, url: service.url, folder: folder.path)
        #expect(await bench.resume(crash: (.uploadPart, 3)).hasDied)
        #expect(await bench.run().finished?["last"] == "p3")
        #expect(service.lines.count { $0.contains("/parts/") } == 4)
    }

    @Test("is removed when it fails for good, and when it is cancelled")
    func cancel() async throws {
        let service = try Service(refusals: [400, 400])
        let bench = try bench(service.url)
        #expect(await bench.resume().refusal?.contains("400") == true)
        #expect(service.lines.last == "DELETE /uploads/up1")
        let other = try Service(refusals: [503, 503, 503])
        let second = try self.bench(other.url)
        _ = await second.resume()
        #expect(await second.cancel() == nil)
        #expect(other.lines.last == "DELETE /uploads/up1")
    }

    /// The end was sent again without any key, as the key of the creation was taken for its own.
    @Test("with a key that the author places wants it in the request that ends it", arguments: ["parts", "tus"])
    func placedKey(mode: String) {
        func report(_ creation: String, _ end: String) -> String {
            let part = mode == "parts" ? #""part": { "PUT": "/p/${{ part.number }}", "part": true },"# : ""
            return TransferBench.report(
                """
                { "id": "a", "kind": "upload", "service": "api", "file": "x", "protocol": "\(mode)",
                  "request": { "POST": "/x\(creation)" }, \(part)
                  "complete": { "POST": "/end\(end)" }, "once": { "key": true } }
                """)
        }
        let key = "/${{ self.key }}"
        #expect(report(key, "").contains("'once.key' is true, but ${{ self.key }} stands nowhere in this request"))
        #expect(report("", key) == "")
    }

    @Test("without 'part', and keys of parts elsewhere, are refused when the document is read")
    func refusals() {
        let lacking = TransferBench.report(
            #"{ "id": "a", "kind": "upload", "service": "api", "file": "x", "protocol": "parts", "request": { "POST": "/x" } }"#
        )
        #expect(lacking.contains("needs \"part\""))
        let misplaced = TransferBench.report(
            #"{ "id": "a", "kind": "upload", "service": "api", "file": "x", "protocol": "tus", "parallel": 2, "request": { "POST": "/x" } }"#
        )
        #expect(misplaced.contains("'parallel' belongs to the protocol 'parts' and 's3'"))
    }
}
