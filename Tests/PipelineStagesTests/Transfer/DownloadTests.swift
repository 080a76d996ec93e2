import JSONPath
import PipelineCore
import PipelineHTTP
import PipelineTestKit
import Synchronization
import Testing

@testable import PipelineStages

@Suite("A download over real sockets")
struct DownloadTests {
    private let folder = TransferFolder()
    private let content = TransferFolder.bytes(10 << 20)

    private func bench(_ service: FileService, _ more: String = "", to: String = "out/mesh.obj") throws -> TransferBench
    {
        try .download(from: service, more, to: to, in: folder)
    }

    @Test("gives the file its name when it is whole, and tells path, bytes and digest")
    func simple() async throws {
        let service = try FileService(content) { $0.fields = [("X-Model", "m1")] }
        let bench = try bench(
            service, TransferBench.verifying(content) + #", "capture": { "model": "header:X-Model" }"#)
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

    /// Of a service without ranges the same bytes came again and again for a day.
    @Test(
        "that its own time-out ends while bytes come is a failed attempt where it begins again",
        arguments: [true, false])
    func tooLong(hasTag: Bool) async throws {
        let gates = (reached: Gate(), goOn: Gate())
        defer { gates.goOn.open() }
        let service = try FileService(content) { state in
            state.half = gates
            if !hasTag { state.tag = nil }
        }
        let bench = try TransferBench(
            """
            { "id": "move", "kind": "download", "service": "api", "request": { "GET": "/x", "timeout": "1s" },
              "to": "x.bin" }
            """, url: service.url, folder: folder.path)
        #expect(await bench.resume().failedTry?.kind == (hasTag ? .silent : .answered))
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
        let warnings = bench.state.warnings
        #expect(warnings.count == 1 && warnings[0].contains("the service sent the whole, not the rest"), "\(warnings)")
    }

    /// A page that a gateway gave once for the rest had the whole part thrown away.
    @Test("keeps what it has when something else comes in the place of the file", arguments: [1, 4])
    func somethingElse(streams: Int) async throws {
        let service = try FileService(content) { $0.cuts = streams == 1 ? [9 << 20] : [20 << 20, 1 << 20, 99] }
        let bench = try bench(service, #", "parallel": \#(streams)"#)
        _ = await bench.resume()
        let before = service.sent
        service.change { state in
            state.cuts = []
            state.answers = [.status(200, headers: [("Content-Type", "text/html")], body: "<html>Sign in</html>")]
        }
        let failed = await bench.resume().failedTry
        #expect(failed?.kind == .answered)
        #expect(failed?.failure.title.contains("sent something else (text/html) in the place of the file") == true)
        #expect(await bench.run().finished != nil)
        #expect(folder.read("out/mesh.obj") == content)
        if streams == 1 { #expect(service.sent == before + 1 << 20) }
        #expect(bench.state.warnings.isEmpty)
    }

    /// A server that took no notice of If-Range, and named no version in its part, had the two joined.
    @Test("begins again when a part does not say of which version it is", arguments: [1, 4])
    func unnamedPart(streams: Int) async throws {
        let other = TransferFolder.bytes(10 << 20, seed: 2)
        let service = try FileService(content) { $0.cuts = streams == 1 ? [9 << 20] : [20 << 20, 1 << 20, 99] }
        let bench = try bench(service, #", "parallel": \#(streams)"#)
        _ = await bench.resume()
        service.change { state in
            state.cuts = []
            state.content = other
            state.tag = "\"v2\""
            state.blursVersions = true
        }
        #expect(await bench.run().finished != nil)
        #expect(folder.read("out/mesh.obj") == other)
        #expect(service.requests.last?.header("Range") == nil)
    }

    /// It told of closed connections at each try, and never that all began anew and why.
    @Test("warns once of bytes that it throws away at each try")
    func warnsOfLoss() async throws {
        let service = try FileService(content) { state in
            state.cuts = [9 << 20, 20 << 20, 9 << 20]
            state.blursVersions = true
        }
        let bench = try bench(service)
        #expect(await bench.run().finished != nil)
        #expect(folder.read("out/mesh.obj") == content)
        #expect(service.requests.count == 5)
        let warnings = bench.state.warnings
        #expect(warnings.count == 1 && warnings[0].hasSuffix("does not say of which version of the file the part is"))
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
        let warnings = [first, second].flatMap(\.state.warnings)
        #expect(warnings.count == 2 && warnings[1].contains("no strong ETag, and no Last-Modified"), "\(warnings)")
        // Bytes that no other try could build on are counted, and are no progress.
        #expect(second.state.moved.received == 19 << 20)
        #expect(second.state.progressed == 1)
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
        folder.overwriteInSecret("out/mesh.obj.part", at: 9 << 20, [1, 2, 3])
        folder.append("out/mesh.obj.part", [1, 2, 3])
        #expect(await bench.run().finished != nil)
        #expect(folder.read("out/mesh.obj") == content)
        #expect(service.sent == 10 << 20)
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

    @Test("with keys that have no meaning together is refused when the document is read")
    func unavailable() {
        let report = TransferBench.report(
            #"{ "id": "a", "kind": "download", "service": "api", "request": { "GET": "/x" }, "to": "x", "parallel": 4, "unpack": "zip", "select": "$.a", "verify": { "header": "X-Sum" } }"#
        )
        #expect(report.contains("'parallel' has no meaning beside 'select'"))
        #expect(report.contains("'unpack' has no meaning beside 'select'"))
        #expect(report.contains("a digest in a header is about the whole body"))
    }

    @Test("what is to be verified is checked with the document, where no expression gives it")
    func constants() {
        func report(_ verify: String) -> String {
            TransferBench.report(
                #"{ "id": "a", "kind": "download", "service": "api", "request": { "GET": "/x" }, "to": "x", "verify": { \#(verify) } }"#
            )
        }
        #expect(report(#""sha256": "abc""#).contains(#"the value of "sha256" is no SHA-256: "abc""#))
        #expect(report(#""size": -4"#).contains(#"the value of "size" is no number of bytes: -4"#))
        #expect(report(#""size": "8MiB""#).isEmpty)
        #expect(report(#""sha256": "${{ job.key }}""#).isEmpty)
    }
}
