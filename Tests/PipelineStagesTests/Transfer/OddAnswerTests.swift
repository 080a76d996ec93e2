import CLibrary
import JSONPath
import PipelineCore
import PipelineTestKit
import Testing

@testable import PipelineStages

@Suite("A download from a service that contradicts itself")
struct OddAnswerTests {
    private static let mebibyte = 1 << 20

    private let folder = TransferFolder()
    private let content = TransferFolder.bytes(10 << 20)

    private func bench(_ service: FileService, _ more: String = "", to: String = "m.obj") throws -> TransferBench {
        try .download(from: service, more, to: to, in: folder)
    }

    private func chunked(_ status: Int, _ fields: [(String, String)], _ body: [UInt8]) -> ScriptedAnswer {
        let head = fields + [("ETag", "\"v1\""), ("Transfer-Encoding", "chunked")]
        return ScriptedAnswer([.head(status, head), .chunk(body), .endOfChunks(trailers: [])])
    }

    /// A first answer that ends after a mebibyte, and a next one.
    private func broken(_ next: ScriptedAnswer) throws -> FileService {
        try FileService(content) { [content] state in
            state.answers = [
                ScriptedAnswer([
                    .head(200, [("ETag", "\"v1\""), ("Content-Length", "\(content.count)")]),
                    .bytes(Array(content.prefix(Self.mebibyte))), .close,
                ]), next,
            ]
        }
    }

    /// Expects that a job ends with the file, and nothing beside it.
    private func expectContent(_ bench: TransferBench) async {
        #expect(await bench.run().finished?["sha256"]?.string == TransferFolder.sha256(content))
        #expect(folder.read("m.obj") == content)
        #expect(folder.names == ["m.obj"])
    }

    /// Notes were written into the middle of what came, and a digest of what came agreed all the same.
    @Test("with chunks that are more than its length takes the chunks", arguments: [true, false])
    func lengthBesideChunks(isVerified: Bool) async throws {
        let service = try FileService(content) { [content] state in
            state.answers = [chunked(200, [("Content-Length", "\(Self.mebibyte)")], content)]
        }
        let bench = try bench(service, isVerified ? TransferBench.verifying(content) : "")
        await expectContent(bench)
        #expect(service.requests.count == 1)
    }

    /// It was sent three times without a word, and each was paid.
    @Test("to a POST that breaks off warns that it is sent again, and may be charged again")
    func brokenPost() async throws {
        let service = try broken(.status(200, bytes: content))
        let bench = try TransferBench(
            """
            { "id": "move", "kind": "download", "service": "api", "request": { "POST": "/speech" }, "to": "m.obj" }
            """, url: service.url, folder: folder.path)
        await expectContent(bench)
        #expect(service.requests.count == 2)
        #expect(bench.state.warnings.count { $0.contains("the response to the POST broke off") } == 1)
    }

    @Test("with more bytes than the range that it names takes none of these")
    func longRange() async throws {
        let (start, end) = (Self.mebibyte, content.count)
        let body = content[start...] + TransferFolder.bytes(2 << 20, seed: 3)
        let service = try broken(chunked(206, [("Content-Range", "bytes \(start)-\(end - 1)/\(end)")], Array(body)))
        let bench = try bench(service)
        await expectContent(bench)
    }

    @Test("with a range of a file that it does not know the length of has not sent the whole")
    func unknownLength() async throws {
        let (start, end) = (Self.mebibyte, 5 * Self.mebibyte)
        let service = try FileService(content) { [content] state in
            state.answers = [
                ScriptedAnswer([
                    .head(200, [("ETag", "\"v1\""), ("Transfer-Encoding", "chunked")]),
                    .chunk(Array(content[..<start])), .close,
                ]),
                chunked(206, [("Content-Range", "bytes \(start)-\(end - 1)/*")], Array(content[start..<end])),
                chunked(206, [("Content-Range", "bytes \(end)-\(content.count - 1)/*")], Array(content[end...])),
            ]
        }
        let bench = try bench(service)
        await expectContent(bench)
        #expect(service.ranges == [nil, "bytes=\(start)-", "bytes=\(end)-", "bytes=\(content.count)-"])
    }

