import PipelineCore
import PipelineTestKit
import Testing

@testable import PipelineStages

@Suite("What a download is checked against")
struct DownloadVerifyTests {
    private let folder = TransferFolder()
    private let content = TransferFolder.bytes(10 << 20)

    private func bench(_ service: FileService, _ more: String = "", to: String = "out/mesh.obj") throws -> TransferBench
    {
        try .download(from: service, more, to: to, in: folder)
    }

    @Test("of a file that comes damaged is fetched once more, then fails with both digests")
    func damaged() async throws {
        let small = Array(content.prefix(100_000))
        let once = try FileService(small) { $0.damages = 1 }
        let mended = try bench(once, TransferBench.verifying(small))
        let first = await mended.resume()
        #expect(first.failedTry?.kind == .answered)
        #expect(await mended.resume().finished != nil)
        #expect(folder.read("out/mesh.obj") == small)
        let always = try FileService(small) { $0.damages = 1000 }
        let broken = try bench(always, TransferBench.verifying(small), to: "b.obj")
        let refusal = await broken.run().refusal
        #expect(refusal?.contains(TransferFolder.sha256(small)) == true)
        #expect(refusal?.contains("its SHA-256 is") == true)
        #expect(always.requests.count == 2)
        #expect(!folder.names.contains("b.obj"))
        #expect(!folder.names.contains("b.obj.part"))
    }

    /// Half a file whose connection had ended in the middle got the name without a word.
    @Test("that nothing says to be whole is told as that, unless it is verified")
    func unstatedEnd() async throws {
        let small = Array(content.prefix(1000))
        let answer = ScriptedAnswer([.head(200, [("Connection", "close")]), .bytes(small), .close])
        let service = try FileService(small) { $0.answers = [answer, answer] }
        let bare = try bench(service, to: "a")
        #expect(await bare.resume().finished != nil)
        #expect(bare.state.warnings.count == 1)
        #expect(bare.state.warnings.first?.hasPrefix("nothing says whether the file is whole") == true)
        let verified = try bench(service, TransferBench.verifying(small), to: "b")
        #expect(await verified.resume().finished != nil)
        #expect(verified.state.warnings.isEmpty)
        let stated = try bench(service, to: "c")
        #expect(await stated.resume().finished != nil)
        #expect(stated.state.warnings.isEmpty)
    }

    /// A service that stopped sending its digest switched the check off, and nobody saw it.
    @Test("by a null is warned of", arguments: ["sha256", "size"])
    func nullValue(name: String) async throws {
        let small = Array(content.prefix(1000))
        let service = try FileService(small)
        let bench = try bench(service, #", "verify": { "\#(name)": "${{ null }}" }"#, to: "a")
        #expect(await bench.resume().finished != nil)
        #expect(bench.state.warnings == [#"nothing verifies the file: in "verify", \#(name) is null"#])
    }

    @Test("checks the service's own digest unasked, also after a resume")
    func ownDigest() async throws {
        let wrong = TransferBench.digestField([1])
        let service = try FileService(content) { state in
            state.fields = [wrong]
            state.cuts = [9 << 20]
        }
        let bench = try bench(service)
        #expect(await bench.run().refusal?.contains("Repr-Digest says") == true)
        let right = TransferBench.digestField(content)
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
        #expect(failure?.hint?.contains("nothing was kept") == true)
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
        #expect(size.refusal?.contains("the service announces 5 bytes, and \"verify\" says 6") == true)
        let header = await (try bench(service, #", "verify": { "header": "X-Other" }"#, to: "c")).run()
        #expect(header.refusal?.contains("no digest in the header X-Other") == true)
    }

    @Test("in size is told by the head where that promises another one: the body is not fetched")
    func refusedByHead() async throws {
        let (reached, goOn) = (Gate(), Gate())
        let service = try FileService(content) { $0.half = (reached, goOn) }
        let bench = try bench(service, #", "verify": { "size": 5 }"#)
        #expect(await bench.run().refusal?.contains("announces \(content.count) bytes") == true)
        #expect(service.requests.count == 2)
        #expect(folder.names.isEmpty)
        goOn.open()
    }

    /// A page that says "not ready yet" has another size than the file.
    @Test("in size leaves an answer to the rules of `fail` first")
    func rulesFirst() async throws {
        let small: [UInt8] = Array("hello".utf8)
        let service = try FileService(small) { $0.answers = [.status(200, body: #"{"state": "making it"}"#)] }
        let bench = try TransferBench(
            """
            { "id": "move", "kind": "download", "service": "api", "to": "mesh.obj", "verify": { "size": 5 },
              "request": { "GET": "/mesh.obj", "fail": [{ "when": "response.body.state == 'making it'", "retry": true }] } }
            """, url: service.url, folder: folder.path)
        #expect(await bench.resume().failedTry?.kind == .answered)
        #expect(await bench.resume().finished != nil)
    }
}
