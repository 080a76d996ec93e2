import HTTPTypes
import JSONPath
import PipelineCore
import PipelineHTTP
import PipelineTestKit
import Synchronization
import Testing

@testable import PipelineStages

@Suite("An upload whose protocol the service decides")
struct UploadChoiceTests {
    private let folder = TransferFolder()

    private func bench(_ url: String) throws -> TransferBench {
        folder.write("a.bin", TransferFolder.bytes(300_000))
        return try TransferBench(
            #"{ "id": "move", "kind": "upload", "service": "api", "file": "a.bin", "protocol": "auto", "request": { "POST": "/files/" } }"#,
            url: url, folder: folder.path)
    }

    @Test(
        "is resumable where there are limits, tus where that can create, else one request",
        arguments: [
            (["Upload-Limit": "min-size=0", "Tus-Version": "1.0.0"], UploadProtocol.resumable),
            (["Upload-Limit": "nonsense=a b"], .put),
            (["Tus-Version": "1.0.0,0.2.2", "Tus-Extension": "creation,termination"], .tus),
            (["Tus-Resumable": "1.0.0", "Tus-Extension": "termination"], .put),
            (["Tus-Version": "0.2.2", "Tus-Extension": "creation"], .put), (["Allow": "POST"], .put),
            (["Upload-Draft-Interop-Version": "6"], .resumable), (["Upload-Draft-Interop-Version": "x"], .put),
        ])
    func choice(headers: [String: String], expected: UploadProtocol) throws {
        var fields = HTTPFields()
        for (name, value) in headers { fields[try #require(HTTPField.Name(name))] = value }
        let response = HTTPExchangeResponse(status: 204, headers: fields)
        #expect(UploadChoice.choice(from: response, method: .post).chosen == expected)
    }

    /// The version that it named in its refusals was not read, and the file was refused.
    @Test("is resumable where the service refuses the newest version and names its own", arguments: [3, 5, 6])
    func named(version: Int) async throws {
        let service = try ResumableService(versions: [version])
        #expect(await (try bench(service.url)).run().finished != nil)
        #expect(service.lines == ["OPTIONS /files/", "POST /files/", "PATCH /uploads/1"])
        #expect(service.uploads["/uploads/1"]?.bytes == TransferFolder.bytes(300_000))
    }

    /// Fields that the author had not written were refused, and the file with them.
    @Test("is one request of the author's alone where the fields of resumable uploads are refused")
    func refusedFields() async throws {
        let server = try LoopbackServer { request in
            if request.method == "OPTIONS" { return .status(404) }
            return .status(request.header("Upload-Complete") == nil ? 201 : 400)
        }
        defer { server.stop() }
        #expect(await (try bench(server.url)).resume().finished != nil)
        #expect(server.requests.map(\.method) == ["OPTIONS", "POST", "POST"])
        #expect(server.requests[2].body == TransferFolder.bytes(300_000))
        #expect(!server.requests[2].headers.contains { $0.name.canonicalName.hasPrefix("upload-") })
    }

    @Test("fails where the file is refused with those fields and without")
    func refusedFile() async throws {
        let server = try LoopbackServer { .status($0.method == "OPTIONS" ? 404 : 422) }
        defer { server.stop() }
        #expect(await (try bench(server.url)).resume().refusal?.contains("422") == true)
        #expect(server.requests.map(\.method) == ["OPTIONS", "POST", "POST"])
    }

    @Test("asks once, and keeps to the answer over an interruption")
    func keeps() async throws {
        let asked = Mutex(0)
        let tus = try TusService(.init(cuts: [100_000]))
        let front = try LoopbackServer { request in
            guard request.method == "OPTIONS" else {
                return .status(307, headers: [("Location", tus.url + request.target)])
            }
            let isFirst = asked.withLock { count in
                count += 1
                return count == 1
            }
            let headers = [("Tus-Version", "1.0.0"), ("Tus-Extension", "creation")]
            return .status(204, headers: isFirst ? headers : [])
        }
        defer { front.stop() }
        folder.write("a.bin", TransferFolder.bytes(300_000))
        let bench = try TransferBench(
            #"{ "id": "move", "kind": "upload", "service": "api", "file": "a.bin", "protocol": "auto", "request": { "POST": "/files/", "redirects": 1 } }"#,
            url: front.url, folder: folder.path)
        #expect(await bench.run().finished != nil)
        #expect(asked.withLock { $0 } == 1)
        #expect(tus.uploads["/files/1"]?.bytes == TransferFolder.bytes(300_000))
    }

    @Test("is one request where OPTIONS is unknown", arguments: [404, 405, 501])
    func whole(status: Int) async throws {
        let server = try LoopbackServer { $0.method == "OPTIONS" ? .status(status) : .status(201) }
        defer { server.stop() }
        #expect(await (try bench(server.url)).resume().finished != nil)
        #expect(server.requests.map(\.method) == ["OPTIONS", "POST"])
        #expect(server.requests[1].body == TransferFolder.bytes(300_000))
    }

    /// A network's log-in page made it one request for good.
    @Test("is not decided by a redirect")
    func redirected() async throws {
        let tus = try TusService(.init(extensions: "creation"))
        let isIn = Mutex(false)
        let front = try LoopbackServer.beforeBody(keptBodyBytes: 1 << 20) { request in
            isIn.withLock { $0 } ? tus.answer(request) : .status(302, headers: [("Location", "/login")])
        }
        defer { front.stop() }
        let bench = try bench(front.url)
        #expect(await bench.resume().failedTry?.kind == .answered)
        isIn.withLock { $0 = true }
        #expect(await bench.run().finished != nil)
        #expect(tus.uploads["/files/1"]?.bytes == TransferFolder.bytes(300_000))
    }

    @Test("is not decided by an answer that may be about something else", arguments: [401, 429, 503])
    func undecided(status: Int) async throws {
        let server = try LoopbackServer { _ in .status(status) }
        defer { server.stop() }
        #expect(await (try bench(server.url)).resume().failedTry != nil)
        #expect(server.requests.map(\.method) == ["OPTIONS"])
    }
}