    /// The body's end was written behind zeros, and its digest alone was that of the file.
    @Test("with a status line among its trailers has answered before")
    func secondHead() async throws {
        let body = Array(content.prefix(600_000))
        let answer = ScriptedAnswer([
            .head(200, [("Transfer-Encoding", "chunked")]), .chunk(body),
            .bytes(Array("0\r\nHTTP/1.1: 200\r\n \r\n\r\n".utf8)),
        ])
        let service = try FileService(body) { $0.answers = [answer] }
        #expect(await (try bench(service)).run().finished?["sha256"]?.string == TransferFolder.sha256(body))
        #expect(folder.read("m.obj") == body)
        unlink(folder.path + "/m.obj")
        service.change { $0.answers = [answer, answer] }
        let verifying = try bench(service, TransferBench.verifying(Array(body[(512 << 10)...])))
        #expect(await verifying.run().refusal?.contains("its SHA-256 is") == true)
        #expect(folder.names.isEmpty)
    }

    @Test("whose answer a rule of the author's refuses is no file, whatever its status")
    func ruledOut() async throws {
        let page = Array("<html>log in".utf8)
        let service = try FileService(page) { $0.fields = [("Content-Type", "text/html")] }
        let rules = [
            "response.headers['Content-Type'] == 'text/html'", "startsWith(response.body, '<html>')",
        ]
        for rule in rules {
            let request = #""request": { "GET": "/mesh.obj", "fail": [{ "when": "\#(rule)", "message": "no model" }] }"#
            let bench = try TransferBench(
                #"{ "id": "move", "kind": "download", "service": "api", \#(request), "to": "m.obj" }"#,
                url: service.url, folder: folder.path)
            #expect(await bench.run().refusal?.contains("no model") == true)
            #expect(folder.names.isEmpty)
        }
    }

    /// What had moved counted as progress: a large file was fetched for as long as the rule refused it.
    @Test("that a rule refuses for now is asked again as often as the author says")
    func refusedForNow() async throws {
        let service = try FileService(content) { $0.fields = [("X-State", "old")] }
        let rule = #"{ "when": "response.headers['X-State'] == 'old'", "message": "old", "retry": true }"#
        let bench = try TransferBench(
            """
            { "id": "move", "kind": "download", "service": "api", "to": "m.obj",
              "request": { "GET": "/mesh.obj", "fail": [\(rule)] } }
            """, url: service.url, folder: folder.path)
        #expect(await bench.run().refusal == "old")
        #expect(service.requests.count == 5)
        service.change { $0.fields = [] }
        await expectContent(bench)
    }

    /// The tag was that of both, as with some servers that compress.
    /// The rule had no text to look in, and a file that was whole failed for it.
    @Test("is judged by the beginning of its file where that is large", arguments: ["<html", "\u{FFFD}", ""])
    func judgedByBeginning(word: String) async throws {
        let service = try FileService(Array("solid x".utf8) + content)
        let request =
            #""request": { "GET": "/mesh.obj", "fail": [{ "when": "startsWith(response.body, '\#(word)')", "message": "x" }] }"#
        let bench = try TransferBench(
            #"{ "id": "move", "kind": "download", "service": "api", \#(request), "to": "m.obj" }"#,
            url: service.url, folder: folder.path)
        let outcome = await bench.run()
        #expect((outcome.finished != nil) == !word.isEmpty)
        #expect(folder.names == (word.isEmpty ? [] : ["m.obj"]))
    }

    @Test("that codes the whole and not its parts never gives half of each", arguments: [nil, "x-own"])
    func codedWhole(coding: String?) async throws {
        let start = Self.mebibyte
        let service = try FileService(content) { [content] state in
            state.answers = [
                ScriptedAnswer([
                    .head(200, [("ETag", "\"v1\""), ("Transfer-Encoding", "chunked"), ("Content-Encoding", "x-own")]),
                    .chunk(TransferFolder.bytes(start, seed: 5)), .close,
                ])
            ]
            if let coding {
                state.answers[0].steps[1] = .chunk(Array(content[..<start]))
                state.fields = [("Content-Encoding", coding)]
            }
        }
        await expectContent(try bench(service))
        #expect(service.ranges.prefix(2) == [nil, "bytes=\(start)-"])
        #expect(service.requests.count == (coding == nil ? 3 : 2))
    }

