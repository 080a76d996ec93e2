import CLibrary
import JSONPath
import PipelineCore
import PipelineTestKit
import Synchronization
import Testing

@testable import PipelineStages

/// The bytes stayed in the old upload, and the new one, which had none of them, was ended.
@Suite("An upload whose captures were renewed")
struct RenewedUploadTests {
    private let folder = TransferFolder()
    private let content = TransferFolder.bytes(300_000)

    private func bench(_ url: String, _ mode: String, _ request: String, _ more: String) throws -> TransferBench {
        folder.write("data.bin", content)
        let bench = try TransferBench(
            """
            { "id": "move", "kind": "upload", "service": "api", "file": "data.bin", "protocol": "\(mode)",
              \(request.isEmpty ? "" : "\"request\": \(request),") \(more) }
            """, url: url, folder: folder.path, captured: ["start": ["id", "token", "secret"]])
        bench.captures = ["start": ["id": "a", "token": "t1"]]
        return bench
    }

    /// Refuses so many requests that end an upload, and takes all else.
    private func server(refusing count: Int = 1) throws -> LoopbackServer {
        let left = Mutex(count)
        return try LoopbackServer { request in
            guard request.path.hasSuffix("/end") else { return .json("{}") }
            let isRefused = left.withLock { left in
                left -= 1
                return left >= 0
            }
            return isRefused ? .status(403) : .json(#"{"file": "done"}"#)
        }
    }

    private static let end = #""complete": { "PUT": "/${{ stages.start.id }}/end", "capture": { "file": "$.file" } }"#

    private func lines(of server: LoopbackServer) -> [String] { server.requests.map { "\($0.method) \($0.path)" } }

    @Test("is sent from its first byte to the one that they lead to", arguments: ["put", "multipart"])
    func anotherUpload(mode: String) async throws {
        let server = try server()
        defer { server.stop() }
        let bench = try bench(server.url, mode, #"{ "PUT": "/${{ stages.start.id }}" }"#, Self.end)
        #expect(await bench.resume().failedTry?.failure.status == 403)
        bench.captures = ["start": ["id": "b", "token": "t1"]]
        #expect(await bench.run().finished?["file"] == "done")
        #expect(lines(of: server) == ["PUT /a", "PUT /a/end", "PUT /b", "PUT /b/end"])
        #expect(server.requests[2].body.firstRange(of: content) != nil)
    }

    @Test("is sent from its first byte where only the session in a header or in a form's field is another")
    func sessions() async throws {
        let header = #""headers": { "X-Upload-Id": "${{ stages.start.id }}" }"#
        let ways = [
            ("put", #"{ "PUT": "/file", \#(header) }"#, #""complete": { "PUT": "/end", \#(header) }"#),
            (
                "multipart", #"{ "PUT": "/file" }"#,
                #""fields": { "session": "${{ stages.start.id }}" }, "complete": { "PUT": "/end" }"#
            ),
        ]
        for (mode, request, more) in ways {
            let server = try server()
            defer { server.stop() }
            let bench = try bench(server.url, mode, request, more)
            #expect(await bench.resume().failedTry?.failure.status == 403)
            bench.captures = ["start": ["id": "b", "token": "t1"]]
            #expect(await bench.run().finished != nil)
            #expect(lines(of: server) == ["PUT /file", "PUT /end", "PUT /file", "PUT /end"])
        }
    }

    @Test("is sent from its first byte to the one that a fresh item leads to")
    func item() async throws {
        let server = try server()
        defer { server.stop() }
        let bench = try bench(
            server.url, "put", #"{ "PUT": "/${{ item.id }}" }"#,
            #""forEach": "stages.start.id", "complete": { "PUT": "/${{ item.id }}/end" }"#)
        bench.state.item = ["id": "a"]
        #expect(await bench.resume().failedTry?.failure.status == 403)
        bench.state.item = ["id": "b"]
        #expect(await bench.run().finished != nil)
        #expect(lines(of: server) == ["PUT /a", "PUT /a/end", "PUT /b", "PUT /b/end"])
    }

    /// Half of a long upload would be lost with each log-in.
    @Test("stays where it is when only tokens are fresh: in a field for credentials, or secret by the document")
    func freshTokens() async throws {
        let server = try server()
        defer { server.stop() }
        let headers =
            #""headers": { "X-Auth-Token": "${{ stages.start.token }}", "X-Mine": "${{ stages.start.secret }}" }"#
        let bench = try bench(
            server.url, "put", #"{ "PUT": "/file", \#(headers) }"#, #""complete": { "PUT": "/end", \#(headers) }"#)
        bench.state.hidden = ["first": "start.secret", "second": "start.secret"]
        bench.captures = ["start": ["token": "t1", "secret": "first"]]
        #expect(await bench.resume().failedTry?.failure.status == 403)
        bench.captures = ["start": ["token": "t2", "secret": "second"]]
        #expect(await bench.run().finished != nil)
        #expect(lines(of: server) == ["PUT /file", "PUT /end", "PUT /end"])
        #expect(server.requests.last?.header("X-Mine") == "second")
    }

    @Test("that began before this was looked at goes on where it is")
    func withoutOrigin() async throws {
        let server = try server()
        defer { server.stop() }
        let bench = try bench(server.url, "put", #"{ "PUT": "/${{ stages.start.id }}" }"#, Self.end)
        #expect(await bench.resume().failedTry != nil)
        try bench.change { $0.origin = nil }
        bench.captures = ["start": ["id": "b", "token": "t1"]]
        #expect(await bench.run().finished != nil)
        #expect(lines(of: server) == ["PUT /a", "PUT /a/end", "PUT /b/end"])
    }

    @Test("is asked for by what the request names, or made anew by tus", arguments: ["PATCH", "POST"])
    func tus(method: String) async throws {
        let service = try TusService()
        let ends = try server()
        defer { ends.stop() }
        let isGiven = method == "PATCH"
        if isGiven {
            service.state.withLock { state in
                for path in ["/files/a", "/files/b"] { state.uploads[path] = TusService.Upload(length: content.count) }
            }
        }
        let request = isGiven ? #"{ "PATCH": "/files/${{ stages.start.id }}" }"# : #"{ "POST": "/files/" }"#
        let bench = try bench(
            service.url, "tus", request, #""complete": { "PUT": "\#(ends.url)/${{ stages.start.id }}/end" }"#)
        #expect(await bench.resume().failedTry?.failure.status == 403)
        bench.captures = ["start": ["id": "b", "token": "t1"]]
        #expect(await bench.run().finished != nil)
        #expect(lines(of: ends) == ["PUT /a/end", "PUT /b/end"])
        let paths = isGiven ? ["/files/a", "/files/b"] : ["/files/1", "/files/2"]
        #expect(service.uploads.keys.sorted() == paths)
        for path in paths { #expect(service.uploads[path]?.bytes == content) }
    }

    @Test("in parts begins with the first one where the session stands in a header")
    func parts() async throws {
        let parts = Mutex<[String: [UInt8]]>([:])
        let isOver = Mutex(false)
        let server = try LoopbackServer { request in
            let session = request.header("X-Upload-Id") ?? ""
            guard request.path.hasPrefix("/part/") else { return .json("{}") }
            if session == "a", isOver.withLock({ $0 }) { return .status(403) }
            parts.withLock { $0[session, default: []] += request.body }
            isOver.withLock { $0 = true }
            return .json("{}")
        }
        defer { server.stop() }
        let header = #""headers": { "X-Upload-Id": "${{ stages.start.id }}" }"#
        let bench = try bench(
            server.url, "parts", "",
            """
            "partSize": "100KB", "part": { "PUT": "/part/${{ part.number }}", "part": true, \(header) },
            "complete": { "PUT": "/end", \(header) }
            """)
        #expect(await bench.resume().failedTry?.failure.status == 403)
        bench.captures = ["start": ["id": "b", "token": "t1"]]
        #expect(await bench.run().finished != nil)
        #expect(parts.withLock { $0["b"] } == content)
        #expect(server.requests.last?.header("X-Upload-Id") == "b")
    }

    /// What has been submitted may have been taken: `once` says so, and the file is there before it is sent again.
    @Test("whose end has no response is whole before the end of another one goes out")
    func lostEnd() async throws {
        let losses = Mutex(1)
        let server = try LoopbackServer { request in
            guard request.method == "POST" else { return .json("{}") }
            let isLost = losses.withLock { left in
                left -= 1
                return left >= 0
            }
            return isLost ? ScriptedAnswer([.reset]) : .json("{}")
        }
        defer { server.stop() }
        let bench = try bench(
            server.url, "put", #"{ "PUT": "/${{ stages.start.id }}" }"#,
            #""complete": { "POST": "/${{ stages.start.id }}/end" }, "once": { "resend": true }"#)
        #expect(await bench.resume(crash: (.submitSent, 1)).finished == nil)
        bench.captures = ["start": ["id": "b", "token": "t1"]]
        #expect(await bench.run().finished != nil)
        let lines = lines(of: server)
        #expect(lines.last == "POST /b/end")
        #expect(lines.contains("PUT /b"))
    }

    /// A temporary file was cleaned away while the job was suspended.
    @Test(
        "is ended without its file, once all of it is there, unless another upload is to have it",
        arguments: ["a", "b"])
    func withoutFile(next: String) async throws {
        let server = try server()
        defer { server.stop() }
        let bench = try bench(server.url, "put", #"{ "PUT": "/${{ stages.start.id }}" }"#, Self.end)
        #expect(await bench.resume().failedTry?.failure.status == 403)
        unlink(folder.path + "/data.bin")
        bench.captures = ["start": ["id": .string(next), "token": "t1"]]
        let end = await bench.run()
        if next == "a" {
            #expect(end.finished?["file"] == "done")
        } else {
            #expect(end.refusal?.contains("No such file") == true)
        }
        #expect(lines(of: server) == ["PUT /a", "PUT /a/end"] + (next == "a" ? ["PUT /a/end"] : []))
    }

    @Test("is begun anew no more often than there are attempts")
    func bounded() async throws {
        let server = try server(refusing: 20)
        defer { server.stop() }
        let bench = try bench(server.url, "put", #"{ "PUT": "/${{ stages.start.id }}" }"#, Self.end)
        bench.retry.attempts = 2
        var refusals: [String] = []
        for number in 1...4 {
            bench.captures = ["start": ["id": .string("up\(number)"), "token": "t1"]]
            refusals.append(await bench.resume().refusal ?? "")
        }
        #expect(refusals.prefix(3).allSatisfy { $0.contains("403") })
        #expect(refusals[3] == "fresh captures led to another upload 3 times, and none was complete")
    }
}
