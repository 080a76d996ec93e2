import Foundation
import JSONPath
import PipelineTestKit
import Testing

@Suite("Traces", .timeLimit(.minutes(3)))
struct TraceTests {
    private static let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

    @Test(
        "OpenTelemetry's own classes read a job's tree: stages, attempts, exchanges, and polls as a count",
        .enabled(if: ForeignReader.python != nil, ForeignReader.howTo))
    func protobuf() async throws {
        let collector = try Collector()
        defer { collector.server.stop() }
        try await withBackground { workplace, service, _ in
            let variables = collector.environment.merging([
                "TRACEPARENT": Self.parent, "OTEL_EXPORTER_OTLP_HEADERS": "x-key=a%20b",
            ]) { $1 }
            let end = try await workplace.runSelfie(service, environment: variables)
            #expect(end.cause == .exited(0), "\(end)")
            let request = try #require(collector.requests.first)
            #expect(request.target == "/v1/traces" && request.header("Content-Type") == "application/x-protobuf")
            #expect(request.header("x-key") == "a b")
            let spans = try await collector.decoded(in: workplace)
            #expect(ReadSpan.mistakes(in: spans).isEmpty, "\(ReadSpan.mistakes(in: spans))")
            let root = try #require(spans.first { $0.parent == nil })
            #expect(root.name == "selfie" && root.attributes["cicd.pipeline.result"] == "success")
            #expect(root.link == "b7ad6b7169203331")
            let model = try #require(spans.first { $0.attributes["cicd.pipeline.task.name"] == "model" })
            #expect(model.parent == root.id)
            let attempt = try #require(spans.first { $0.parent == model.id })
            #expect(attempt.attributes["pipeline.attempt"] == "1")
            #expect(Int(attempt.attributes["pipeline.polls"] ?? "") ?? 0 >= 1)
            let exchanges = spans.filter { $0.parent == attempt.id }
            // The submit, and the poll that found the end.
            #expect(exchanges.map(\.name).sorted() == ["GET", "POST"] && exchanges.allSatisfy(\.isClient))
            #expect(exchanges.allSatisfy { $0.attributes["server.address"] == "127.0.0.1" })
            #expect(exchanges.first { $0.name == "POST" }?.attributes["http.response.status_code"] != nil)
        }
    }

    @Test("in JSON a job that was killed in the middle has one whole trace, each span once")
    func restart() async throws {
        let collector = try Collector()
        defer { collector.server.stop() }
        try await withBackground { workplace, service, _ in
            let variables = collector.environment.merging(["OTEL_EXPORTER_OTLP_PROTOCOL": "http/json"]) { $1 }
            let killed = try await workplace.runSelfie(
                service, environment: variables.merging(["PIPELINE_CRASH_AT": "submit.committed"]) { $1 })
            #expect(killed.cause == .killed(9))
            let end = try await workplace.run(
                "resume", environment: service.environment.merging(variables) { $1 })
            #expect(end.cause == .exited(0), "\(end)")
            #expect(collector.requests.allSatisfy { $0.header("Content-Type") == "application/json" })
            let spans = try collector.read()
            #expect(ReadSpan.mistakes(in: spans).isEmpty, "\(ReadSpan.mistakes(in: spans)) \(spans)")
            let stages = spans.compactMap { $0.attributes["cicd.pipeline.task.name"] }
            #expect(Set(stages).count == stages.count && stages.count >= 3, "\(stages)")
            // Nothing is left: another owner exports nothing.
            let count = collector.requests.count
            _ = try await workplace.run("resume", "--all", environment: service.environment.merging(variables) { $1 })
            #expect(collector.requests.count == count)
        }
    }

    /// It lasted until the end of its stage, over the pause and all attempts that followed.
    @Test("an attempt that a kill ended is over before the next begins, and says so")
    func killedAttempt() async throws {
        let collector = try Collector()
        defer { collector.server.stop() }
        try await withBackground { workplace, service, _ in
            let variables = collector.environment.merging(["OTEL_EXPORTER_OTLP_PROTOCOL": "http/json"]) { $1 }
            let killed = try await workplace.runSelfie(
                service, environment: variables.merging(["PIPELINE_CRASH_AT": "submit.committed"]) { $1 })
            #expect(killed.cause == .killed(9))
            let end = try await workplace.run(
                "resume", environment: service.environment.merging(variables) { $1 })
            #expect(end.cause == .exited(0), "\(end)")
            let spans = try collector.read()
            let stage = try #require(spans.first { $0.attributes["cicd.pipeline.task.name"] == "model" })
            let attempts = spans.filter { $0.parent == stage.id }.sorted { $0.start < $1.start }
            try #require(attempts.count == 2, "\(spans)")
            #expect(attempts[0].end <= attempts[1].start && attempts[0].end < stage.end)
            #expect(attempts.map(\.isError) == [true, false])
        }
    }