    @Test("by a header of the author's is checked where it sends ranges too", arguments: ["X-Sum", "Content-MD5"])
    func headerOfRanges(name: String) async throws {
        let wrong = name == "X-Sum" ? TransferFolder.sha256([1]) : "1B2M2Y8AsgTpgAmY7PhCfg=="
        let service = try FileService(content) { $0.fields = [(name, wrong)] }
        let keys = #", "parallel": 4, "verify": { "header": "\#(name)" }"#
        #expect(await (try bench(service, keys)).run().refusal?.contains("and \(name) says") == true)
        guard name == "X-Sum" else { return }
        let right = TransferFolder.sha256(content)
        service.change { $0.fields = [(name, right)] }
        await expectContent(try bench(service, keys))
        #expect(service.ranges.contains("bytes=0-\(DownloadRun.probeLength - 1)"))
    }

    /// The sum of the rest was taken for one of the whole, and what had come was thrown away.
    @Test("that gives each answer's own sum is believed for the first")
    func sumOfParts() async throws {
        let (first, rest) = (Array(content.prefix(Self.mebibyte)), Array(content.dropFirst(Self.mebibyte)))
        let range = "bytes \(first.count)-\(content.count - 1)/\(content.count)"
        func head(_ status: Int, _ bytes: [UInt8], _ more: [(String, String)] = []) -> ScriptedAnswer.Step {
            let sum = TransferFolder.sha256(bytes)
            return .head(status, more + [("ETag", "\"v1\""), ("Content-Length", "\(bytes.count)"), ("X-Sum", sum)])
        }
        let service = try FileService(content) { [content] state in
            state.answers = [
                ScriptedAnswer([head(200, content), .bytes(first), .close]),
                ScriptedAnswer([head(206, rest, [("Content-Range", range)]), .bytes(rest)]),
            ]
        }
        await expectContent(try bench(service, #", "verify": { "header": "X-Sum" }"#))
        #expect(service.requests.count == 2)
    }

    @Test("of a file that is there already is judged by all that the author says")
    func alreadyThere() async throws {
        let small: [UInt8] = Array("hello".utf8)
        let service = try FileService(small) { $0.fields = [TransferBench.digestField(small), ("X-Model", "m1")] }
        folder.write("a", small)
        let captured = await (try bench(service, #", "capture": { "model": "header:X-Model" }"#, to: "a")).run()
        #expect(captured.finished?["model"] == "m1")
        let size = await (try bench(service, #", "verify": { "size": 6 }"#, to: "a")).run()
        #expect(size.refusal?.contains("the service announces 5 bytes, and \"verify\" says 6") == true)
        let header = await (try bench(service, #", "verify": { "header": "X-Other" }"#, to: "a")).run()
        #expect(header.refusal?.contains("no digest in the header X-Other") == true)
        #expect(folder.read("a") == small)
    }

    @Test("is believed for a file that is there already only by a digest, and by its length")
    func alreadyThereByChance() async throws {
        // Both words have the CRC-32 4ddb0c25.
        let (one, other): ([UInt8], [UInt8]) = (Array("plumless".utf8), Array("buckeroo".utf8))
        let service = try FileService(one) { $0.fields = [("x-amz-checksum-crc32", "TdsMJQ==")] }
        folder.write("a", other)
        #expect(await (try bench(service, to: "a")).run().refusal?.contains("a different file is at") == true)
        #expect(folder.read("a.part") == one)
        #expect(folder.read("a") == other)
    }

    @Test("begins again where a checksum is all that tells its versions apart")
    func checksumAlone() async throws {
        var checksum = CRC32C()
        content.withUnsafeBytes { checksum.update(bufferPointer: $0) }
        let text = Base64Bytes.encode(checksum.value)
        let service = try FileService(content) { state in
            state.tag = nil
            state.fields = [("x-goog-hash", "crc32c=\(text)")]
            state.cuts = [Self.mebibyte]
        }
        await expectContent(try bench(service))
        #expect(service.ranges == [nil, nil])
    }

    @Test("that has no end is cut off where the author says that the file ends")
    func endless() async throws {
        let endless = ScriptedAnswer(
            [.head(200, [("Transfer-Encoding", "chunked")])]
                + Array(repeating: .chunk([UInt8](repeating: 7, count: 64 << 10)), count: 64) + [.stall])
        let service = try FileService(content) { $0.answers = [endless, endless] }
        let refusal = await (try bench(service, #", "verify": { "size": 70000 }"#)).run().refusal
        #expect(refusal?.contains("it has more than 70000 bytes, and \"verify\" says 70000") == true)
        #expect(folder.names.isEmpty)
    }
}
