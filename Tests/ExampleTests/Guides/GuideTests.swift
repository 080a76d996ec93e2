import Foundation
import JSONPath
import PipelineCore
import PipelineKit
import PipelineTestKit
import SelfieStudio
import Testing

/// The guides are followed as they stand: their files are written, their commands typed, what is printed is compared.
/// `RECORD=1` writes the answers that differ into the pages.
@Suite("Guides", .timeLimit(.minutes(3))) struct GuideTests {
    @Test(
        "the script and the pipeline of 'From a curl script to a pipeline' make the same file",
        .enabled(if: GuideBench.hasTools, "curl or jq is not installed"))
    func curlScript() async throws {
        try await GuideBench.withStudio { bench in try await bench.follow(GuidePage(named: "FromACurlScript")) }
    }

    @Test(
        "'When an upload is interrupted' tells what crashes cost, and how a lost submit is settled",
        .enabled(if: GuideBench.hasTools, "curl or jq is not installed"))
    func interruptedUpload() async throws {
        try await GuideBench.withStudio { bench in
            try await bench.follow(GuidePage(named: "WhenAnUploadIsInterrupted"))
        }
    }

    @Test("'What a resume costs' foretells, holds back and tells why")
    func resumeCosts() async throws {
        try await GuideBench.withStudio({ $0.minimumSeconds = 600 }) { bench in
            try await bench.follow(GuidePage(named: "WhatAResumeCosts"))
        }
    }

    @Test(
        "'Many inputs' does a folder, adds the files of tomorrow, reads a table and pipes, and tells what came of it",
        .enabled(if: GuideBench.hasTools, "curl or jq is not installed"))
    func manyInputs() async throws {
        try await GuideBench.withStudio { bench in try await bench.follow(GuidePage(named: "ManyInputs")) }
    }

    @Test("'Operating the daemon' hands over, signals, copies the journal and goes back to the copy")
    func daemon() async throws {
        let bench = try GuideBench()
        defer { bench.remove() }
        try await bench.follow(GuidePage(named: "OperatingTheDaemon"))
    }

    @Test(
        "'Watching jobs in a browser' serves a page to a program with a token, and draws a job",
        .enabled(if: GuideBench.hasTools, "curl or jq is not installed"))
    func browser() async throws {
        let bench = try GuideBench()
        defer { bench.remove() }
        try await bench.follow(GuidePage(named: "WatchingJobsInABrowser"))
    }

    @Test(
        "'Metrics and traces' is scraped by a Prometheus, and traced by a collector",
        .enabled(if: GuideBench.hasPrometheus, "prometheus, curl, jq or python3 is not installed"))
    func metrics() async throws {
        let bench = try GuideBench()
        defer { bench.remove() }
        let page = try GuidePage(named: "MetricsAndTraces")
        // As installed; here from where it is kept.
        let rules = "/Sources/pipeline/Monitoring/pipeline.rules.yml"
        let moved = page.lines.joined(separator: "\n")
            .replacing("/usr/share/pipeline/pipeline.rules.yml", with: ExampleTests.root.path + rules)
        let copy = bench.folder + "/page.md"
        try moved.write(toFile: copy, atomically: true, encoding: .utf8)
        try await bench.follow(GuidePage(path: copy))
    }

    @Test("the dashboard for Grafana asks for no metric that is not given out")
    func dashboard() throws {
        let folder = ExampleTests.root.path + "/Sources/pipeline/Monitoring/"
        let names = Set(Metric.allCases.map(\.rawValue) + ["pipeline_assertions_failed_total"])
        for file in ["grafana-dashboard.json", "pipeline.rules.yml"] {
            let text = try String(contentsOfFile: folder + file, encoding: .utf8)
            let used = text.matches(of: /pipeline_[a-z_]+/).map { String($0.output) }
            #expect(used.count > 5)
            for name in used {
                let suffix = ["_bucket", "_sum", "_count"].first { name.hasSuffix("_seconds\($0)") } ?? ""
                let family = String(name.dropLast(suffix.count))
                #expect(names.contains(family), "\(file) asks for \(name)")
            }
        }
        let page = try GuidePage(named: "MetricsAndTraces").lines.joined(separator: "\n")
        for name in names { #expect(page.contains(name), "the page has no \(name)") }
    }

    @Test("the units that 'Operating the daemon' names are those that are installed")
    func units() throws {
        let page = try GuidePage(named: "OperatingTheDaemon").lines.joined(separator: "\n")
        let folder = ExampleTests.root.path + "/Sources/pipeline/Units/"
        let named = Set(page.matches(of: /pipeline\.(service|socket)/).map { String($0.output.0) })
        #expect(named == ["pipeline.service", "pipeline.socket"])
        for name in named { #expect(FileManager.default.fileExists(atPath: folder + name)) }
        let example = try String(contentsOfFile: folder + "credentials.conf", encoding: .utf8)
        for line in ["[Service]", "LoadCredential=API_TOKEN:%h/.config/pipeline/credentials/API_TOKEN"] {
            #expect(page.contains(line) && example.contains(line))
        }
    }

    @Test(
        "the tutorial goes from an empty folder to several files, over a kill",
        .enabled(if: GuideBench.hasTools, "curl or jq is not installed"))
    func tutorial() async throws {
        try await GuideBench.withStudio { bench in
            bench.environment["API_URL"] = bench.environment["SELFIE_URL"]
            try await bench.follow(GuidePage(named: "Tutorial"))
        }
    }

    @Test(
        "'Running a program of this machine' runs programs between stages",
        .enabled(if: GuideBench.hasTools, "curl or jq is not installed"))
    func program() async throws {
        try await GuideBench.withStudio { bench in
            bench.environment["PIPELINE_PLUGINS"] = ExampleTests.root.path + "/Sources/pipeline/Plugins"
            try await bench.follow(GuidePage(named: "RunningAProgram"))
        }
    }

    @Test(
        "'Running on a schedule' runs a job once for each day, and names the units that are installed",
        .enabled(if: GuideBench.hasTools, "curl or jq is not installed"))
    func schedule() async throws {
        let bench = try GuideBench()
        defer { bench.remove() }
        let page = try GuidePage(named: "RunningOnASchedule")
        try await bench.follow(page)
        for name in ["pipeline-job@.service", "pipeline-job@.timer"] {
            #expect(page.lines.joined().contains("`\(name)`"))
            #expect(
                FileManager.default.fileExists(atPath: ExampleTests.root.path + "/Sources/pipeline/Units/" + name))
        }
    }

    @Test("every page is in the index, and every link between pages and from the README leads somewhere")
    func links() throws {
        let root = ExampleTests.root.path
        let folder = root + "/Sources/PipelineKit/PipelineKit.docc"
        let names = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(".md") }
            .map { String($0.dropLast(3)) }
        #expect(names.count > 10)
        for name in names {
            let page = try GuidePage(named: name).lines.joined(separator: "\n")
            let links = page.matches(of: /<doc:([A-Za-z]+)>/).map { String($0.output.1) }
            #expect(Set(links).isSubset(of: names), "\(name)")
            guard name == "PipelineKit" else { continue }
            #expect(Set(links).union(["PipelineKit"]) == Set(names))
        }
        let readme = try String(contentsOfFile: root + "/README.md", encoding: .utf8)
        let paths = readme.matches(of: /\]\(([^)#:]+)\)/).map { String($0.output.1) }
        #expect(paths.count > 5)
        for path in paths { #expect(FileManager.default.fileExists(atPath: "\(root)/\(path)"), "\(path)") }
    }

    @Test("the README is followed as it stands: its pipeline survives a kill, and its document can be planned")
    func readme() async throws {
        try await GuideBench.withStudio { bench in
            try await bench.follow(GuidePage(path: ExampleTests.root.path + "/README.md"))
            let model = try String(contentsOfFile: bench.folder + "/me.obj", encoding: .utf8)
            #expect(model.contains("\nv ") && model.contains("\nf "))
        }
    }

    @Test("the README is short, and names every example")
    func readmeIsWhole() throws {
        let readme = try GuidePage(path: ExampleTests.root.path + "/README.md")
        #expect(readme.lines.count <= 150)
        let text = readme.lines.joined(separator: "\n")
        for example in ExampleTests.examples where example != "selfie.json" {
            #expect(text.contains("`\(example.dropLast(5))`"), "\(example)")
        }
    }

    @Test("what CONTRIBUTING names is there: folders, files, and what there is to make")
    func contributing() throws {
        let root = ExampleTests.root.path
        let text = try String(contentsOfFile: root + "/CONTRIBUTING.md", encoding: .utf8)
        let paths = text.matches(of: /`((Sources|Tests|Pipelines|Fixtures|\.scripts)\/[A-Za-z0-9.\/-]*)/).map {
            String($0.output.1)
        }
        #expect(paths.count > 15)
        for path in paths where !path.contains("NAME") {
            #expect(FileManager.default.fileExists(atPath: "\(root)/\(path)"), "\(path)")
        }
        let files = ["Sources", "Tests"].flatMap { folder in
            (FileManager.default.enumerator(atPath: "\(root)/\(folder)")?.allObjects as? [String] ?? []).compactMap {
                $0.split(separator: "/").last.map(String.init)
            }
        }
        for match in text.matches(of: /`([A-Z][A-Za-z+]*\.swift)`/) {
            #expect(files.contains(String(match.output.1)), "\(match.output.1)")
        }
        let makefile = try String(contentsOfFile: root + "/Makefile", encoding: .utf8)
        for match in text.matches(of: /`make ([a-z-]+)/) {
            #expect(makefile.contains("\n\(match.output.1):"), "make \(match.output.1)")
        }
    }

    @Test("pieces of JSON on the pages are JSON; those that are keys of a document can stand in one")
    func fragments() throws {
        let catalogue = ExampleBench.workspace(environment: [:], state: "/nonexistent").catalogue
        let pages = [
            "FromACurlScript", "WhenAnUploadIsInterrupted", "WhatAResumeCosts", "OperatingTheDaemon", "Expressions",
            "Tutorial", "RunningAProgram", "RunningOnASchedule", "ManyInputs",
        ]
        var count = 0
        for name in pages {
            for piece in try GuidePage(named: name).fragments {
                count += 1
                guard piece.hasPrefix("\"") else {
                    _ = try JSON.parse(piece)
                    continue
                }
                let text = """
                    { "pipeline": 1, "name": "piece", "stages": [ { "id": "a", "kind": "wait", "for": "1s" } ],
                      \(piece) }
                    """
                _ = try Planner(catalogue: catalogue).plan(SourceText(name: name, text: text))
            }
        }
        #expect(count > 2)
    }
}
