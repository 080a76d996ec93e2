import CLibrary
import JSONPath
import PipelineCore
import PipelineTestKit
import Synchronization
import Testing

@testable import PipelineStages

@Suite("A download in several streams", .timeLimit(.minutes(1)))
struct ParallelDownloadTests {
    private let folder = TransferFolder()
    private let content = TransferFolder.bytes(10 << 20)

    /// A download of which it is known that four streams are worth it.
    private func bench(_ service: FileService, _ more: String = "") throws -> TransferBench {
        let bench = try TransferBench(
            """
            { "id": "move", "kind": "download", "service": "api", "request": { "GET": "/mesh.obj" }, "to": "m.obj",
              "parallel": 4 \(more) }
            """, url: service.url, folder: folder.path)
        bench.state.checkpoint = try CheckpointCoding.json.encode(DownloadCheckpoint(streams: 4))
        return bench
    }

    @Test("comes in one stream while that is as fast as it gets, behind a first request that tells what there is")
    func one() async throws {
        let service = try FileService(content)
        let bench = try bench(service)
        bench.state.checkpoint = nil
        #expect(await bench.resume().finished?["sha256"]?.string == TransferFolder.sha256(content))
        #expect(service.ranges == ["bytes=0-262143", "bytes=262144-10485759"])
        #expect(folder.read("m.obj") == content)
    }

    @Test("receives ranges at a time, as many as it may and no more, and verifies the whole")
    func whole() async throws {
        let service = try FileService(content) { $0.together = (Gate(), 4) }
        let bench = try bench(
            service,
            ", \"verify\": { \"sha256\": \"\(TransferFolder.sha256(content))\" }, \"capture\": { \"tag\": \"header:ETag\" }"
        )
        let captures = await bench.resume().finished
        #expect(captures?["sha256"]?.string == TransferFolder.sha256(content))
        #expect(captures?["bytes"] == 10485760)
        #expect(captures?["tag"] == "\"v1\"")
        #expect(folder.read("m.obj") == content)
        #expect(folder.names == ["m.obj"])
        #expect(service.state.withLock(\.mostFlying) == 4)
        #expect(service.ranges.first == "bytes=0-262143")
        #expect(service.requests.dropFirst().allSatisfy { $0.header("If-Range") == "\"v1\"" })
        #expect(bench.state.moved.received == 10 << 20)
    }

    @Test("goes on where each stream broke off, and fetches nothing twice")
    func cuts() async throws {
        let service = try FileService(content) { $0.cuts = [20 << 20, 1 << 20, 1 << 19, 1 << 18, 1 << 17, 99] }
        let bench = try bench(service)
        #expect(await bench.resume().failedTry?.kind == .silent)
        #expect(folder.read("m.obj") == nil)
        // Its notes stand behind the end.
        #expect(try #require(folder.read("m.obj.part")).count > 10 << 20)
        #expect(await bench.run().finished != nil)
        #expect(folder.read("m.obj") == content)
        #expect(bench.state.moved.received == 10 << 20)
    }

    @Test("survives a crash at every commit", arguments: 1...4)
    func crash(count: Int) async throws {
        let service = try FileService(content) { $0.rangeLimit = 1 << 19 }
        let bench = try bench(service)
        let died = await bench.resume(crash: (.downloadPart, count))
        #expect(died.hasDied || died.finished != nil)
        #expect(await bench.run().finished?["sha256"]?.string == TransferFolder.sha256(content))
        #expect(folder.read("m.obj") == content)
        #expect(folder.read("m.obj.part") == nil)
    }

    @Test("survives a crash behind the verdict", arguments: [CrashPoint.downloadVerified, .downloadRenamed])
    func named(point: CrashPoint) async throws {
        let service = try FileService(content)
        let bench = try bench(service)
        #expect(await bench.resume(crash: (point, 1)).hasDied)
        let before = service.requests.count
        #expect(await bench.run().finished != nil)
        #expect(service.requests.count == before)
        #expect(folder.names == ["m.obj"])
    }

    @Test("fetches again only the pieces of which the disk holds something else")
    func damaged() async throws {
        let service = try FileService(content) { $0.cuts = [20 << 20, 20 << 20, 20 << 20, 20 << 20, 99] }
        let bench = try bench(service)
        #expect(await bench.resume().failedTry != nil)
        let checkpoint = try #require(bench.state.checkpoint)
        let held = try CheckpointCoding<DownloadCheckpoint>.json.decode(checkpoint)
        let piece = try #require(held.ranges?.pieces.first { $0.done > 0 })
        let descriptor = open("\(folder.path)/m.obj.part", O_WRONLY)
        pwrite(descriptor, "damaged", 7, off_t(piece.start))
        close(descriptor)
        #expect(await bench.run().finished != nil)
        #expect(folder.read("m.obj") == content)
        #expect(bench.state.moved.received == (10 << 20) + piece.done)
    }

