import JSONPath
import PipelineCore
import PipelineTestKit
import Synchronization
import Testing

#if os(Linux)
    @testable import PipelineStages

    @Suite(
        "A download to a full disk", .enabled(if: SmallDisk.isPossible, "needs the right to mount a file system"),
        .serialized)
    struct FullDiskTests {
        private let content = TransferFolder.bytes(3 << 20)

        private func bench(_ service: FileService, _ disk: SmallDisk) throws -> TransferBench {
            try TransferBench(
                #"{ "id": "move", "kind": "download", "service": "api", "request": { "GET": "/x" }, "to": "x.bin" }"#,
                url: service.url, folder: disk.path)
        }

        @Test("says before the transfer what it needs and what is free")
        func before() async throws {
            let disk = try SmallDisk(kilobytes: 1024)
            let service = try FileService(content)
            let failed = await (try bench(service, disk)).resume().failedTry
            #expect(failed?.kind == .silent)
            #expect(failed?.failure.title.contains("it needs 3.0 MiB, and 1.0 MiB are free") == true)
            // It spun where the document's delays are tiny.
            #expect(failed?.pause == .seconds(10))
        }

        @Test("has its room from the first byte on: nobody else can take it")
        func reserved() async throws {
            let disk = try SmallDisk(kilobytes: 4096)
            let gates = (reached: Gate(), goOn: Gate())
            let service = try FileService(content) { $0.half = gates }
            let bench = try bench(service, disk)
            let host = bench.host(nil)
            let stage = bench.stage
            async let outcome = stage.resume(nil, host)
            while host.state.withLock(\.progress).isEmpty { await Task.yield() }
            // What was reserved does not count as free, though the file is not that long yet.
            #expect(try #require(Folder.freeSpace(disk.path)) <= 1 << 20)
            gates.goOn.open()
            #expect(await outcome.finished?["bytes"] == 3145728)
        }

        @Test("in its middle keeps what is there, and goes on when there is room")
        func middle() async throws {
            let disk = try SmallDisk(kilobytes: 2048)
            // Without a length nothing can be known beforehand.
            let service = try FileService(content) { $0.isChunked = true }
            let bench = try bench(service, disk)
            let failed = await bench.resume().failedTry
            #expect(failed?.kind == .silent)
            #expect(failed?.failure.title.contains("No space left on device") == true)
            #expect(failed?.pause == .seconds(10))
            #expect(failed?.failure.hint?.contains("make room") == true)
            service.change { $0.isChunked = false }
            try #require(disk.resize(kilobytes: 8192))
            #expect(await bench.resume().finished?["bytes"] == 3145728)
            #expect(service.ranges.last??.hasPrefix("bytes=") == true)
        }

        /// libarchive only warned of it: files were there as zeros, and the archive was gone.
        @Test(
            "keeps the archive that it has no room to unpack, and unpacks it when there is",
            arguments: [PackedFile.Form.zip, .tarGzip, .gzip])
        func unpacking(form: PackedFile.Form) async throws {
            let disk = try SmallDisk(kilobytes: 2048)
            // Zeros alone would be an empty archive.
            let content = [UInt8](repeating: 7, count: 3 << 20)
            let packed = PackedFile.bytes(form, [PackedFile.Entry(name: "x", content: content)])
            let service = try FileService(packed)
            let bench = try TransferBench(
                """
                { "id": "move", "kind": "download", "service": "api", "request": { "GET": "/x" }, "to": "x.out",
                  "unpack": "auto" }
                """, url: service.url, folder: disk.path)
            let failed = await bench.resume().failedTry
            #expect(failed?.kind == .silent)
            #expect(failed?.failure.title.contains("No space left on device") == true)
            #expect(failed?.pause == .seconds(10))
            #expect(TransferFolder.names(in: disk.path) == ["x.out.part"])
            // It waits for room however long its link is good for.
            let checkpoint = try #require(bench.state.checkpoint)
            #expect(bench.stage.standsAlone?(checkpoint) == true)
            try #require(disk.resize(kilobytes: 8192))
            #expect(await bench.resume().finished != nil)
            #expect(bench.state.files.map(\.sha256) == [TransferFolder.sha256(content)])
            let path = form == .gzip ? "\(disk.path)/x.out" : "\(disk.path)/x.out/x"
            #expect(try FileDigest.sha256(of: path) == TransferFolder.sha256(content))
            #expect(service.requests.count == 1)
        }
    }
#endif
