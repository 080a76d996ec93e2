import Foundation
import HTTPTypes
import NetworkTasks
import PipelineHTTP
import PipelineTestKit
import Synchronization
import Testing

@Suite("Bodies from and to files")
struct FileTransferTests {
    let network = Network(transport: CurlTransport())
    let folder: TemporaryFolder

    init() throws {
        folder = TemporaryFolder()
    }

    @Test("a large download is reported up to its length")
    func downloadProgress() async throws {
        let size: Int64 = 64 << 20
        let server = try LoopbackServer { _ in .filled(size) }
        defer { server.stop() }
        let options = ExchangeOptions(receive: .file(FileSink(path: folder.file("big"))))
        let task = network.task(RequestDescription(url: server.url), options: options)
        let answer = try await task.value
        #expect(answer.bytesReceived == size)
        #expect(answer.body.isEmpty)
        #expect(folder.size("big") == size)
        #expect(task.progress == TransferProgress(sent: 0, received: size, sendTotal: 0, receiveTotal: size))
        #expect(server.requests.first?.header("Accept-Encoding") == "identity")
    }

    @Test("a large upload is reported step by step up to its length", arguments: ["PUT", "POST"])
    func uploadProgress(method: String) async throws {
        let size: Int64 = 64 << 20
        let server = try LoopbackServer(keptBodyBytes: 0) { .status(200, body: "\($0.bodyCount)") }
        defer { server.stop() }
        let sent = Mutex<[Int64]>([])
        let options = ExchangeOptions(onProgress: { progress in sent.withLock { $0.append(progress.sent) } })
        let body = RequestBody.file(path: folder.sparse("big", size), offset: 0, length: size)
        let task = network.task(
            RequestDescription(method: HTTPRequest.Method(method)!, url: server.url, body: body), options: options)
        let answer = try await task.value
        #expect(answer.body == Array("\(size)".utf8))
        #expect(answer.bytesSent == size)
        #expect(task.progress.sent == size)
        #expect(task.progress.sendTotal == size)
        let steps = sent.withLock { $0 }
        #expect(steps == steps.sorted())
        #expect(steps.count > 10)
    }

    @Test("a range of a file is sent exactly")
    func range() async throws {
        let server = try LoopbackServer { _ in .status(200) }
        defer { server.stop() }
        let path = try folder.filled("source", 300_000)
        _ = try await network.exchange(
            RequestDescription(method: .put, url: server.url, body: .file(path: path, offset: 1000, length: 200_000)))
        #expect(server.requests[0].body == Array(folder.bytes("source")[1000..<201_000]))
    }

    @Test("the sink sees the final head before the first byte and writes where it is told")
    func sinkDecides() async throws {
        let server = try LoopbackServer { request in
            .status(206, headers: [("Content-Range", "bytes 5-9/10")], body: "56789")
        }
        defer { server.stop() }
        try Data("01234xxxxx".utf8).write(to: URL(fileURLWithPath: folder.file("part")))
        let descriptor = open(folder.file("part"), O_RDWR)
        defer { close(descriptor) }
        let ranges = Mutex<[String?]>([])
        let hashed = Mutex<[UInt8]>([])
        let sink = FileSink(onBytes: { bytes in hashed.withLock { $0 += bytes } }) { head in
            ranges.withLock { $0.append(head.headerFields[.contentRange]) }
            return .writeToDescriptor(descriptor, offset: 5)
        }
        let answer = try await network.exchange(
            RequestDescription(url: server.url), options: ExchangeOptions(receive: .file(sink)))
        #expect(answer.status == 206)
        #expect(ranges.withLock { $0 } == ["bytes 5-9/10"])
        #expect(hashed.withLock { $0 } == Array("56789".utf8))
        #expect(folder.bytes("part") == Array("0123456789".utf8))
    }

