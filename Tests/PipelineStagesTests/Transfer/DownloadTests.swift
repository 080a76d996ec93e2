import Crypto
import JSONPath
import PipelineCore
import PipelineHTTP
import PipelineTestKit
import Synchronization
import Testing

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

@testable import PipelineStages

@Suite("A download over real sockets")
struct DownloadTests {
    private let folder = TransferFolder()
    private let content = TransferFolder.bytes(10 << 20)

    private func bench(_ service: FileService, _ more: String = "", to: String = "out/mesh.obj") throws -> TransferBench
    {
        try TransferBench(
            """
            { "id": "move", "kind": "download", "service": "api", "request": { "GET": "/mesh.obj" }, "to": "\(to)" \(more) }
            """, url: service.url, folder: folder.path)
    }

    private func verifying(_ bytes: [UInt8]) -> String {
        ", \"verify\": { \"sha256\": \"\(TransferFolder.sha256(bytes))\" }"
    }
    private func digestField(_ bytes: [UInt8]) -> (String, String) {
        let digest = Array(SHA256.hash(data: bytes))
        return ("Repr-Digest", "sha-256=:\(base64(digest)):")
    }

    private func base64(_ bytes: [UInt8]) -> String {
        let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
        var text = ""
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = Array(bytes[start..<min(start + 3, bytes.count)])
            let bits = group.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - group.count))
            for index in 0..<4 { text.append(index <= group.count ? digits[bits >> (18 - 6 * index) & 63] : "=") }
        }
        return text
    }

    @Test("gives the file its name when it is whole, and tells path, bytes and digest")
    func simple() async throws {
        let service = try FileService(content) { $0.fields = [("X-Model", "m1")] }
        let bench = try bench(service, verifying(content) + #", "capture": { "model": "header:X-Model" }"#)
        let captures = await bench.resume().finished
        #expect(captures?["path"]?.string == folder.path + "/out/mesh.obj")
        #expect(captures?["bytes"] == 10485760)
        #expect(captures?["sha256"]?.string == TransferFolder.sha256(content))
        #expect(captures?["model"] == "m1")
        #expect(folder.read("out/mesh.obj") == content)
        #expect(folder.read("out/mesh.obj.part") == nil)
        #expect(bench.state.files.map(\.bytes) == [10 << 20])
        #expect(bench.state.moved.received == 10 << 20)
        #expect(service.requests[0].header("Accept-Encoding") == "identity")
        #expect(bench.state.points == [.downloadPart, .downloadPart, .downloadVerified, .downloadRenamed])
    }

    @Test("goes on where it broke off, and fetches nothing twice")
    func interruption() async throws {
        let service = try FileService(content) { $0.cuts = [9 << 20, 1 << 19] }
        let bench = try bench(service)
        let first = await bench.resume()
        #expect(first.failedTry?.kind == .silent)
        #expect(folder.read("out/mesh.obj") == nil)
        #expect(await bench.run().finished != nil)
        #expect(folder.read("out/mesh.obj") == content)
        #expect(service.ranges == [nil, "bytes=\(9 << 20)-", "bytes=\(19 << 19)-"])
        #expect(service.requests[1].header("If-Range") == "\"v1\"")
        #expect(service.sent == 10 << 20)
        #expect(bench.state.moved.received == 10 << 20)
    }

    @Test(
        "survives a crash at every point",
        arguments: [
            (CrashPoint.downloadPart, 1), (.downloadPart, 2), (.downloadVerified, 1), (.downloadRenamed, 1),
        ])
    func crash(point: CrashPoint, count: Int) async throws {
        let service = try FileService(content)
        let bench = try bench(service)
        #expect(await bench.resume(crash: (point, count)).hasDied)
        let before = service.requests.count
        #expect(await bench.run().finished?["sha256"]?.string == TransferFolder.sha256(content))
        #expect(folder.read("out/mesh.obj") == content)
        #expect(bench.state.files.count == 1)
        if point != .downloadPart { #expect(service.requests.count == before) }
        #expect(folder.read("out/mesh.obj.part") == nil)
    }

    @Test("begins again when the file at the service has changed, and never joins two versions")
    func changed() async throws {
        let other = TransferFolder.bytes(10 << 20, seed: 2)
        let service = try FileService(content) { $0.cuts = [9 << 20] }
        let bench = try bench(service)
        _ = await bench.resume()
        service.change { state in
            state.content = other
            state.tag = "\"v2\""
        }
        #expect(await bench.run().finished != nil)
        #expect(folder.read("out/mesh.obj") == other)
        #expect(service.ranges.last == "bytes=\(9 << 20)-")
    }

    @Test("begins again where the service has no ranges, and where it has no validator")
    func noRanges() async throws {
        let service = try FileService(content) { state in
            state.cuts = [9 << 20]
            state.ignoresRanges = true
        }
        let first = try bench(service)
        #expect(await first.run().finished != nil)
        #expect(folder.read("out/mesh.obj") == content)
        service.change { state in
            state.cuts = [9 << 20]
            state.tag = nil
        }
        let second = try bench(service, to: "b.obj")
        #expect(await second.run().finished != nil)
        #expect(folder.read("b.obj") == content)
        #expect(service.ranges.last == .some(nil))
        // Bytes that no other try could build on are no progress.
        #expect(second.state.moved.received == 19 << 20)
    }

    @Test("takes ranges that are shorter than was asked for")
    func shortRanges() async throws {
        let service = try FileService(content) { state in
            state.cuts = [1 << 20]
            state.rangeLimit = 4 << 20
        }
        let bench = try bench(service)
        #expect(await bench.run().finished != nil)
        #expect(folder.read("out/mesh.obj") == content)
        #expect(service.sent == 10 << 20)
    }

    @Test("does not build on a part that is not its own")
    func foreignPart() async throws {
        let service = try FileService(content) { $0.cuts = [9 << 20] }
        let bench = try bench(service)
        _ = await bench.resume()
        folder.write("out/mesh.obj.part", TransferFolder.bytes(9 << 20, seed: 5))
        #expect(await bench.run().finished != nil)
        #expect(folder.read("out/mesh.obj") == content)
        #expect(service.ranges == [nil, nil])
    }

    @Test("throws what came after the last checkpoint away")
    func tail() async throws {
        let service = try FileService(content) { $0.cuts = [9 << 20] }
        let bench = try bench(service)
        _ = await bench.resume()
        folder.append("out/mesh.obj.part", [1, 2, 3])
        #expect(await bench.run().finished != nil)
        #expect(folder.read("out/mesh.obj") == content)
        #expect(service.sent == 10 << 20)
    }

    @Test("of a file that comes damaged is fetched once more, then fails with both digests")
    func damaged() async throws {
        let small = Array(content.prefix(100_000))
        let once = try FileService(small) { $0.damages = 1 }
        let mended = try bench(once, verifying(small))
        let first = await mended.resume()
        #expect(first.failedTry?.kind == .answered)
        #expect(await mended.resume().finished != nil)
        #expect(folder.read("out/mesh.obj") == small)
        let always = try FileService(small) { $0.damages = 1000 }
        let broken = try bench(always, verifying(small), to: "b.obj")
        let refusal = await broken.run().refusal
        #expect(refusal?.contains(TransferFolder.sha256(small)) == true)
        #expect(refusal?.contains("its SHA-256 is") == true)
        #expect(always.requests.count == 2)
        #expect(!folder.names.contains("b.obj"))
        #expect(!folder.names.contains("b.obj.part"))
    }

    @Test("checks the service's own digest unasked, also after a resume")
    func ownDigest() async throws {
        let wrong = digestField([1])
        let service = try FileService(content) { state in
            state.fields = [wrong]
            state.cuts = [9 << 20]
        }
        let bench = try bench(service)
        #expect(await bench.run().refusal?.contains("Repr-Digest says") == true)
        let right = digestField(content)
        service.change { $0.fields = [right] }
        #expect(await bench.run().finished != nil)
    }

    @Test("with a wrong checksum of the store's names both values, and keeps nothing")
    func storeChecksum() async throws {
        let small = Array("123456789".utf8)
        let service = try FileService(small) { $0.fields = [("x-goog-hash", "crc32c=4waSgg==")] }
        let bench = try bench(service, to: "a")
        let failure = await bench.run().failedTry?.failure
        #expect(failure?.title.contains("its CRC-32C is e3069283, and x-goog-hash says e3069282") == true)
        #expect(failure?.hint?.contains("neither was kept") == true)
        #expect(folder.names.isEmpty)
        service.change { $0.fields = [("x-goog-hash", "crc32c=4waSgw==")] }
        #expect(await bench.run().finished != nil)
    }

    @Test("checks size and a header of the service's when told to")
    func verifyOthers() async throws {
        let small: [UInt8] = Array("hello".utf8)
        let service = try FileService(small) { $0.fields = [("X-Sum", TransferFolder.sha256(small))] }
        #expect(try await bench(service, #", "verify": { "size": 5, "header": "X-Sum" }"#).run().finished != nil)
        let size = await (try bench(service, #", "verify": { "size": 6 }"#, to: "b")).run()
        #expect(size.refusal?.contains("it has 5 bytes, and \"verify\" says 6") == true)
        let header = await (try bench(service, #", "verify": { "header": "X-Other" }"#, to: "c")).run()
        #expect(header.refusal?.contains("no digest in the header X-Other") == true)
    }

    @Test("leaves a different file of that name alone and waits as a part, and takes the same one as done")
    func existing() async throws {
        let small: [UInt8] = Array("hello".utf8)
        let service = try FileService(small)
        folder.write("a", small)
        folder.write("b", [1])
        let same = try bench(service, verifying(small), to: "a")
        #expect(await same.resume().finished != nil)
        #expect(service.requests.isEmpty)
        for verify in [verifying(small), ""] {
            let bench = try bench(service, verify, to: "b")
            let different = await bench.resume()
            #expect(different.refusal?.contains("a different file is at") == true)
            #expect(folder.read("b") == [1])
            #expect(folder.read("b.part") == small)
            unlink(folder.path + "/b.part")
        }
        #expect(service.requests.count == 2)
        #expect(await (try bench(service, to: "a")).resume().finished != nil)
        let stated = digestField(small)
        service.change { $0.fields = [stated] }
        #expect(await (try bench(service, to: "a")).resume().finished != nil)
        let stays = try bench(service, to: "b")
        #expect(await stays.resume().refusal?.contains("a different file is at") == true)
        #expect(folder.read("b.part") == small)
        let count = service.requests.count
        stays.state.overwrites = true
        #expect(await stays.resume().finished != nil)
        #expect(service.requests.count == count)
        #expect(folder.read("b") == small)
        #expect(folder.names == ["a", "b"])
    }

    @Test("whose name is taken meanwhile waits as a part until overwriting is allowed")
    func takenMeanwhile() async throws {
        let small: [UInt8] = Array("hello".utf8)
        let service = try FileService(small)
        let bench = try bench(service, to: "a")
        let path = folder.path
        bench.onPass = { point, _ in
            guard point == .downloadVerified else { return }
            close(open(path + "/a", O_CREAT | O_WRONLY, 0o644))
        }
        #expect(await bench.resume().refusal?.contains("a different file is at") == true)
        #expect(folder.read("a.part") == small)
        bench.onPass = { _, _ in }
        bench.state.overwrites = true
        #expect(await bench.resume().finished != nil)
        #expect(folder.read("a") == small)
        #expect(service.requests.count == 1)
    }

    @Test("into a folder takes the name that the service proposes, made safe")
    func folderName() async throws {
        let small: [UInt8] = Array("hello".utf8)
        let service = try FileService(small) {
            $0.fields = [("Content-Disposition", "attachment; filename=\"../../.evil/.mesh.obj\"")]
        }
        #expect(
            await (try bench(service, to: "out/")).resume().finished?["path"]?.string == folder.path + "/out/mesh.obj")
        service.change { $0.fields = [] }
        #expect(
            await (try bench(service, to: "other/")).resume().finished?["path"]?.string == folder.path
                + "/other/mesh.obj")
    }

    @Test("into a folder resumes too")
    func folderResume() async throws {
        let service = try FileService(content) { $0.cuts = [9 << 20] }
        let bench = try bench(service, to: "out/")
        #expect(await bench.run().finished != nil)
        #expect(folder.read("out/mesh.obj") == content)
        #expect(service.sent == 10 << 20)
    }

    @Test("to a name from an answer stays in its folder")
    func capturedName() async throws {
        let small: [UInt8] = Array("hello".utf8)
        let service = try FileService(small)
        let bench = try TransferBench(
            """
            { "id": "move", "kind": "download", "service": "api", "request": { "GET": "/x" },
              "to": "sub/${{ stages.model.name }}" }
            """, url: service.url, folder: folder.path, captured: ["model": ["name"]])
        bench.captures = ["model": ["name": "../../../tmp/.evil.obj"]]
        #expect(await bench.resume().finished?["path"]?.string == folder.path + "/sub/evil.obj")
    }

    @Test("that is refused fails with the service's words, and is tried again after 503")
    func refused() async throws {
        let service = try FileService([1, 2, 3]) { $0.statuses = [503] }
        let first = try bench(service)
        #expect(await first.resume().failedTry?.kind == .answered)
        #expect(await first.resume().finished != nil)
        service.change { $0.statuses = [404] }
        let second = await (try bench(service, to: "b")).resume()
        #expect(second.refusal?.contains("404") == true)
        #expect(second.refusal?.contains("not now") == true)
        service.change { $0.statuses = [202] }
        let third = await (try bench(service, to: "b")).resume()
        #expect(third.refusal?.contains("brings no file") == true)
        #expect(folder.names == ["out"])
    }

    @Test("of a body without a length is taken whole, and a truncated one never")
    func lengths() async throws {
        let service = try FileService(content) { $0.isChunked = true }
        #expect(await (try bench(service)).run().finished?["bytes"] == 10485760)
        let empty = try FileService([])
        #expect(await (try bench(empty, to: "empty")).run().finished?["bytes"] == 0)
        #expect(folder.read("empty") == [])
        let cut = try FileService(content) { state in
            state.cuts = Array(repeating: 1 << 20, count: 100)
            state.ignoresRanges = true
        }
        let truncated = try bench(cut, to: "cut")
        #expect(await truncated.resume().failedTry?.kind == .silent)
        #expect(folder.read("cut") == nil)
    }

    @Test("that finds another one writing to the same place leaves it alone")
    func locked() async throws {
        let (reached, goOn) = (Gate(), Gate())
        let service = try FileService(content) { $0.half = (reached, goOn) }
        let first = try bench(service)
        let host = first.host(nil)
        let stage = first.stage
        let task = Task { await stage.resume(nil, host) }
        await reached.wait()
        let second = await (try bench(service)).resume()
        #expect(second.failedTry?.failure.title.contains("another download is writing") == true)
        goOn.open()
        let result = await task.value
        #expect(result.finished != nil)
        #expect(folder.read("out/mesh.obj") == content)
    }

    @Test("that is stopped keeps what it has")
    func stop() async throws {
        let (reached, goOn) = (Gate(), Gate())
        let content = content + content
        let service = try FileService(content) { $0.half = (reached, goOn) }
        let bench = try bench(service)
        let part = Gate()
        bench.onPass = { point, _ in if point == .downloadPart { part.open() } }
        let host = bench.host(nil)
        let stage = bench.stage
        let task = Task { await stage.resume(nil, host) }
        await part.wait()
        task.cancel()
        let result = await task.value
        #expect(result.isStopped)
        goOn.open()
        bench.state = host.state.withLock { $0 }
        bench.onPass = { _, _ in }
        #expect(await bench.run().finished != nil)
        #expect(folder.read("out/mesh.obj") == content)
        #expect(service.ranges.last??.hasPrefix("bytes=") == true)
    }

    @Test("never follows a symbolic link at the part's place")
    func link() async throws {
        let service = try FileService([1, 2, 3])
        folder.write("victim", [9])
        symlink(folder.path + "/victim", folder.path + "/a.part")
        #expect(await (try bench(service, to: "a")).resume().refusal?.contains("can't write") == true)
        #expect(folder.read("victim") == [9])
    }

    @Test("with keys that have no meaning together is refused when the document is read")
    func unavailable() {
        let report = TransferBench.report(
            #"{ "id": "a", "kind": "download", "service": "api", "request": { "GET": "/x" }, "to": "x", "parallel": 4, "unpack": "zip", "select": "$.a", "verify": { "header": "X-Sum" } }"#
        )
        #expect(report.contains("'parallel' has no meaning beside 'select'"))
        #expect(report.contains("'unpack' has no meaning beside 'select'"))
        #expect(report.contains("a digest in a header is about the whole body"))
    }
}
