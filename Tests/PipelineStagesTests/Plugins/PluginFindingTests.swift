import JSONPath
import PipelineCore
import PipelineStages
import PipelineTestKit
import Testing

@Suite("Plugins are found, reported and tried out", .serialized, .timeLimit(.minutes(3)))
struct PluginFindingTests {
    /// Describes itself, and never ends by itself.
    private static let stubborn = """
        #!/usr/bin/env python3
        import signal, sys, time
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        sys.stdin.readline()
        print('{"type":"description","protocol":1,"kind":"demo","version":"1","captures":[]}', flush=True)
        time.sleep(600)
        """

    @Test("The folders come in order: the flag, the variable, the user's data, PATH, what was installed")
    func order() {
        let folders = PluginFolders(
            named: "/flag",
            environment: ["PIPELINE_PLUGINS": "/a:/b:relative", "HOME": "/home/me", "PATH": "/bin:/a"],
            installed: "/usr/share/pipeline/plugins")
        #expect(
            folders.paths == [
                "/flag", "/a", "/b", "/home/me/.local/share/pipeline/plugins", "/bin", "/usr/share/pipeline/plugins",
            ])
    }

    @Test("The first of a name is used; hidden, reserved and broken ones are reported with the reason")
    func reports() async throws {
        let (first, second) = (try PluginBench(""), try PluginBench(""))
        try second.program("pipeline-stage-upload", PluginBench.prelude(#"{"kind": "upload"}"#))
        try second.program("pipeline-stage-broken", "#!/bin/sh\nexit 4\n")
        try second.folder.write("pipeline-stage-noprogram", "")
        let host = PluginHost(
            folders: PluginFolders([first.folder.path, second.folder.path]),
            settings: PluginSettings(environment: [:], limits: PluginBench.quick), reserved: [.stage: ["upload"]])
        let reports = await host.reports()
        #expect(reports.map(\.program.name) == ["demo", "broken", "demo", "upload", "noprogram"])
        #expect(reports.map(\.isUsable) == [true, false, false, false, false])
        #expect(reports[0].problems.isEmpty)
        #expect(reports[1].problems.first?.contains("ended with status 4") == true, "\(reports[1].problems)")
        #expect(reports[2].problems == ["it is hidden by \(first.folder.path)/pipeline-stage-demo"])
        #expect(reports[3].problems.first?.contains("built in") == true)
        let path = "\(second.folder.path)/pipeline-stage-noprogram"
        #expect(reports[4].problems == ["it may not be executed; chmod +x \(path)"])
        #expect(reports[0].json["version"] == "1")
        #expect(await host.plugins().stages.map(\.name) == ["demo"])
    }

    /// It was no kind at all, and nothing said why.
    @Test("A file that may not be executed is told where a document names it, and hides no program")
    func notExecutable() async throws {
        let (first, second) = (try PluginBench(""), try PluginBench(""))
        try first.folder.write("pipeline-stage-late", "")
        let report = try await first.report(kind: "late")
        let path = "\(first.folder.path)/pipeline-stage-late"
        #expect(report.contains("the plugin 'late' at \(path) may not be executed"), "\(report)")
        #expect(report.contains("chmod +x \(path)"))
        try second.program("pipeline-stage-late", PluginBench.prelude(#"{"kind": "late"}"#))
        let programs = PluginFolders([first.folder.path, second.folder.path]).programs()
        let late = programs.filter { $0.name == "late" }
        #expect(late.map(\.path) == ["\(second.folder.path)/pipeline-stage-late"])
        #expect(late.map(\.hiddenBy) == [nil])
    }

    @Test("Only plugins whose name stands in the document are started, each once")
    func onlyNamed() async throws {
        let bench = try PluginBench("")
        let script = "#!/bin/sh\necho x >> \(bench.folder.path)/starts\n"
        try bench.program("pipeline-stage-other", script)
        _ = try await bench.plan()
        #expect(bench.folder.read("starts") == nil)
        _ = try await bench.report(kind: "other")
        _ = try await bench.report(kind: "other")
        #expect(bench.folder.read("starts") == "x\n")
    }

    @Test(
        "The programs that are installed with pipeline pass the conformance run", arguments: ["transcode", "command"])
    func shipped(name: String) async throws {
        let path = "\(PluginBench.shipped)/pipeline-stage-\(name)"
        let settings = PluginSettings(environment: ["PATH": "/usr/bin:/bin"], limits: PluginLimits(grace: .seconds(10)))
        let findings = await PluginConformance(path: path, settings: settings).run()
        #expect(findings.count == 11)
        for finding in findings { #expect(finding.problem == nil, "\(finding.check)") }
    }

    @Test("The conformance run explains each failure")
    func bad() async throws {
        let bench = try PluginBench("print('hm', flush=True); time.sleep(600)")
        var limits = PluginBench.quick
        limits.grace = .milliseconds(500)
        let settings = PluginSettings(environment: ["PATH": "/usr/bin:/bin"], limits: limits)
        let findings = await PluginConformance(
            path: "\(bench.folder.path)/pipeline-stage-demo", settings: settings
        ).run()
        let broken = findings.filter { !$0.holds }
        #expect(broken.count == 2)
        for finding in broken { #expect(finding.problem?.contains("not JSON: hm") == true) }
        try bench.program("pipeline-stage-demo", Self.stubborn)
        let stubborn = await PluginConformance(
            path: "\(bench.folder.path)/pipeline-stage-demo", settings: settings
        ).run().filter { !$0.holds }
        #expect(stubborn.map(\.check).contains("SIGTERM ends it within 0.5 seconds"))
        #expect(stubborn.map(\.check).contains("it ends by itself after its last message, with status 0"))
        #expect(stubborn.map(\.check).contains("it ends when its standard input does, and says nothing"))
        let missing = await PluginConformance(path: "/nowhere/pipeline-stage-x", settings: settings).run()
        #expect(missing.last?.problem == "/nowhere/pipeline-stage-x is no executable file")
    }
}
