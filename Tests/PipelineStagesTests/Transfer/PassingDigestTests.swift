import Crypto
import HTTPTypes
import PipelineCore
import Testing

@testable import PipelineStages

/// What a service says of a file, in each of the forms that are known.
struct Statement: Sendable, CustomTestStringConvertible {
    let name: String
    let value: @Sendable ([UInt8]) -> String
    var testDescription: String { name }

    static let all = [
        Statement(name: "Content-MD5") { Base64Bytes.encode(Insecure.MD5.hash(data: $0)) },
        Statement(name: "Repr-Digest") { "sha-512=:\(Base64Bytes.encode(SHA512.hash(data: $0))):" },
        Statement(name: "x-goog-hash") { bytes in
            "crc32c=\(checksum(.crc32c, bytes)), md5=\(Base64Bytes.encode(Insecure.MD5.hash(data: bytes)))"
        },
        Statement(name: "x-amz-checksum-crc32") { checksum(.crc32, $0) },
        Statement(name: "x-amz-checksum-sha1") { Base64Bytes.encode(Insecure.SHA1.hash(data: $0)) },
    ]

    private static func checksum(_ kind: DigestAlgorithm, _ bytes: [UInt8]) -> String {
        var checksum = kind.begin()
        bytes.withUnsafeBytes { checksum.update(bufferPointer: $0) }
        return Base64Bytes.encode(checksum.value)
    }
}

@Suite("Digests that are made out of the bytes as they pass")
struct PassingDigestTests {
    private let folder = TransferFolder()
    private let content = TransferFolder.bytes(1 << 20)

    /// A download whose part gets another byte behind the last one of the file, and before anything is checked: whoever
    /// reads the file again finds something else than what has passed.
    private func bench(_ service: FileService, _ more: String = "") throws -> TransferBench {
        let bench = try TransferBench(
            #"{ "id": "move", "kind": "download", "service": "api", "request": { "GET": "/a" }, "to": "a" \#(more) }"#,
            url: service.url, folder: folder.path)
        let (folder, other) = (folder, [content[5] ^ 1])
        bench.onPass = { point, _ in
            if point == .downloadPart { folder.overwriteInSecret("a.part", at: 5, other) }
        }
        return bench
    }

    @Test("the file is not read again, whatever the service states", arguments: Statement.all)
    func once(statement: Statement) async throws {
        let field = (statement.name, statement.value(content))
        let service = try FileService(content) { $0.fields = [field] }
        #expect(try await bench(service).resume().finished != nil)
    }

    @Test("nor for a header that the author names")
    func named() async throws {
        let field = ("X-Sum", Insecure.MD5.hash(data: content).hex)
        let service = try FileService(content) { $0.fields = [field] }
        #expect(try await bench(service, #", "verify": { "header": "X-Sum" }"#).resume().finished != nil)
    }

    @Test("nor after an interruption, when what is held has been looked at", arguments: Statement.all)
    func interrupted(statement: Statement) async throws {
        let field = (statement.name, statement.value(content))
        let service = try FileService(content) { state in
            state.fields = [field]
            state.cuts = [600_001]
        }
        let bench = try bench(service)
        #expect(await bench.resume().finished == nil)
        #expect(await bench.resume().finished != nil)
        #expect(service.ranges == [nil, "bytes=600001-"])
    }

    @Test("a service that sends less than it was asked for is no reason either")
    func pieces() async throws {
        let statement = Statement.all[2]
        let field = (statement.name, statement.value(content))
        let service = try FileService(content) { state in
            state.fields = [field]
            state.cuts = [100_000]
            state.rangeLimit = 300_000
        }
        let bench = try TransferBench(
            #"{ "id": "move", "kind": "download", "service": "api", "request": { "GET": "/a" }, "to": "a" }"#,
            url: service.url, folder: folder.path)
        #expect(await bench.run().finished != nil)
        #expect(folder.read("a") == content)
        #expect(service.requests.count == 5)
    }

    @Test("a digest that comes behind the bytes is read from the file, which shows what this suite rests on")
    func late() async throws {
        let trailer = ("Content-MD5", Statement.all[0].value(content))
        let service = try FileService(content) { state in
            state.isChunked = true
            state.trailers = [trailer]
        }
        let failure = try await bench(service).resume().failedTry?.failure
        #expect(failure?.title.contains("its MD5 is") == true, "\(String(describing: failure))")
        let unharmed = try bench(service)
        unharmed.onPass = { _, _ in }
        #expect(await unharmed.resume().finished != nil)
    }

    @Test("in several streams they run behind the bytes, over an interruption too", arguments: [true, false])
    func ranges(isRight: Bool) async throws {
        let content = TransferFolder.bytes(10 << 20)
        let fields = Statement.all.map { ($0.name, $0.value(isRight ? content : [1])) }.filter { $0.0 == "x-goog-hash" }
        let service = try FileService(content) { state in
            state.fields = fields
            state.cuts = [20 << 20, 1 << 20, 1 << 19, 99]
        }
        let bench = try TransferBench(
            """
            { "id": "move", "kind": "download", "service": "api", "request": { "GET": "/a" }, "to": "a", "parallel": 4 }
            """, url: service.url, folder: folder.path)
        bench.state.checkpoint = try CheckpointCoding.json.encode(DownloadCheckpoint(streams: 4))
        #expect(await bench.resume().finished == nil)
        let end = await bench.run()
        #expect((end.finished != nil) == isRight, "\(end)")
        #expect((folder.read("a") == content) == isRight)
        if !isRight { #expect(end.refusal?.contains("x-goog-hash says") == true) }
    }

    @Test("each is that of all bytes, however they are cut, and what was not asked for is not made out")
    func values() {
        for cut in [0, 1, 64, 4095, content.count] {
            var digests = RunningDigests(DigestAlgorithm.allCases)
            content[..<cut].withUnsafeBytes { digests.update($0) }
            let before = digests
            content[cut...].withUnsafeBytes { digests.update($0) }
            #expect(digests.hex(.sha256) == TransferFolder.sha256(content))
            #expect(digests.hex(.sha512) == SHA512.hash(data: content).hex)
            #expect(digests.hex(.md5) == Insecure.MD5.hash(data: content).hex)
            #expect(digests.hex(.sha1) == Insecure.SHA1.hash(data: content).hex)
            if cut < content.count { #expect(before.hex(.crc32) != digests.hex(.crc32)) }
        }
        #expect(RunningDigests([.md5]).hex(.sha1) == nil)
    }
}
