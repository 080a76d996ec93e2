import CZlib
import Crypto
import JSONPath
import PipelineCore
import PipelineTestKit
import Testing

@testable import PipelineHTTP
@testable import PipelineStages

@Suite("A download that the service codes, although it was asked for as it is")
struct CodedDownloadTests {
    private let folder = TransferFolder()
    private let content = TransferFolder.bytes(3 << 20)

    private func bench(_ service: FileService, _ more: String = "") throws -> TransferBench {
        try .download(from: service, more, to: "m.obj", in: folder)
    }

    private func gzip(_ bytes: [UInt8]) throws -> [UInt8] {
        let stream = GzipStream([.bytes(bytes)])
        var packed: [UInt8] = []
        while true {
            let piece = [UInt8](unsafeUninitializedCapacity: 64 << 10) { buffer, count in
                count = stream.read(into: UnsafeMutableRawBufferPointer(buffer)) ?? 0
            }
            if piece.isEmpty { return packed }
            packed += piece
        }
    }

    private func service(_ fields: [(String, String)] = []) throws -> FileService {
        let packed = try gzip(content)
        return try FileService(packed) {
            $0.fields = [("Content-Encoding", "gzip"), TransferBench.digestField(packed)] + fields
        }
    }

    @Test("is decoded as it is written; a digest of the service's is of what it sent, and verify of the file")
    func decoded() async throws {
        let service = try service()
        let bench = try bench(service, TransferBench.verifying(content))
        let captures = await bench.run().finished
        #expect(folder.read("m.obj") == content)
        #expect(captures?["bytes"] == .number(JSONNumber(content.count)))
        #expect(captures?["sha256"]?.string == TransferFolder.sha256(content))
        #expect(folder.names == ["m.obj"])
    }

    /// It had been decoded as it came, was then no gzip any more, and was refused each time.
    @Test("and that is to be unpacked is what was in the coding", arguments: ["gz", "auto"])
    func unpacked(format: String) async throws {
        let service = try service([("Content-Disposition", "attachment; filename=\"m.obj.gz\"")])
        let bench = try TransferBench.download(
            from: service, ", \"unpack\": \"\(format)\"", to: "out/", in: folder)
        #expect(await bench.run().finished?["path"]?.string == "\(folder.path)/out/m.obj")
        #expect(folder.read("out/m.obj") == content)
        service.change { $0.content = (try? gzip([])) ?? [] }
        let empty = try TransferBench.download(
            from: service, ", \"unpack\": \"\(format)\"", to: "empty/", in: folder)
        service.change { $0.fields = [("Content-Encoding", "gzip")] }
        #expect(await empty.run().finished != nil)
        #expect(folder.read("empty/mesh.obj") == [])
    }

    @Test("and that is compressed within the coding is unpacked all the same")
    func compressedTwice() async throws {
        let packed = try gzip(gzip(content))
        let service = try FileService(packed) { $0.fields = [("Content-Encoding", "gzip")] }
        let bench = try bench(service, ", \"unpack\": \"gz\"")
        #expect(await bench.run().finished != nil)
        #expect(folder.read("m.obj") == content)
    }

    @Test("is refused when what the service sent has not the digest that it states")
    func damaged() async throws {
        let packed = try gzip(content)
        let service = try FileService(packed) {
            $0.fields = [("Content-Encoding", "gzip"), TransferBench.digestField(content)]
        }
        #expect(await (try bench(service)).run().refusal?.contains("Repr-Digest") == true)
        #expect(folder.read("m.obj") == nil)
    }

    @Test("begins anew after an interruption, without a range", arguments: [1, 4])
    func interrupted(streams: Int) async throws {
        let service = try service()
        service.change { $0.cuts = [1 << 20] }
        let bench = try bench(service, ", \"parallel\": \(streams)")
        #expect(await bench.run().finished != nil)
        #expect(folder.read("m.obj") == content)
        if streams == 1 { #expect(service.ranges == [nil, nil]) }
    }

    @Test("goes no further than the size that the author states")
    func bounded() async throws {
        let service = try service()
        #expect(await (try bench(service, ", \"verify\": { \"size\": 1000 }")).run().refusal?.contains("1000") == true)
        #expect(folder.names.isEmpty)
    }

    @Test("is refused in a coding that is not undone here, and kept as it is under a name that is no coding")
    func foreign() async throws {
        let service = try FileService(content) { $0.fields = [("Content-Encoding", "br")] }
        let refusal = await (try bench(service)).run().refusal
        #expect(refusal == "the service sent the file coded as 'br', although it was asked for as it is")
        #expect(folder.names.isEmpty)
        service.change { $0.fields = [("Content-Encoding", "aws-chunked")] }
        #expect(await (try bench(service)).run().finished != nil)
        #expect(folder.read("m.obj") == content)
    }
}
