import CZlib
import HTTPTypes
import NetworkTasks
import PipelineTestKit
import Synchronization
import Testing

@testable import PipelineHTTP

@Suite("Responses in content codings")
struct ContentCodingTests {
    private let network = Network(transport: CurlTransport())
    private static let plain = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 / 7 ^ $0 / 1000) }

    /// The bytes in the form that zlib's `bits` name: 31 gzip, 15 zlib, -15 bare deflate.
    static func packed(_ bytes: [UInt8], bits: Int32) -> [UInt8] {
        var stream = z_stream()
        let size = Int32(MemoryLayout<z_stream>.size)
        guard deflateInit2_(&stream, 6, Z_DEFLATED, bits, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION, size) == Z_OK else {
            return []
        }
        defer { deflateEnd(&stream) }
        var input = bytes
        return input.withUnsafeMutableBufferPointer { input in
            stream.next_in = input.baseAddress
            stream.avail_in = UInt32(input.count)
            return [UInt8](unsafeUninitializedCapacity: input.count + 1024) { output, count in
                stream.next_out = output.baseAddress
                stream.avail_out = UInt32(output.count)
                _ = deflate(&stream, Z_FINISH)
                count = output.count - Int(stream.avail_out)
            }
        }
    }

    private func decoded(_ bytes: [UInt8], _ coding: String, pieces: Int) throws -> (bytes: [UInt8], isWhole: Bool) {
        let decoder = try #require(ContentDecoder(ContentCoding(coding)))
        var out: [UInt8] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            let piece = Array(rest.prefix(pieces))
            rest = rest.dropFirst(pieces)
            let goesOn = piece.withUnsafeBytes {
                decoder.decode($0) {
                    out += $0; return true
                }
            }
            if !goesOn { return (out, false) }
        }
        return (out, decoder.isComplete)
    }

    @Test(
        "each form is undone, whatever the pieces it comes in",
        arguments: [("gzip", Int32(31)), ("x-gzip", 31), ("deflate", 15), ("deflate", -15)])
    func forms(coding: String, bits: Int32) throws {
        let packed = Self.packed(Self.plain, bits: bits)
        for pieces in [1, 2, 1000, packed.count] {
            let found = try decoded(packed, coding, pieces: pieces)
            #expect(found.bytes == Self.plain)
            #expect(found.isWhole)
        }
        #expect(try !decoded(packed.dropLast(9), coding, pieces: 1000).isWhole)
        #expect(try !decoded(Array("plain text".utf8), coding, pieces: 3).isWhole)
    }

    @Test("of several members of gzip all count, and what follows the last is left out")
    func members() throws {
        let packed = Self.packed([1, 2], bits: 31) + Self.packed([3], bits: 31)
        for pieces in [1, 1000] {
            #expect(try decoded(packed + [0, 0, 0], "gzip", pieces: pieces) == ([1, 2, 3], true))
        }
    }

    @Test("the field is read as it is written")
    func field() {
        #expect(ContentCoding("identity") == .none)
        #expect(ContentCoding("") == .none)
        #expect(ContentCoding(" gzip") == .decodable("gzip"))
        #expect(ContentCoding("gzip, gzip") == .foreign("gzip, gzip"))
        #expect(ContentCoding("br") == .foreign("br"))
        #expect(ContentCoding("utf-8") == .unknown("utf-8"))
    }

    @Test("a bomb is bounded by what may be kept, as decoded", arguments: [true, false])
    func bomb(isFile: Bool) async throws {
        let packed = Self.packed([UInt8](repeating: 0, count: 4 << 20), bits: 31)
        #expect(packed.count < 8 << 10)
        let server = try LoopbackServer { _ in .status(404, headers: [("Content-Encoding", "gzip")], bytes: packed) }
        defer { server.stop() }
        let folder = TemporaryFolder()
        let sink = isFile ? ResponseSink.file(FileSink(path: folder.file("x"))) : .memory
        let options = ExchangeOptions(maximumBodyBytes: 1 << 20, receive: sink)
        let result = await network.task(RequestDescription(url: server.url), options: options).result
        #expect(result.failure?.reason == .bodyTooLarge)
    }

    @Test("what goes to a file is asked for as it is, and decoded if it is coded nevertheless")
    func file() async throws {
        let packed = Self.packed(Self.plain, bits: 31)
        let server = try LoopbackServer { _ in .status(200, headers: [("Content-Encoding", "gzip")], bytes: packed) }
        defer { server.stop() }
        let folder = TemporaryFolder()
        let seen = Mutex<(coded: Int, plain: Int)>((0, 0))
        let sink = FileSink(
            onBytes: { bytes in seen.withLock { $0.plain += bytes.count } },
            onCoded: { bytes in seen.withLock { $0.coded += bytes.count } },
            decide: { _ in .writeToFile(path: folder.file("x"), offset: 0) })
        let answer = try await network.exchange(
            RequestDescription(url: server.url), options: ExchangeOptions(receive: .file(sink)))
        #expect(answer.status == 200)
        #expect(folder.size("x") == Int64(Self.plain.count))
        #expect(seen.withLock { $0 } == (packed.count, Self.plain.count))
        #expect(server.requests.first?.header("Accept-Encoding") == "identity")
    }

    @Test("a coding that is damaged, unknown or cut short is said to be that")
    func damaged() async throws {
        let packed = Self.packed(Self.plain, bits: 31)
        let folder = TemporaryFolder()
        let cases: [(String, [UInt8], Bool, ExchangeFailure.Reason)] = [
            ("gzip", Array("plain".utf8), false, .undecodable),
            ("utf-8", Array("plain".utf8), false, .foreignCoding("utf-8", status: 200)),
            ("gzip", Array("plain".utf8), true, .undecodable),
            ("gzip", Array(packed.dropLast(100)), true, .undecodable),
        ]
        for (coding, bytes, isFile, reason) in cases {
            let server = try LoopbackServer { _ in .status(200, headers: [("Content-Encoding", coding)], bytes: bytes) }
            defer { server.stop() }
            let sink = isFile ? ResponseSink.file(FileSink(path: folder.file("x"))) : .memory
            let failure = await network.task(
                RequestDescription(url: server.url), options: ExchangeOptions(receive: sink)
            ).result.failure
            #expect(failure?.reason == reason, "\(coding) \(isFile)")
        }
    }

    @Test("a body in memory is decoded to its end or not taken, whatever was asked for", arguments: [true, false])
    func memory(acceptsCodings: Bool) async throws {
        let packed = Self.packed(Self.plain, bits: 31)
        let cases: [(String, [UInt8], ExchangeFailure.Reason?)] = [
            ("gzip", packed, nil), ("gzip", Array(packed.dropLast(100)), .undecodable),
            ("br", Self.plain, .foreignCoding("br", status: 200)),
        ]
        for (coding, bytes, reason) in cases {
            let server = try LoopbackServer { _ in .status(200, headers: [("Content-Encoding", coding)], bytes: bytes) }
            defer { server.stop() }
            let result = await network.task(
                RequestDescription(url: server.url), options: ExchangeOptions(acceptsCodings: acceptsCodings)
            ).result
            #expect((try? result.get())?.body == (reason == nil ? Self.plain : nil))
            #expect(result.failure?.reason == reason)
            let asked = acceptsCodings ? "gzip, deflate" : "identity"
            #expect(server.requests.first?.header("Accept-Encoding") == asked)
        }
    }

    @Test("a coding that is cut by the end of the connection alone is an answer that did not come whole")
    func cutByClose() async throws {
        let packed = Self.packed(Self.plain, bits: 31)
        let server = try LoopbackServer { _ in
            ScriptedAnswer([
                .head(200, [("Content-Encoding", "gzip"), ("Connection", "close")]),
                .bytes(Array(packed.dropLast(100))), .close,
            ])
        }
        defer { server.stop() }
        let folder = TemporaryFolder()
        let failure = await network.task(
            RequestDescription(url: server.url),
            options: ExchangeOptions(receive: .file(FileSink(path: folder.file("x"))))
        ).result.failure
        #expect(failure?.reason == .closedEarly)
    }

    @Test(
        "two different lengths, or one that is no number, are refused (RFC 9112, section 6.3)",
        arguments: [
            (["100", "1048576"], false), (["100, 1048576"], false), (["99999999999999999999"], false), (["-1"], false),
            ([""], false), (["3", "3"], true), (["3, 3"], true),
        ])
    func lengths(values: [String], isFine: Bool) async throws {
        let head = "HTTP/1.1 200 OK\r\n" + values.map { "Content-Length: \($0)\r\n" }.joined() + "\r\nabc"
        let server = try LoopbackServer { _ in ScriptedAnswer([.readBody, .bytes(Array(head.utf8)), .close]) }
        defer { server.stop() }
        let result = await network.task(RequestDescription(url: server.url)).result
        if isFine {
            #expect(try result.get().body == Array("abc".utf8))
        } else {
            #expect(result.failure?.reason == .protocolError, "\(result)")
        }
    }
}
