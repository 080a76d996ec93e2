import Foundation
import PipelineTestKit
import Testing

@Suite("Metrics", .timeLimit(.minutes(3)))
struct MetricsTests {
    /// Reads a page as strictly as the specification is, and prints the families' names.
    private static let openMetricsReader = """
        import sys
        from prometheus_client.openmetrics.parser import text_string_to_metric_families
        families = list(text_string_to_metric_families(sys.stdin.read()))
        print(" ".join(family.name + ":" + family.type for family in families))
        """

    @Test("a job that ran in the background is counted, and nothing falls over a restart and a kill")
    func counted() async throws {
        try await withBackground { workplace, service, _ in
            let first = try await withMetrics(in: workplace) { owner in
                let end = try await workplace.runSelfie(service, "--detach")
                _ = try await workplace.waitFor(["succeeded", "failed"], of: try #require(end.lines.first))
                return try await owner.samples()
            }
            #expect(first[#"pipeline_jobs_ended_total{pipeline="selfie",result="succeeded"}"#] == 1)
            #expect(first[#"pipeline_job_duration_seconds_count{pipeline="selfie"}"#] == 1)
            for stage in ["upload", "model", "download"] {
                #expect(first[#"pipeline_stage_duration_seconds_count{pipeline="selfie",stage="\#(stage)"}"#] == 1)
                let attempts = #"pipeline_stage_attempts_total{pipeline="selfie",stage="\#(stage)",result="succeeded"}"#
                #expect(first[attempts] == 1, "\(first)")
            }
            #expect(first[#"pipeline_submits_total{service="studio",outcome="accepted"}"#] == 1)
            #expect(first[#"pipeline_polls_total{service="studio",form="single"}"#] ?? 0 >= 1)
            let sent = first[#"pipeline_transferred_bytes_total{service="studio",direction="sent"}"#] ?? 0
            #expect(sent >= Double(Documents.videoSize))
            #expect(first[#"pipeline_jobs{pipeline="selfie",state="running"}"#] == nil)
            #expect(first["pipeline_journal_commits_total"] ?? 0 > 3)
            #expect(first["pipeline_assertions_failed_total"] == 0)
            // It was killed; what it counted with its commits is there, and so is what another process counts.
            let end = try await workplace.runSelfie(
                service, environment: ["PIPELINE_CRASH_AT": "submit.sent"], "--key", "second")
            #expect(end.cause == .killed(9))
            let resumed = try await workplace.run("resume", "second", environment: service.environment)
            #expect(resumed.cause == .exited(0), "\(resumed)")
            let second = try await withMetrics(in: workplace) { try await $0.samples() }
            for (name, value) in first where name.contains("_total") && name.hasPrefix("pipeline_") {
                #expect(second[name] ?? 0 >= value, "\(name) fell")
            }
            #expect(second[#"pipeline_jobs_ended_total{pipeline="selfie",result="succeeded"}"#] == 2)
            #expect(second[#"pipeline_submits_total{service="studio",outcome="accepted"}"#] == 2)
            #expect(second[#"pipeline_submits_total{service="studio",outcome="repeated"}"#] == 1)
            #expect(second[#"pipeline_submits_total{service="studio",outcome="unknown"}"#] == nil)
        }
    }

    @Test("a job that waits is a gauge with its state, and so is what it has at the service")
    func gauges() async throws {
        try await withBackground({ $0.seconds = 600 }) { workplace, service, _ in
            try await withMetrics(in: workplace) { owner in
                let end = try await workplace.runSelfie(service, "--detach")
                let id = try #require(end.lines.first)
                _ = try await workplace.waitFor(["waiting"], of: id)
                var samples = try await owner.samples()
                // Between two polls: while one is under way the job is running.
                while samples[#"pipeline_jobs{pipeline="selfie",state="waiting"}"#] != 1 {
                    samples = try await owner.samples()
                }
                #expect(samples[#"pipeline_computations{service="studio"}"#] == 1)
                _ = try await workplace.run("cancel", id)
                _ = try await workplace.waitFor(["cancelled"], of: id)
                let after = try await owner.samples()
                #expect(after[#"pipeline_jobs{pipeline="selfie",state="waiting"}"#] == nil)
                #expect(after[#"pipeline_computations{service="studio"}"#] == nil)
                #expect(after[#"pipeline_jobs_ended_total{pipeline="selfie",result="cancelled"}"#] == 1)
            }
        }
    }

    @Test(
        "promtool finds nothing to complain about", .enabled(if: ForeignReader.hasPromtool, ForeignReader.promtoolHowTo)
    )
    func promtool() async throws {
        try await withBackground { workplace, service, _ in
            _ = try await workplace.runSelfie(service)
            try await withMetrics(in: workplace) { owner in
                let end = try await ForeignReader.check(try await owner.fetch("page"))
                #expect(end.cause == .exited(0) && end.errors.isEmpty && end.output.isEmpty, "\(end)")
            }
        }
    }

    @Test(
        "a strict reader of OpenMetrics reads every family",
        .enabled(if: ForeignReader.python != nil, ForeignReader.howTo))
    func openMetrics() async throws {
        try await withBackground { workplace, service, _ in
            _ = try await workplace.runSelfie(service)
            try await withMetrics(in: workplace) { owner in
                let page = try await owner.fetch(
                    "page", accept: "application/openmetrics-text; version=1.0.0,text/plain;q=0.5")
                let head = try String(contentsOfFile: page + ".head", encoding: .utf8)
                #expect(head.contains("Content-Type: application/openmetrics-text; version=1.0.0; charset=utf-8"))
                let end = try await ForeignReader.run(Self.openMetricsReader, on: page)
                #expect(end.cause == .exited(0), "\(end)")
                for family in [
                    "pipeline_build:info", "pipeline_jobs_ended:counter", "pipeline_job_duration_seconds:histogram",
                    "pipeline_http_request_duration_seconds:histogram", "process_cpu_seconds:counter",
                ] { #expect(end.output.contains(family), "\(end)") }
            }
        }
    }

    @Test("the pages give them out too, to whoever brings their token")
    func pages() async throws {
        try await withWorkplace { workplace in
            let token = workplace.path("token")
            try "let-me-in-to-read-metrics".write(toFile: token, atomically: true, encoding: .utf8)
            #expect(chmod(token, 0o600) == 0)
            let owner = try await MetricsOwner(in: workplace, "--dashboard", "127.0.0.1:0", "--token-file", token)
            let address = try #require(owner.program.text.firstMatch(of: #/pages of the jobs are at [^ ]+:(\d+)/#))
            let url = "http://127.0.0.1:\(address.output.1)/metrics"
            let curl = BuiltProgram(path: "/usr/bin/curl")
            let stranger = try await curl.run(["-s", "-o", "/dev/null", "-w", "%{http_code}", url])
            let friend = try await curl.run(["-s", "-H", "Authorization: Bearer let-me-in-to-read-metrics", url])
            _ = await owner.end(by: SIGKILL)
            #expect(stranger.output == "401")
            #expect(friend.output.contains("pipeline_build_info{"), "\(friend)")
        }
    }

    @Test("the listener has nothing but metrics, and refuses to change anything")
    func nothingElse() async throws {
        try await withWorkplace { workplace in
            try await withMetrics(in: workplace) { owner in
                let curl = BuiltProgram(path: "/usr/bin/curl")
                let base = owner.url.replacing("/metrics", with: "")
                for (arguments, status) in [
                    (["\(base)/"], "404"), (["\(base)/metrics/x"], "404"), (["-X", "POST", owner.url], "405"),
                    (["-I", owner.url], "200"), (["\(owner.url)?x=1"], "200"),
                ] {
                    let end = try await curl.run(
                        ["-s", "-o", "/dev/null", "-w", "%{http_code}"] + arguments)
                    #expect(end.output == status, "\(arguments)")
                }
            }
        }
    }
}
