import Foundation
import JSONPath
import PipelineCore
import PipelineTestKit
import Synchronization
import Testing

@Suite("Notifications by programs", .timeLimit(.minutes(2)))
struct ProgramTests {
    private var bench: SinkBench

    init() throws { bench = try SinkBench() }

    private func script(_ name: String, _ text: String) throws {
        let file = bench.folder.appending(path: name)
        try "#!/bin/sh\n\(text)\n".write(to: file, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: file.path)
    }

    @Test("a command gets its arguments as they are, with no shell, and the notification on its standard input")
    func command() async throws {
        defer { bench.remove() }
        try script("tell", #"cat > seen.json; printf '%s\n' "$@" > arguments"#)
        let failure = try await bench.deliver(#""command": [ "./tell", "a b", "$HOME; ${{ 'x' + 'y' }}" ]"#)
        #expect(failure == nil)
        #expect(try JSON.parse(Array((bench.text("seen.json") ?? "").utf8)) == SinkBench.notification.json)
        #expect(bench.text("arguments") == "a b\n$HOME; xy\n")
    }

    @Test("a command gets no secrets by its environment")
    func environment() async throws {
        defer { bench.remove() }
        var bench = bench
        // The address, the key and the collector's headers were given to commands once.
        for name in [
            "PIPELINE_SECRET_HOOK", "PIPELINE_JOURNAL", "PIPELINE_JOURNAL_LISTEN", "PIPELINE_JOURNAL_KEY", "PGPASSWORD",
            "OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_TRACES_HEADERS",
        ] { bench.environment[name] = "hunter22" }
        bench.environment["DISPLAY"] = ":7"
        try script("tell", "env > seen")
        #expect(try await bench.deliver(#""command": [ "./tell" ]"#) == nil)
        #expect(bench.text("seen")?.contains("hunter22") == false)
        #expect(bench.text("seen")?.contains("DISPLAY=:7") == true)
    }

    @Test("a command that fails says why; one that is not there is not tried again")
    func failing() async throws {
        defer { bench.remove() }
        try script("tell", "echo first >&2; echo no bell >&2; exit 3")
        let failed = try #require(try await bench.deliver(#""command": [ "./tell" ]"#))
        #expect(failed.message.hasSuffix("tell ended with status 3: no bell"))
        #expect(failed.isRetryable)
        let absent = try #require(try await bench.deliver(#""command": [ "no-such-program-here" ]"#))
        #expect(!absent.isRetryable)
    }

    @Test("a command that reads nothing and says nothing is fine")
    func deaf() async throws {
        defer { bench.remove() }
        var notification = SinkBench.notification
        notification = JobNotification(
            id: notification.id, event: .failed, job: notification.job, pipeline: "selfie", time: notification.time,
            title: String(repeating: "x", count: 300_000))
        #expect(try await bench.deliver(#""command": [ "true" ]"#, notification) == nil)
    }

    @Test("a command that is stopped leaves nothing running")
    func stopped() async throws {
        defer { bench.remove() }
        try script("tell", "sleep 300 & echo $! > child; echo $$ > own; wait")
        let task = Task { [bench] in try await bench.deliver(#""command": [ "./tell" ]"#) }
        while bench.text("own")?.isEmpty ?? true { await Task.yield() }
        task.cancel()
        _ = try await task.value
        let child = try #require(Int32((bench.text("child") ?? "").trimmingCharacters(in: .whitespacesAndNewlines)))
        // It may still be a zombie that its new parent has not reaped.
        var state = "R"
        for _ in 0..<10_000 {
            state =
                (try? String(contentsOfFile: "/proc/\(child)/stat", encoding: .utf8))?
                .split(separator: ")").last?.split(separator: " ").first.map(String.init) ?? "gone"
            if state == "gone" || state == "Z" { break }
            await Task.yield()
        }
        #expect(state == "gone" || state == "Z")
    }

    @Test("a terminal gets one line without control characters")
    func terminal() async throws {
        defer { bench.remove() }
        let shown = Mutexed<[String]>([])
        var bench = bench
        bench.showLine = { line in
            shown.change { $0.append(line) }
            return true
        }
        let evil = JobNotification(
            id: "n", event: .failed, job: JobID("j"), pipeline: "p", time: SinkBench.time,
            title: "failed: \u{1B}[2Jboom\r\n")
        #expect(try await bench.deliver(#""terminal": true"#, evil) == nil)
        #expect(shown.value == ["pipeline: failed:  [2Jboom   (job j)"])
    }
}

/// A value that any thread may read and set.
final class Mutexed<Value: Sendable>: Sendable {
    private let state: Mutex<Value>
    init(_ value: Value) { state = Mutex(value) }
    var value: Value { state.withLock { $0 } }
    func change(_ work: @Sendable (inout Value) -> Void) { state.withLock { work(&$0) } }
}
