import Foundation
import HTTPTypes
import NetworkTasks
import PipelineHTTP
import PipelineTestKit
import Synchronization
import Testing

/// Each runs in a process of its own, so that no other test's memory is counted.
@Suite("Memory")
struct ConstantMemoryTests {
    @Test("half a gigabyte is written to a file in constant memory")
    func download() async {
        await #expect(processExitsWith: .success) {
            let size: Int64 = 512 << 20
            let folder = TemporaryFolder()
            let server = try LoopbackServer { _ in .filled(size) }
            let memory = MemoryWatch()
            let options = ExchangeOptions(
                receive: .file(FileSink(path: folder.file("big"))), onProgress: { _ in memory.sample() })
            let answer = try await Network(transport: CurlTransport())
                .exchange(RequestDescription(url: server.url), options: options)
            #expect(answer.bytesReceived == size)
            #expect(folder.size("big") == size)
            #expect(memory.growth < 20 << 20)
        }
    }

    @Test("three thousand small files leave nothing behind in memory")
    func smallDownloads() async {
        await #expect(processExitsWith: .success) {
            let folder = TemporaryFolder()
            let server = try LoopbackServer { _ in .filled(4 << 10) }
            let network = Network(transport: CurlTransport())
            func download() async throws {
                let options = ExchangeOptions(receive: .file(FileSink(path: folder.file("small"))))
                _ = try await network.exchange(RequestDescription(url: server.url), options: options)
            }
            for _ in 0..<100 { try await download() }
            let memory = MemoryWatch()
            for _ in 0..<3000 { try await download() }
            memory.sample()
            #expect(memory.growth < 8 << 20, "\(memory.growth)")
        }
    }

    @Test("half a gigabyte is sent from a file in constant memory")
    func upload() async {
        await #expect(processExitsWith: .success) {
            let size: Int64 = 512 << 20
            let folder = TemporaryFolder()
            let server = try LoopbackServer(keptBodyBytes: 0) { .status(200, body: "\($0.bodyCount)") }
            let memory = MemoryWatch()
            let body = RequestBody.file(path: folder.sparse("big", size), offset: 0, length: size)
            let answer = try await Network(transport: CurlTransport()).exchange(
                RequestDescription(method: .put, url: server.url, body: body),
                options: ExchangeOptions(onProgress: { _ in memory.sample() }))
            #expect(answer.body == Array("\(size)".utf8))
            #expect(memory.growth < 20 << 20)
        }
    }

    @Test("a stream of 10,000 events of 4 KiB is read in constant memory")
    func events() async {
        await #expect(processExitsWith: .success) {
            let event = Array("event: progress\ndata: \(String(repeating: "x", count: 4 << 10))\n\n".utf8)
            let steps = [ScriptedAnswer.Step.readBody, .head(200, [("Content-Type", "text/event-stream")])]
            let server = try LoopbackServer { _ in
                ScriptedAnswer(steps + Array(repeating: .bytes(event), count: 10_000) + [.close])
            }
            let memory = MemoryWatch()
            let reader = Mutex((ServerSentEvents { $0 == "progress" }, 0))
            let sink = StreamSink {
                $0.status == .ok
            } onBytes: { bytes in
                reader.withLock { state in
                    var count = state.1
                    let goesOn = state.0.read(bytes) { _ in
                        count += 1
                        return true
                    }
                    state.1 = count
                    return goesOn ? .more : .tooLarge
                }
            }
            let answer = try await Network(transport: CurlTransport()).exchange(
                RequestDescription(url: server.url),
                options: ExchangeOptions(receive: .stream(sink), onProgress: { _ in memory.sample() }))
            #expect(answer.body.isEmpty)
            #expect(reader.withLock(\.1) == 10_000)
            #expect(memory.growth < 20 << 20, "\(memory.growth)")
        }
    }

    @Test("a million lines are sent as one JSON array in constant memory")
    func lines() async {
        await #expect(processExitsWith: .success) {
            let folder = TemporaryFolder()
            let line =
                #"{"custom_id":"request","body":{"model":"m","messages":[{"role":"user","content":"hello there"}]}}"#
            let block = Array(String(repeating: line + "\r\n\n", count: 10_000).utf8)
            let file = fopen(folder.file("lines"), "w")
            for _ in 0..<100 { fwrite(block, 1, block.count, file) }
            fclose(file)
            let length = Int64(line.utf8.count + 1) * 1_000_000 - 1
            let server = try LoopbackServer(keptBodyBytes: 0) { .status(200, body: "\($0.bodyCount)") }
            let memory = MemoryWatch()
            let body = RequestBody.pieces([
                .bytes([UInt8(ascii: "[")]), .lines(path: folder.file("lines"), length: length),
                .bytes([UInt8(ascii: "]")]),
            ])
            let answer = try await Network(transport: CurlTransport()).exchange(
                RequestDescription(method: .post, url: server.url, body: body),
                options: ExchangeOptions(onProgress: { _ in memory.sample() }))
            #expect(answer.body == Array("\(length + 2)".utf8))
            #expect(memory.growth < 20 << 20)
        }
    }

    @Test("thirty-two transfers at once leave nothing behind")
    func afterMany() async {
        await #expect(processExitsWith: .success) {
            let server = try LoopbackServer(keptBodyBytes: 0) { _ in .filled(4 << 20) }
            let folder = TemporaryFolder()
            let network = Network(transport: CurlTransport())
            let path = folder.sparse("source", 4 << 20)
            let memory = MemoryWatch()
            try await withThrowingTaskGroup { group in
                for number in 0..<32 {
                    group.addTask {
                        let body = RequestBody.file(path: path, offset: 0, length: 4 << 20)
                        let sink = FileSink(path: folder.file("\(number)"))
                        _ = try await network.exchange(
                            RequestDescription(method: .put, url: server.url, body: body),
                            options: ExchangeOptions(receive: .file(sink)))
                    }
                }
                try await group.waitForAll()
            }
            memory.sample()
            #expect(memory.growth < 40 << 20)
        }
    }
}

/// The process's resident memory at its highest, compared with the start.
final class MemoryWatch: Sendable {
    private let start = MemoryWatch.resident()
    private let highest = Mutex(0)

    func sample() {
        let now = Self.resident()
        highest.withLock { $0 = max($0, now) }
    }

    var growth: Int { highest.withLock { $0 } - start }

    private static func resident() -> Int {
        let text = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
        let words = text.split(separator: " ")
        return words.count > 1 ? (Int(words[1]) ?? 0) * Int(sysconf(Int32(_SC_PAGESIZE))) : 0
    }
}
