import Foundation
import JSONPath
import PipelineTestKit
import Testing

@Suite("The background owner's log", .timeLimit(.minutes(3)))
struct LogTests {
    /// A job of which a stage fails, run by an owner of its own.
    private func log(_ arguments: String...) async throws -> (text: String, job: String) {
        var (text, job) = ("", "")
        try await withWorkplace { workplace in
            let file = try workplace.write(
                "w.json",
                #"""
                { "pipeline": 1, "name": "w", "stages": [
                    { "id": "a", "kind": "write", "to": "a.txt", "text": "1" },
                    { "id": "bad", "kind": "write", "needs": ["a"], "to": "/proc/no/such.txt", "text": "1" } ] }
                """#)
            let owner = try BuiltProgram(named: "pipeline-daemon").start(
                ["--state-dir", workplace.state] + arguments, environment: workplace.environment(),
                folder: workplace.folder)
            #expect(await owner.hasWritten("ready, process"), "\(owner.text)")
            let end = try await workplace.run("run", file, "--output", workplace.output, "--detach")
            job = try #require(end.lines.first, "\(end)")
            _ = try await workplace.waitFor(["failed"], of: job)
            owner.signal(SIGTERM)
            #expect(await owner.end.cause == .exited(0))
            text = owner.text
        }
        return (text, job)
    }

    @Test("in JSON each line is an object with its time, level and words, and what is said of a job has its ids")
    func json() async throws {
        let (text, job) = try await log("--log-format", "json")
        let lines = text.split(separator: "\n").map(String.init)
        #expect(lines.count >= 3, "\(text)")
        var ofJob: [JSON] = []
        for line in lines {
            let object = try JSON.parse(line)
            let time = try #require(object["time"]?.string, "\(line)")
            #expect(time.wholeMatch(of: #/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/#) != nil, "\(line)")
            #expect(["info", "notice", "warning", "error"].contains(object["level"]?.string), "\(line)")
            #expect(object["msg"]?.string?.isEmpty == false, "\(line)")
            if object["job"]?.string == job { ofJob.append(object) }
        }
        #expect(!ofJob.isEmpty, "\(text)")
        #expect(ofJob.allSatisfy { $0["trace"]?.string?.wholeMatch(of: #/[0-9a-f]{32}/#) != nil }, "\(text)")
        let failures = ofJob.filter { $0["level"] == "warning" }
        #expect(failures.compactMap { $0["event"]?.string } == ["stage.failed", "job.failed"], "\(text)")
        #expect(failures.first?["stage"] == "bad" && failures.first?["error"] != nil, "\(text)")
        #expect(lines.last?.contains(#""msg":"stopped""#) == true, "\(text)")
    }

    @Test("at the level debug each event of a job has a line, in their order")
    func debug() async throws {
        let (text, job) = try await log("--log-level", "debug")
        let events = text.split(separator: "\n").filter { $0.contains(" job=\(job)") }
            .compactMap { $0.firstMatch(of: #/ event=(\S+)/#).map { String($0.output.1) } }
        for event in ["stage.started", "stage.succeeded", "stage.failed", "job.failed"] {
            #expect(events.contains(event), "\(text)")
        }
        let started = text.split(separator: "\n").first { $0.contains("event=stage.started") }
        #expect(started?.contains(" level=debug ") == true && started?.contains(" stage=a") == true, "\(text)")
    }

    @Test("as logfmt the same fields stand in pairs")
    func logfmt() async throws {
        let (text, job) = try await log()
        let line = try #require(text.split(separator: "\n").first { $0.contains(" job=\(job)") }, "\(text)")
        #expect(line.wholeMatch(of: #/time=\S+ level=[a-z]+ msg=.*trace=[0-9a-f]{32}.*/#) != nil, "\(line)")
    }
}
