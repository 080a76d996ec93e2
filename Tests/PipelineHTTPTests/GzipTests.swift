import Foundation
import HTTPTypes
import NetworkTasks
import PipelineHTTP
import PipelineTestKit
import Testing

@Suite("Compressed bodies")
struct GzipTests {
    private let network = Network(transport: CurlTransport())

    /// What a program that nobody here wrote makes of it.
    private func unpacked(_ bytes: [UInt8], in folder: TemporaryFolder) throws -> [UInt8] {
        let path = folder.file("packed.gz")
        try Data(bytes).write(to: URL(filePath: path))
        let program = Process()
        program.executableURL = URL(filePath: "/bin/sh")
        program.arguments = ["-c", "gzip -dc \(path) > \(path).plain"]
        try program.run()
        program.waitUntilExit()
        #expect(program.terminationStatus == 0)
        return [UInt8](try Data(contentsOf: URL(filePath: path + ".plain")))
    }

    @Test(
        "a file arrives compressed with its exact length, and gzip gets it back", arguments: [0, 3, 70_000, 3_000_000])
    func file(size: Int) async throws {
        let server = try LoopbackServer { _ in .status(200) }
        defer { server.stop() }
        let folder = TemporaryFolder()
        let plain = (0..<size).map { UInt8(truncatingIfNeeded: $0 / 7 ^ $0 / 1000) }
        let path = folder.file("plain")
        try Data(plain).write(to: URL(filePath: path))
        let body = RequestBody.file(path: path, offset: 0, length: Int64(size))
        _ = try await network.exchange(
            RequestDescription(method: .put, url: server.url, body: body), decorators: [Gzip(minimumSize: 1024)])
        let request = try #require(server.requests.first)
        #expect(request.contentLength == request.bodyCount)
        guard size > 1024 else {
            #expect(request.header("Content-Encoding") == nil)
            #expect(request.body == plain)
            return
        }
        #expect(request.header("Content-Encoding") == "gzip")
        #expect(request.bodyCount < size)
        #expect(try unpacked(request.body, in: folder) == plain)
    }

    @Test("bytes and forms are compressed too, and the digest is that of what is sent")
    func others() async throws {
        let server = try LoopbackServer { _ in .status(200) }
        defer { server.stop() }
        let folder = TemporaryFolder()
        let text = String(repeating: "the same again, ", count: 500)
        let decorators: [any RequestDecorator] = [ContentDigest(), Gzip()]
        _ = try await network.exchange(
            RequestDescription(method: .post, url: server.url, body: .text(text)), decorators: decorators)
        let form = MultipartBody(boundary: "b", parts: [.field("note", text)])
        _ = try await network.exchange(
            RequestDescription(method: .post, url: server.url, body: .multipart(form)), decorators: decorators)
        let (plain, packedForm) = (server.requests[0], server.requests[1])
        #expect(try unpacked(plain.body, in: folder) == Array(text.utf8))
        let shown = try unpacked(packedForm.body, in: folder)
        #expect(String(decoding: shown, as: UTF8.self).contains(text))
        for request in [plain, packedForm] {
            #expect(request.header("Content-Encoding") == "gzip")
            #expect(request.header("Repr-Digest") == nil)
            let sent = RequestDescription(method: .put, url: server.url, body: .bytes(request.body))
            let digest = try await network.build(sent, decorators: [ContentDigest()]).headers[.init("Content-Digest")!]
            #expect(request.header("Content-Digest") == digest)
        }
    }

    @Test("what is encoded already, a part of a whole, or would grow stays as it is")
    func left() async throws {
        let text = RequestBody.text(String(repeating: "a", count: 5000))
        let noise = RequestBody.bytes((0..<5000).map { _ in UInt8.random(in: .min ... .max) })
        let parts: HTTPFields = [.contentRange: "bytes 0-4999/10000"]
        for request in [
            RequestDescription(method: .put, url: "http://h/", headers: [.contentEncoding: "br"], body: text),
            RequestDescription(method: .put, url: "http://h/", headers: parts, body: text),
            RequestDescription(method: .put, url: "http://h/", body: noise),
            RequestDescription(method: .get, url: "http://h/"),
        ] {
            let built = try await network.build(request, decorators: [Gzip()])
            #expect(built.headers[.contentEncoding] == request.headers[.contentEncoding])
            #expect(built.body.length == request.body.length)
        }
    }

    @Test("a file that changes between its measuring and its sending is refused")
    func changed() async throws {
        let server = try LoopbackServer { _ in .status(200) }
        defer { server.stop() }
        let folder = TemporaryFolder()
        let path = folder.file("plain")
        try Data(repeating: 1, count: 200_000).write(to: URL(filePath: path))
        let body = RequestBody.file(path: path, offset: 0, length: 200_000)
        let request = RequestDescription(method: .put, url: server.url, body: body)
        let built = try await network.build(request, decorators: [Gzip()])
        try Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* $0 / 3) }).write(to: URL(filePath: path))
        let failure = await network.task(built).result.failure
        #expect(failure?.reason == .sourceChanged(path: path))
    }

    @Test("a quarter of a gigabyte is compressed in constant memory")
    func memory() async {
        await #expect(processExitsWith: .success) {
            let folder = TemporaryFolder()
            let server = try LoopbackServer(keptBodyBytes: 0) { _ in .status(200) }
            let memory = MemoryWatch()
            let body = RequestBody.file(path: folder.sparse("big", 256 << 20), offset: 0, length: 256 << 20)
            _ = try await Network(transport: CurlTransport()).exchange(
                RequestDescription(method: .put, url: server.url, body: body), decorators: [Gzip()],
                options: ExchangeOptions(onProgress: { _ in memory.sample() }))
            memory.sample()
            #expect(memory.growth < 20 << 20)
        }
    }
}