    @Test("never joins two versions")
    func changed() async throws {
        let other = TransferFolder.bytes(10 << 20, seed: 2)
        let service = try FileService(content) { $0.cuts = [20 << 20, 1 << 20, 99] }
        let bench = try bench(service)
        _ = await bench.resume()
        service.change { state in
            state.cuts = []
            state.content = other
            state.tag = "\"v2\""
        }
        #expect(await bench.run().finished != nil)
        #expect(folder.read("m.obj") == other)
    }

    @Test("comes in one stream from a service without ranges")
    func withoutRanges() async throws {
        let service = try FileService(content) { $0.ignoresRanges = true }
        let bench = try bench(service)
        #expect(await bench.resume().finished != nil)
        #expect(folder.read("m.obj") == content)
        #expect(service.requests.count == 1)
    }

    @Test("comes in one stream when nothing tells versions apart, in several when the digest is known")
    func withoutValidator() async throws {
        let service = try FileService(content) { $0.tag = nil }
        #expect(await (try bench(service)).resume().finished != nil)
        #expect(service.ranges == ["bytes=0-262143", nil])
        #expect(folder.read("m.obj") == content)
        let digest = ", \"overwrite\": true, \"verify\": { \"sha256\": \"\(TransferFolder.sha256(content))\" }"
        #expect(await (try bench(service, digest)).resume().finished != nil)
        #expect(service.requests.count > 5)
        #expect(folder.read("m.obj") == content)
    }

    @Test("takes shorter ranges than it asked for", arguments: [700_001, 1 << 20])
    func shorter(limit: Int) async throws {
        let service = try FileService(content) { $0.rangeLimit = limit }
        let bench = try bench(service)
        #expect(await bench.resume().finished != nil)
        #expect(folder.read("m.obj") == content)
        #expect(bench.state.moved.received == 10 << 20)
    }

    @Test("gets small and empty files as any other", arguments: [0, 1, 256 << 10, (256 << 10) + 1])
    func small(size: Int) async throws {
        let bytes = TransferFolder.bytes(size)
        let service = try FileService(bytes)
        #expect(await (try bench(service)).resume().finished?["bytes"]?.number?.int == size)
        #expect(folder.read("m.obj") == bytes)
    }

    @Test("that is cancelled keeps what every stream has")
    func cancelled() async throws {
        let gate = Gate()
        let service = try FileService(content) { $0.together = (gate, 99) }
        let bench = try bench(service)
        let host = bench.host(nil)
        let (stage, bytes) = (bench.stage, bench.state.checkpoint)
        let call = Task { await stage.resume(bytes, host) }
        while service.state.withLock(\.flying) < 4 { await Task.yield() }
        call.cancel()
        #expect(await call.value.isStopped)
        gate.open()
        bench.state = host.state.withLock { $0 }
        service.change { state in
            state.together = nil
            state.mostFlying = 0
        }
        #expect(await bench.run().finished != nil)
        #expect(folder.read("m.obj") == content)
    }
}

@Suite("A download of a part of an answer")
struct SelectedDownloadTests {
    private let folder = TransferFolder()

    private func run(_ body: String, _ more: String) async throws -> Result<StageOutcome<[UInt8]>, StageFailure> {
        let service = try FileService(Array(body.utf8))
        return await
            (try TransferBench(
                #"{ "id": "move", "kind": "download", "service": "api", "request": { "GET": "/a.json" }, "to": "out/", \#(more) }"#,
                url: service.url, folder: folder.path)).resume()
    }

    @Test("writes only what the selector finds, a text as it is and other values as JSON")
    func selects() async throws {
        let body = #"{"text": "héllo\n", "list": [1, 2.50]}"#
        let captures = await (try run(body, #""select": "$.text", "capture": { "n": "$.list[1]" }"#)).finished
        #expect(folder.read("out/a.json") == Array("héllo\n".utf8))
        #expect(captures?["bytes"] == 7)
        #expect(captures?["n"]?.text == "2.50")
        let again = await (try run(body, #""select": "$.list""#))
        #expect(again.refusal?.contains("a different file is at") == true)
        #expect(await (try run(body, #""select": "$.list", "overwrite": true"#)).finished != nil)
        #expect(folder.read("out/a.json") == Array("[1,2.50]".utf8))
    }

    @Test("fails when nothing is found, or when it is not what was wanted")
    func fails() async throws {
        #expect(await (try run(#"{"a": 1}"#, #""select": "$.b""#)).refusal?.contains("$.b matches nothing") == true)
        #expect(
            await (try run(#"{"a": 1}"#, #""select": "$.a", "verify": { "size": 2 }"#)).refusal?.contains(
                "it has 1 bytes, and \"verify\" says 2") == true)
        #expect(folder.read("out/a.json") == nil)
    }
}