    @Test("a collector that is away delays no job, and the next owner sends what is left")
    func collectorAway() async throws {
        let deaf = try DeafListener()
        let collector = try Collector()
        defer { collector.server.stop() }
        try await withWorkplace { workplace in
            let file = try workplace.write(
                "w.json",
                #"{ "pipeline": 1, "name": "w", "stages": [ { "id": "a", "kind": "write", "to": "x.txt", "text": "1" } ] }"#
            )
            let away = try await workplace.run(
                "run", file, "--output", workplace.output,
                environment: ["OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:\(deaf.port)"])
            #expect(away.cause == .exited(0), "\(away)")
            let json = collector.environment.merging(["OTEL_EXPORTER_OTLP_PROTOCOL": "http/json"]) { $1 }
            let next = try await workplace.run(
                "run", file, "--output", workplace.path("other"), "--key", "next", environment: json)
            #expect(next.cause == .exited(0), "\(next)")
            let roots = try collector.read().filter { $0.parent == nil }
            #expect(Set(roots.map(\.trace)).count == 2, "\(roots)")
            #expect(Set(roots.compactMap { $0.attributes["cicd.pipeline.run.id"] }).count == 2)
        }
    }

    /// What came after the first job that could not be sent was known to the process alone, and lost with it.
    @Test("of many jobs that ended while the collector was away the next owner sends every one")
    func manyJobs() async throws {
        let away = try Collector(status: 503)
        defer { away.server.stop() }
        let collector = try Collector()
        defer { collector.server.stop() }
        try await withWorkplace { workplace in
            let file = try workplace.write(
                "w.json",
                #"""
                { "pipeline": 1, "name": "w", "inputs": { "n": { "type": "string" } },
                  "stages": [ { "id": "a", "kind": "write", "to": "${{ inputs.n }}.txt", "text": "1" } ] }
                """#)
            let rows = try workplace.write("rows.csv", "n\n1\n2\n3\n4\n5\n")
            let first = try await workplace.run(
                "run", file, "--each", rows, "--batch", "june", "--output", workplace.output,
                environment: away.environment)
            #expect(first.cause == .exited(0) && !away.requests.isEmpty, "\(first)")
            let json = collector.environment.merging(["OTEL_EXPORTER_OTLP_PROTOCOL": "http/json"]) { $1 }
            let next = try await workplace.run(
                "run", file, "-i", "n=last", "--output", workplace.path("other"), environment: json)
            #expect(next.cause == .exited(0), "\(next)")
            let roots = try collector.read().filter { $0.parent == nil }
            #expect(Set(roots.compactMap { $0.attributes["cicd.pipeline.run.id"] }).count == 6, "\(roots)")
        }
    }

    /// All that the collector had taken of the job went out again with the next owner.
    @Test("of a long job what the collector has taken is sent no second time when it is too busy for the rest")
    func longJob() async throws {
        let away = try Collector(status: 503)
        defer { away.server.stop() }
        let collector = try Collector(lost: 2)
        defer { collector.server.stop() }
        try await withWorkplace { workplace in
            let file = try workplace.write(
                "w.json",
                #"""
                { "pipeline": 1, "name": "w", "inputs": { "n": { "type": "json" } },
                  "stages": [ { "id": "a", "kind": "write", "forEach": "inputs.n", "concurrency": 64,
                                "to": "${{ item }}.txt", "text": "1" } ] }
                """#)
            let json = collector.environment.merging(["OTEL_EXPORTER_OTLP_PROTOCOL": "http/json"]) { $1 }
            let numbers = try workplace.write("n.json", "[\((0..<700).map(String.init).joined(separator: ","))]")
            let first = try await workplace.run(
                "run", file, "-i", "n=@\(numbers)", "--output", workplace.output, environment: away.environment)
            #expect(first.cause == .exited(0), "\(first)")
            let next = try await MetricsOwner(in: workplace, environment: json)
            await collector.hasRest.wait()
            _ = await next.end(by: SIGTERM)
            let spans = try collector.read()
            #expect(Set(spans.map(\.id)).count == spans.count && spans.count > 1400, "\(spans.count)")
            #expect(collector.requests.count == 2)
        }
    }

    private static func document(_ workplace: Workplace) throws -> String {
        try workplace.write(
            "w.json",
            #"{ "pipeline": 1, "name": "w", "stages": [ { "id": "a", "kind": "write", "to": "x.txt", "text": "1" } ] }"#
        )
    }

    /// The spans were counted as sent, and nothing was said.
    @Test(
        "a collector that refuses is told once, and what it may take once it is mended goes with the next owner",
        arguments: [(401, 2), (403, 2), (404, 2), (301, 2), (400, 1), (500, 1)])
    func refused(status: Int, tracesLater: Int) async throws {
        let refusing = try Collector(status: status)
        defer { refusing.server.stop() }
        let collector = try Collector()
        defer { collector.server.stop() }
        try await withWorkplace { workplace in
            let file = try Self.document(workplace)
            let first = try await workplace.run(
                "run", file, "--output", workplace.output, environment: refusing.environment)
            #expect(first.cause == .exited(0) && !refusing.requests.isEmpty, "\(first)")
            let told = first.errors.split(separator: "\n").filter { $0.contains("with status \(status)") }
            #expect(told.count == 1 && told.allSatisfy { $0.hasPrefix("warning: ") }, "\(first)")
            let json = collector.environment.merging(["OTEL_EXPORTER_OTLP_PROTOCOL": "http/json"]) { $1 }
            let next = try await workplace.run(
                "run", file, "--output", workplace.path("other"), "--key", "next", environment: json)
            #expect(next.cause == .exited(0) && !next.errors.contains("warning:"), "\(next)")
            let roots = try collector.read().filter { $0.parent == nil }
            #expect(Set(roots.map(\.trace)).count == tracesLater, "\(roots)")
        }
    }

    @Test(
        "an address or a form that can't work is told, and no run waits for it",
        arguments: [
            ("localhost:4318", nil), ("ftp://127.0.0.1", nil), (" ", nil), ("http:///v1", nil),
            ("http://127.0.0.1:1", "grpc"),
        ] as [(String, String?)])
    func unusable(address: String, form: String?) async throws {
        try await withWorkplace { workplace in
            let file = try Self.document(workplace)
            var variables = ["OTEL_EXPORTER_OTLP_ENDPOINT": address]
            variables["OTEL_EXPORTER_OTLP_PROTOCOL"] = form
            let end = try await workplace.run("run", file, "--output", workplace.output, environment: variables)
            #expect(end.cause == .exited(0), "\(end)")
            let variable = form == nil ? "OTEL_EXPORTER_OTLP_ENDPOINT" : "OTEL_EXPORTER_OTLP_PROTOCOL"
            #expect(end.errors.contains("warning: no traces are sent: \(variable) has to"), "\(end)")
        }
    }

    @Test("items are spans below their stage, a failure is told, and nothing is done without a variable")
    func items() async throws {
        let collector = try Collector()
        defer { collector.server.stop() }
        try await withWorkplace { workplace in
            let file = try workplace.write(
                "w.json",
                #"""
                { "pipeline": 1, "name": "many", "inputs": { "names": { "type": "json", "default": ["a", "b"] } },
                  "stages": [
                    { "id": "each", "kind": "write", "forEach": "inputs.names", "to": "${{ item }}.txt", "text": "1" },
                    { "id": "bad", "kind": "request", "request": { "GET": "http://127.0.0.1:1/x" },
                      "retry": { "for": "0s", "attempts": 1 } } ] }
                """#)
            let none = try await workplace.run("run", file, "--output", workplace.output, "--key", "none")
            #expect(none.cause == .exited(75) && collector.requests.isEmpty, "\(none)")
            let off = try await workplace.run(
                "run", file, "--output", workplace.path("off"), "--key", "off",
                environment: collector.environment.merging(["OTEL_SDK_DISABLED": "true"]) { $1 })
            #expect(off.cause == .exited(75) && collector.requests.isEmpty, "\(off)")
            _ = try await workplace.run(
                "run", file, "--output", workplace.path("on"), "--key", "on",
                environment: collector.environment.merging(["OTEL_EXPORTER_OTLP_PROTOCOL": "http/json"]) { $1 })
            let spans = try collector.read()
            let stage = try #require(
                spans.first {
                    $0.attributes["cicd.pipeline.task.name"] == "each" && $0.attributes["pipeline.item"] == nil
                })
            let items = spans.filter { $0.attributes["pipeline.item"] != nil }
            #expect(items.count == 2 && items.allSatisfy { $0.parent == stage.id })
        }
    }

    @Test("'trace' of a service sends the same traceparent with each repetition of a submit, and to no other origin")
    func traceparent() async throws {
        let other = try LoopbackServer { _ in .status(200, body: "elsewhere") }
        defer { other.stop() }
        let (address, port) = (other.url, other.url.split(separator: ":").last ?? "")
        let server = try LoopbackServer { request in
            switch (request.path, request.number) {
            case ("/submit", 1): .status(503, headers: [("Retry-After", "0")])
            case ("/submit", _): .json(#"{"id": "1"}"#)
            default: .status(302, headers: [("Location", "http://127.0.0.1:\(port)/there")])
            }
        }
        defer { server.stop() }
        try await withWorkplace { workplace in
            let file = try workplace.write(
                "t.json",
                #"""
                { "pipeline": 1, "name": "t", "retry": { "delay": "10ms" },
                  "services": { "s": { "url": "\#(server.url)", "trace": true } },
                  "stages": [
                    { "id": "a", "kind": "request", "service": "s", "request": { "POST": "/submit" } },
                    { "id": "b", "kind": "request", "service": "s", "request": { "GET": "/moved" } },
                    { "id": "c", "kind": "request", "service": "s", "request": { "GET": "\#(address)/direct" } } ] }
                """#)
            let end = try await workplace.run("run", file, "--output", workplace.output)
            #expect(end.cause == .exited(0), "\(end)")
            let submits = server.requests.filter { $0.path == "/submit" }.map { $0.header("traceparent") }
            let first = try #require(submits.first ?? nil)
            #expect(submits.count == 2 && Set(submits).count == 1)
            #expect(first.wholeMatch(of: #/00-[0-9a-f]{32}-[0-9a-f]{16}-01/#) != nil)
            #expect(server.requests.first { $0.path == "/moved" }?.header("traceparent") != nil)
            #expect(other.requests.count == 2 && other.requests.allSatisfy { $0.header("traceparent") == nil })
        }
    }

    @Test("a plugin finds the trace of its job in TRACEPARENT, the same after a kill")
    func plugin() async throws {
        try await withWorkplace { workplace in
            let folder = workplace.path("plugins")
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            let program = try workplace.write(
                "plugins/pipeline-stage-tell",
                """
                #!/bin/sh
                read -r first
                case $first in *describe*)
                    echo '{"type":"description","protocol":1,"kind":"tell","version":"1","captures":["trace"],"schema":{}}'
                    exit ;;
                esac
                echo "$TRACEPARENT" >>"\(workplace.path("seen"))"
                # The first time the program is killed before it has heard of the end.
                if [ ! -e "\(workplace.path("killed"))" ]; then
                    : >"\(workplace.path("killed"))"
                    kill -9 $PPID
                    exit 1
                fi
                echo "{\\"type\\":\\"finished\\",\\"captures\\":{\\"trace\\":\\"$TRACEPARENT\\"}}"

                """)
            #expect(chmod(program, 0o755) == 0)
            let file = try workplace.write(
                "t.json", #"{ "pipeline": 1, "name": "t", "stages": [ { "id": "a", "kind": "tell" } ] }"#)
            let plugins = ["PIPELINE_PLUGINS": folder]
            let killed = try await workplace.run("run", file, "--output", workplace.output, environment: plugins)
            #expect(killed.cause == .killed(9), "\(killed)")
            let end = try await workplace.run("resume", environment: plugins)
            #expect(end.cause == .exited(0), "\(end)")
            let seen = try String(contentsOfFile: workplace.path("seen"), encoding: .utf8).split(separator: "\n")
            let first = try #require(seen.first)
            #expect(seen.count == 2 && Set(seen).count == 1, "\(seen)")
            #expect(first.wholeMatch(of: #/00-[0-9a-f]{32}-[0-9a-f]{16}-01/#) != nil)
        }
    }
}
