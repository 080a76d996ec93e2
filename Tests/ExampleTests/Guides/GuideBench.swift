import Foundation
import PipelineTestKit
import SelfieStudio
import Testing

/// A folder in which a page is followed, and the shell that does it. Gone with the test.
struct GuideBench {
    let folder: String
    var environment: [String: String] = [:]
    /// What stands on the page for places of this run.
    var names: [(real: String, shown: String)] = []

    /// Whether the programs are there that pages use beside ours.
    static let hasTools = ["/usr/bin/curl", "/usr/bin/jq"].allSatisfy {
        FileManager.default.isExecutableFile(atPath: $0)
    }

    static let hasPrometheus =
        hasTools
        && ["/usr/bin/prometheus", "/usr/bin/promtool", "/usr/bin/python3"].allSatisfy {
            FileManager.default.isExecutableFile(atPath: $0)
        }

    init() throws {
        folder = NSTemporaryDirectory() + "pipeline-guide-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        names = [(folder, "/home/me/work")]
    }

    func remove() {
        // A background owner that the page started.
        let log = (try? String(contentsOfFile: state + "/daemon.log", encoding: .utf8)) ?? ""
        for match in log.matches(of: /ready, process (\d+)/) {
            if let process = Int32(match.output.1) { kill(process, SIGKILL) }
        }
        try? FileManager.default.removeItem(atPath: folder)
    }

    var state: String { folder + "/.local/state/pipeline" }

    /// Follows the page, and compares what each command prints. With `RECORD=1` the page is written again where it differs.
    func follow(_ page: GuidePage) async throws {
        let answers = try await answers(to: page)
        var wrong: [(old: Range<Int>, new: [String])] = []
        var number = 0
        for case .command(let text, let range) in page.steps {
            let answer = GuideAnswer(number < answers.count ? answers[number] : "(not reached)", names: names)
            number += 1
            guard !answer.isAsShown(page.lines[range]) else { continue }
            wrong.append((range, answer.shown))
            guard !Self.isRecording else { continue }
            Issue.record(
                "\(text)\n--- prints\n\(answer.shown.joined(separator: "\n"))\n--- \(page.path) says otherwise")
        }
        if Self.isRecording, !wrong.isEmpty {
            try page.answering(wrong).write(toFile: page.path, atomically: true, encoding: .utf8)
        }
    }

    private static var isRecording: Bool { ProcessInfo.processInfo.environment["RECORD"] == "1" }

    /// Returns what the commands of the page print, in their order, typed into one shell.
    private func answers(to page: GuidePage) async throws -> [String] {
        var script = "exec 2>&1\n"
        for (number, step) in page.steps.enumerated() {
            switch step {
            case .file(let name, let content):
                let kept = "\(folder)/.file-\(number)"
                try content.write(toFile: kept, atomically: true, encoding: .utf8)
                script += "mkdir -p \"$(dirname '\(name)')\" && mv '\(kept)' '\(name)'\n"
            case .command(let text, _):
                // The status stays the command's, so that the next one can ask for it.
                script += "\(text)\n__status=$?; printf '\\036'; ( exit $__status )\n"
            }
        }
        let path = folder + "/.session"
        try script.write(toFile: path, atomically: true, encoding: .utf8)
        let end = try await BuiltProgram(path: "/bin/bash").run(
            [path], environment: variables(), folder: folder, limit: .seconds(150))
        #expect(end.cause != .overdue, "\(end)")
        return end.output.components(separatedBy: "\u{1E}").dropLast()
    }

    private func variables() throws -> [String: String] {
        let own = ["HOME": folder, "PATH": "\(try BuiltProgram.productFolder()):/usr/bin:/bin", "LANG": "C.UTF-8"]
        return BuiltProgram.environment(own.merging(environment) { $1 })
    }
}

extension GuideBench {
    /// A bench with the demonstration service, which pages show at its usual address.
    static func withStudio(
        _ change: (inout StudioSettings) -> Void = { _ in }, _ body: (inout GuideBench) async throws -> Void
    ) async throws {
        var bench = try GuideBench()
        defer { bench.remove() }
        var settings = StudioSettings(dataFolder: bench.folder + "/.studio")
        change(&settings)
        try await StudioServer.run(settings) { server in
            bench.environment["SELFIE_URL"] = server.url
            bench.names.append((server.url, "http://127.0.0.1:8787"))
            for video in ["me.y4m", "selfie.y4m"] {
                try FileManager.default.copyItem(
                    atPath: ExampleTests.root.path + "/Fixtures/selfie.y4m", toPath: "\(bench.folder)/\(video)")
            }
            try await body(&bench)
        }
    }
}
