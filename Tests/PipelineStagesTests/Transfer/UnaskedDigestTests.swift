import JSONPath
import PipelineCore
import Testing

@testable import PipelineStages

@Suite("The digest of a download")
struct UnaskedDigestTests {
    private static let mebibyte = 1 << 20
    private let folder = TransferFolder()
    private let content = TransferFolder.bytes(3 << 20)

    private func bench(_ service: FileService, _ more: String = "", isRead: Bool = false) throws -> TransferBench {
        let bench = try TransferBench.download(from: service, more, to: "m.obj", in: folder)
        bench.state.namesRead = isRead ? ["sha256"] : []
        return bench
    }

    private func checkpoint(_ bench: TransferBench) throws -> DownloadCheckpoint {
        try CheckpointCoding<DownloadCheckpoint>.json.decode(try #require(bench.state.checkpoint))
    }

    @Test("is null where nobody asks for it, also after an interruption", arguments: [1, 4])
    func none(streams: Int) async throws {
        let service = try FileService(content) { $0.cuts = [Self.mebibyte] }
        let bench = try bench(service, ", \"parallel\": \(streams)")
        let captures = try #require(await bench.run().finished)
        #expect(captures["sha256"] == .null)
        #expect(bench.state.files.map(\.sha256) == [nil])
        #expect(
            bench.state.files.map(\.json.text) == [#"{"path":"\#(folder.path)/m.obj","bytes":3145728,"sha256":null}"#])
        let isWhole = folder.read("m.obj") == content
        #expect(isWhole)
        #expect(try checkpoint(bench).verified?.proof?.count == 8)
    }

    @Test("is made where the stage, a check or an expression asks for it")
    func asked() async throws {
        let digest = TransferFolder.sha256(content)
        let ways = [
            (", \"digest\": true", false), (", \"verify\": { \"sha256\": \"\(digest)\" }", false), ("", true),
        ]
        for (more, isRead) in ways {
            let service = try FileService(content)
            let bench = try bench(service, ", \"overwrite\": true" + more, isRead: isRead)
            #expect(await bench.run().finished?["sha256"]?.string == digest, "\(more)")
            #expect(bench.state.files.map(\.sha256) == [digest])
        }
    }

    @Test("is made once the file is whole where it was asked for after the download had begun")
    func askedLate() async throws {
        let service = try FileService(content) { $0.cuts = [Self.mebibyte] }
        let bench = try bench(service)
        #expect(await bench.resume().finished == nil)
        #expect(try checkpoint(bench).heldDigest?.count == 8)
        bench.state.namesRead = ["sha256"]
        #expect(await bench.run().finished?["sha256"]?.string == TransferFolder.sha256(content))
        #expect(service.ranges.count == 2)
    }

    @Test("of a part that 0.1.0 left is gone on with, though nobody asks for it now")
    func old() async throws {
        let service = try FileService(content)
        let bench = try bench(service)
        folder.write("m.obj.part", Array(content.prefix(Self.mebibyte)))
        var checkpoint = DownloadCheckpoint(target: folder.path + "/m.obj")
        checkpoint.held = Int64(Self.mebibyte)
        checkpoint.heldDigest = TransferFolder.sha256(Array(content.prefix(Self.mebibyte)))
        checkpoint.validator = .entityTag("\"v1\"")
        checkpoint.total = Int64(content.count)
        bench.state.checkpoint = try CheckpointCoding.json.encode(checkpoint)
        #expect(await bench.run().finished != nil)
        #expect(service.ranges == ["bytes=\(Self.mebibyte)-"])
        let isWhole = folder.read("m.obj") == content
        #expect(isWhole)
    }

    @Test("does not decide whether a file of that name is the same: all bytes do")
    func sameBytes() async throws {
        folder.write("m.obj", content)
        let same = try FileService(content)
        #expect(await (try bench(same)).run().finished != nil)
        #expect(folder.names == ["m.obj"])
        var other = content
        other[Self.mebibyte] ^= 1
        let different = try FileService(other)
        #expect(await (try bench(different)).run().refusal?.contains("a different file is at") == true)
        let isKept = folder.read("m.obj.part") == other
        #expect(isKept)
    }
}
