import HTTPTypes
import JSONPath
import PipelineCore
import PipelineTestKit
import Synchronization
import Testing

@testable import PipelineStages

@Suite("What the creation of an upload gives")
struct UploadCreationTests {
    private let folder = TransferFolder()
    private let content = TransferFolder.bytes(300_000)

    private func bench(_ url: String, _ rest: String) throws -> TransferBench {
        folder.write("a.bin", content)
        return try TransferBench(
            #"{ "id": "move", "kind": "upload", "service": "api", "file": "a.bin", \#(rest) }"#, url: url,
            folder: folder.path)
    }

    /// The last response was read for both, after the whole file had gone.
    @Test(
        "is captured from its own response, and the stage's captures from the last",
        arguments: ["tus", "resumable", "gcs"])
    func captures(mode: String) async throws {
        let server = try LoopbackServer { request in
            let tus = [("Tus-Resumable", "1.0.0")]
            switch (request.method, mode) {
            case ("POST", _):
                return .status(
                    201, headers: tus + [("Location", "/u/1"), ("Upload-Offset", "0")], body: #"{"id": "made"}"#)
            case ("PATCH", "tus"):
                return .status(200, headers: tus + [("Upload-Offset", "300000")], body: #"{"id": "ended"}"#)
            case ("PATCH", _): return .status(200, headers: [("Upload-Complete", "?1")], body: #"{"id": "ended"}"#)
            case ("PUT", _): return .json(#"{"id": "ended"}"#)
            default: return .status(404)
            }
        }
        defer { server.stop() }
        let bench = try bench(
            server.url,
            #""protocol": "\#(mode)", "request": { "POST": "/new", "capture": { "made": "$.id" } }, "capture": { "ended": "$.id" }"#
        )
        #expect(await bench.resume().finished?["ended"] == "ended")
        #expect(bench.state.captures["made"] == "made")
    }

    /// The id that a person gave was thrown away, and the job could not be mended any more.
    @Test(
        "is not asked of a person who settles the end of the upload, whose captures are",
        arguments: [
            (#""protocol": "put", "request": { "PUT": "/a", "capture": { "r": "$.r" } }"#, ["r", "s"]),
            (#""protocol": "multipart", "request": { "POST": "/a" }"#, ["s"]),
            (#""protocol": "auto", "request": { "POST": "/a", "capture": { "r": "$.r" } }"#, ["r", "s"]),
            (#""protocol": "tus", "request": { "POST": "/a", "capture": { "r": "$.r" } }"#, ["s"]),
            (
                #""protocol": "auto", "request": { "POST": "/a", "capture": { "r": "$.r" } }, "complete": { "POST": "/b" }"#,
                ["s"]
            ),
            (
                #""protocol": "parts", "request": { "POST": "/a", "capture": { "r": "$.r" } }, "part": { "PUT": "/p", "part": true }, "complete": { "POST": "/b", "capture": { "c": "$.c" } }"#,
                ["c", "s"]
            ),
        ])
    func submitted(rest: String, names: [String]) throws {
        let plan = try TransferBench.plan(
            #"{ "id": "move", "kind": "upload", "service": "api", "file": "a.bin", \#(rest), "capture": { "s": "$.s" } }"#
        )
        #expect(SubmittedCaptures(try #require(plan.stages.last)).names.sorted() == names)
    }

    /// A service of the IETF's protocol that answers no OPTIONS got the whole file again after each interruption.
    @Test("is found by its 104 where the service was silent when it was asked what it speaks")
    func silent() async throws {
        let sent = Mutex<[String]>([])
        let server = try LoopbackServer.beforeBody { request in
            sent.withLock { $0.append("\(request.method) \(request.path)") }
            switch request.method {
            case "OPTIONS": return .status(404)
            case "PUT":
                let told = [("Upload-Draft-Interop-Version", "8"), ("Location", "/u/1")]
                return ScriptedAnswer([.inform(104, told), .read(100_000), .reset])
            case "HEAD":
                return .status(204, headers: [("Upload-Offset", "100000"), ("Upload-Complete", "?0")])
            case "PATCH": return .status(200, headers: [("Upload-Complete", "?1")], body: #"{"id": "ended"}"#)
            default: return .status(404)
            }
        }
        defer { server.stop() }
        let bench = try bench(
            server.url,
            #""protocol": "auto", "partSize": "64KiB", "request": { "PUT": "/new" }, "capture": { "id": "$.id" }"#)
        #expect(await bench.run().finished?["id"] == "ended")
        #expect(sent.withLock { $0 } == ["OPTIONS /new", "PUT /new", "HEAD /u/1", "PATCH /u/1"])
        #expect(server.requests.last?.header("Upload-Offset") == "100000")
    }

    @Test("goes as one plain request to a service that knows nothing of it, and again as a whole after an interruption")
    func plain() async throws {
        let cuts = Mutex(1)
        let server = try LoopbackServer.beforeBody { request in
            if request.method == "OPTIONS" { return .status(405) }
            let isCut = cuts.withLock { cuts in
                cuts -= 1
                return cuts >= 0
            }
            return isCut ? ScriptedAnswer([.read(1000), .reset]) : .json(#"{"id": "v1"}"#)
        }
        defer { server.stop() }
        let bench = try bench(
            server.url,
            #""protocol": "auto", "partSize": "64KiB", "request": { "POST": "/new" }, "capture": { "id": "$.id" }"#)
        #expect(await bench.run().finished?["id"] == "v1")
        #expect(server.requests.map(\.method) == ["OPTIONS", "POST", "POST"])
        #expect(server.requests.last?.contentLength == 300_000)
    }

    /// Each attempt sent all bytes to be refused again.
    @Test("brings no bytes after one that brought all was refused")
    func refused() async throws {
        let refusals = Mutex(1)
        let server = try LoopbackServer { request in
            switch request.method {
            case "POST":
                let isRefused = refusals.withLock { left in
                    left -= 1
                    return left >= 0
                }
                if isRefused { return .status(503, headers: [("Retry-After", "0")]) }
                return .status(201, headers: [("Location", "/u/1"), ("Upload-Offset", "0")])
            case "PATCH": return .status(200, headers: [("Upload-Complete", "?1")], body: #"{"id": "ended"}"#)
            default: return .status(404)
            }
        }
        defer { server.stop() }
        let bench = try bench(
            server.url, #""protocol": "resumable", "request": { "POST": "/new" }, "once": { "resend": true }"#)
        #expect(await bench.run().finished != nil)
        #expect(server.requests.map(\.method) == ["POST", "POST", "PATCH"])
        #expect(server.requests.map(\.contentLength) == [300_000, 0, 300_000])
    }
}