    @Test("what has come is in the file while the rest is waited for, and is told in few large pieces")
    func gathered() async throws {
        let (half, goOn) = (Gate(), Gate())
        let server = try LoopbackServer { _ in
            ScriptedAnswer([
                .readBody, .head(200, [("Content-Length", "8000003")]), .filled(3), .wait(goOn), .filled(8_000_000),
            ])
        }
        defer { server.stop() }
        let path = folder.file("slow")
        let pieces = Mutex<[Int]>([])
        let sink = FileSink(onBytes: { bytes in
            if pieces.withLock({
                $0.append(bytes.count); return $0.count == 1
            }) {
                half.open()
            }
        }) { _ in .writeToFile(path: path, offset: 0) }
        let task = network.task(RequestDescription(url: server.url), options: ExchangeOptions(receive: .file(sink)))
        await half.wait()
        #expect(folder.bytes("slow") == [0, 1, 2])
        goOn.open()
        _ = try await task.value
        #expect(pieces.withLock { $0.reduce(0, +) } == 8_000_003)
        #expect(pieces.withLock { $0.max() ?? 0 } <= 512 << 10)
        #expect(folder.bytes("slow") == [0, 1, 2] + (0..<8_000_000).map { UInt8($0 % 251) })
    }

    @Test("a body that goes on behind the end that the sink names ends there, also when that comes nearer")
    func end() async throws {
        let server = try LoopbackServer { _ in .filled(64 << 20) }
        defer { server.stop() }
        let path = folder.file("cut")
        let end = Mutex<Int64>(.max)
        let told = Mutex<Int64>(0)
        let sink = FileSink(
            onBytes: { bytes in
                let position = told.withLock {
                    $0 += Int64(bytes.count); return $0
                }
                end.withLock { $0 = min($0, position + 700_001) }
            }, end: { end.withLock { $0 } }
        ) { _ in .writeToFile(path: path, offset: 0) }
        let answer = try await network.exchange(
            RequestDescription(url: server.url), options: ExchangeOptions(receive: .file(sink)))
        #expect(answer.status == 200)
        #expect(told.withLock { $0 } == end.withLock { $0 })
        #expect(folder.size("cut") == end.withLock { $0 })
        #expect(answer.bytesReceived < 64 << 20)
    }

    @Test("an error answer goes to memory, so that the file stays as it is")
    func errorStaysInMemory() async throws {
        let server = try LoopbackServer { _ in .status(404, body: "no such thing") }
        defer { server.stop() }
        let answer = try await network.exchange(
            RequestDescription(url: server.url),
            options: ExchangeOptions(receive: .file(FileSink(path: folder.file("none")))))
        #expect(answer.body == Array("no such thing".utf8))
        #expect(folder.size("none") == -1)
    }

    @Test("a sink can end the exchange with the head, or throw the body away")
    func stopAndDiscard() async throws {
        let server = try LoopbackServer { _ in .filled(64 << 20) }
        defer { server.stop() }
        let stopped = try await network.exchange(
            RequestDescription(url: server.url), options: ExchangeOptions(receive: .file(FileSink { _ in .stop })))
        #expect(stopped.status == 200)
        #expect(stopped.bytesReceived < 64 << 20)
        let discarded = try await network.exchange(
            RequestDescription(url: server.url), options: ExchangeOptions(receive: .file(FileSink { _ in .discard })))
        #expect(discarded.bytesReceived == 64 << 20)
        #expect(discarded.body.isEmpty)
    }

