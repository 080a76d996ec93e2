import PipelineHTTP
import PipelineTestKit
import SeededNumbers
import Testing

@Suite("Server-sent events")
struct ServerSentEventsTests {
    private func read(
        _ text: String, by size: Int = .max, wanted: @escaping @Sendable (String) -> Bool = { _ in true }
    ) -> (events: [String], reader: ServerSentEvents) {
        var reader = ServerSentEvents(isWanted: wanted)
        var events: [String] = []
        let bytes = Array(text.utf8)
        var position = 0
        while position < bytes.count {
            let end = min(bytes.count, size == .max ? bytes.count : position + size)
            _ = bytes[position..<end].withUnsafeBytes { piece in
                reader.read(piece) { event in
                    events.append("\(event.name)=\(String(decoding: event.data, as: UTF8.self))")
                    return true
                }
            }
            position = end
        }
        return (events, reader)
    }

    // The examples of the standard, section 9.2.6.
    @Test(
        "streams are read as the standard's examples say, however they are cut",
        arguments: [
            ("data: YHOO\ndata: +2\ndata: 10\n\n", ["message=YHOO\n+2\n10"], ""),
            (
                ": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n\n",
                ["message=first event", "message=second event", "message= third event"], ""
            ),
            ("data\n\ndata\ndata\n\ndata:", ["message=", "message=\n"], ""),
            ("data:test\n\ndata: test\n\n", ["message=test", "message=test"], ""),
            ("event: add\ndata: 73857293\n\nevent: remove\ndata: 2153\n\n", ["add=73857293", "remove=2153"], ""),
            ("\u{FEFF}data: a\r\n\r\ndata: b\r\rid: 7\n\ndata: c\n\n", ["message=a", "message=b", "message=c"], "7"),
            ("event: named\n\ndata: x\n\n", ["message=x"], ""),
            ("id: 1\ndata: a\n\nid: 2\ndata: never ended", ["message=a"], "1"),
            ("id: \u{0}x\ndata: a\n\n", ["message=a"], ""),
            ("DATA: x\nfoo: y\ndatax: z\ndata: a\n\n", ["message=a"], ""),
        ])
    func examples(text: String, events: [String], lastID: String) {
        for size in [Int.max, 1, 2, 3, 7] {
            let (found, reader) = read(text, by: size)
            #expect(found == events)
            #expect(reader.lastID == lastID)
        }
    }

    @Test("retry is a number of milliseconds, and nothing else")
    func retry() {
        #expect(read("retry: 1500\n\n").reader.retry == .milliseconds(1500))
        #expect(read("retry: 1500\n").reader.retry == .milliseconds(1500))
        for wrong in ["retry: 1.5\n", "retry: -1\n", "retry:\n", "retry: soon\n", "retry: 99999999999999999999\n"] {
            #expect(read(wrong).reader.retry == nil)
        }
    }

    @Test("of events that nobody wants nothing is held")
    func unwanted() {
        var reader = ServerSentEvents { $0 == "end" }
        let text = "event: picture\ndata: \(String(repeating: "x", count: 1 << 20))"
        _ = Array(text.utf8).withUnsafeBytes { reader.read($0) { _ in true } }
        #expect(reader.heldBytes < 100)
        let (events, _) = read("event: a\ndata: 1\n\nevent: end\ndata: 2\n\n", wanted: { $0 == "end" })
        #expect(events == ["end=2"])
    }

    @Test(
        "a line and an event have a bound, wanted or not; comments are no event",
        arguments: [
            ("data: ", true), (": ", true), ("event: ", true), ("nonsense", true), ("event: other\ndata: ", true),
        ])
    func bound(start: String, isRefused: Bool) {
        var reader = ServerSentEvents(maximumBytes: 100_000) { $0 == "end" }
        var goesOn = Array(start.utf8).withUnsafeBytes { reader.read($0) { _ in true } }
        var count = 0
        while goesOn, count < 1000 {
            goesOn = [UInt8](repeating: 65, count: 1000).withUnsafeBytes { reader.read($0) { _ in true } }
            count += 1
        }
        #expect(reader.isTooLarge == isRefused)
        #expect(count < 102)
    }

    @Test("an event of many lines has the same bound, and a stream of comments alone has none")
    func manyLines() {
        var reader = ServerSentEvents(maximumBytes: 100_000)
        let line = Array("data: 0123456789\n".utf8)
        var lines = 0
        while lines < 10_000, line.withUnsafeBytes({ reader.read($0) { _ in true } }) { lines += 1 }
        #expect(reader.isTooLarge)
        #expect(lines < 7000)
        var quiet = ServerSentEvents(maximumBytes: 100_000)
        let comment = Array(": still here\n".utf8)
        for _ in 0..<20_000 { _ = comment.withUnsafeBytes { quiet.read($0) { _ in true } } }
        #expect(!quiet.isTooLarge)
        #expect(quiet.heldBytes == 0)
    }

    @Test("bytes of any kind harm nothing")
    func noise() {
        var random = SplitMix64(seed: 7)
        for _ in 0..<300 {
            var reader = ServerSentEvents(maximumBytes: 2000)
            for _ in 0..<20 {
                let alphabet = Array("data: event: id: retry:\r\n\n\r\u{FEFF}\u{0}9".utf8)
                let bytes = (0..<50).map { _ in alphabet[random.below(alphabet.count)] }
                _ = bytes.withUnsafeBytes { reader.read($0) { _ in true } }
                #expect(reader.heldBytes <= 2100)
            }
        }
    }
}