    @Test("a file that is shorter than promised is noticed before and while it is sent")
    func sourceChanged() async throws {
        let server = try LoopbackServer(keptBodyBytes: 0) { _ in .status(200) }
        defer { server.stop() }
        let path = try folder.filled("source", 1000)
        let before = await network.task(
            RequestDescription(method: .put, url: server.url, body: .file(path: path, offset: 0, length: 1001))
        ).result
        #expect(before.failure?.reason == .sourceChanged(path: path))
        #expect(before.failure?.connectionMade == false)
        #expect(server.requests.isEmpty)

        let big = folder.sparse("big", 64 << 20)
        let cut = Mutex(false)
        let options = ExchangeOptions(onProgress: { progress in
            let isFirst = cut.withLock { done in
                defer { done = done || progress.sent > 0 }
                return !done && progress.sent > 0
            }
            if isFirst { truncate(big, 1 << 20) }
        })
        let during = await network.task(
            RequestDescription(method: .put, url: server.url, body: .file(path: big, offset: 0, length: 64 << 20)),
            options: options
        ).result
        #expect(during.failure?.reason == .sourceChanged(path: big))
        #expect(during.failure?.connectionMade == true)
        #expect((during.failure?.requestBytesSent ?? 0) > 0)
    }

    @Test("files that can't be read or written say so")
    func localFailures() async throws {
        let server = try LoopbackServer { _ in .status(200, body: "x") }
        defer { server.stop() }
        let missing = await network.task(
            RequestDescription(method: .put, url: server.url, body: .file(path: "/none/such", offset: 0, length: 1))
        ).result
        #expect(missing.failure?.reason == .localRead(errno: ENOENT, path: "/none/such"))
        let unwritable = await network.task(
            RequestDescription(url: server.url), options: ExchangeOptions(receive: .file(FileSink(path: "/none/such")))
        ).result
        #expect(unwritable.failure?.reason == .localWrite(errno: ENOENT, path: "/none/such"))
        let full = await network.task(
            RequestDescription(url: server.url),
            options: ExchangeOptions(receive: .file(FileSink { _ in .writeToFile(path: "/dev/full", offset: 0) }))
        ).result
        #expect(full.failure?.reason == .localWrite(errno: ENOSPC, path: "/dev/full"))
    }

    @Test("a form is streamed with the exact bytes and length")
    func multipart() async throws {
        let server = try LoopbackServer { _ in .status(200) }
        defer { server.stop() }
        let path = try folder.filled("a \"file\".bin", 100_000)
        let body = MultipartBody(
            boundary: "b0",
            parts: [
                .field("key", "value"), .field("na\"me\r\n", "ü"),
                .file("file", path: path, length: 100_000, contentType: "video/mp4"),
            ])
        _ = try await network.exchange(RequestDescription(method: .post, url: server.url, body: .multipart(body)))
        let head = """
            --b0\r\nContent-Disposition: form-data; name="key"\r\n\r\nvalue\r\n\
            --b0\r\nContent-Disposition: form-data; name="na%22me%0D%0A"\r\n\r\nü\r\n\
            --b0\r\nContent-Disposition: form-data; name="file"; filename="a %22file%22.bin"\r\n\
            Content-Type: video/mp4\r\n\r\n
            """
        let expected = Array(head.utf8) + folder.bytes("a \"file\".bin") + Array("\r\n--b0--\r\n".utf8)
        #expect(server.requests[0].body == expected)
        #expect(server.requests[0].contentLength == Int64(expected.count))
        #expect(server.requests[0].header("Content-Type") == "multipart/form-data; boundary=b0")
    }

    @Test("a form of a thousand files needs one open file at a time")
    func manyParts() async throws {
        let server = try LoopbackServer { _ in .status(200) }
        defer { server.stop() }
        let path = try folder.filled("small", 100)
        let parts = (0..<1000).map { MultipartBody.Part.file("f\($0)", path: path, length: 100) }
        let body = MultipartBody(boundary: "b1", parts: parts)
        let answer = try await network.exchange(
            RequestDescription(method: .post, url: server.url, body: .multipart(body)))
        #expect(answer.bytesSent == RequestBody.multipart(body).length)
        #expect(server.requests[0].bodyCount == answer.bytesSent)
    }
}

extension Result {
    var failure: Failure? {
        if case .failure(let failure) = self { failure } else { nil }
    }
}
