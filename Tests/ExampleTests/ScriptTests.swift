import Foundation
import PipelineTestKit
import Testing

/// What `make` says before and after: scripts with other programs in the place of apt and swift.
@Suite("Scripts", .timeLimit(.minutes(1))) struct ScriptTests {
    @Test("while another apt is at work, missing packages wait for it, and it is said")
    func waitsForApt() async throws {
        let end = try await run(
            "dependencies", ["missing-package"],
            programs: [
                "dpkg-query": "exit 1", "uname": "echo Linux", "id": "echo 0", "sleep": "echo slept >> \"$LOG\"",
                "apt-get": """
                echo "$2" >> "$LOG"
                [ "$(grep -c update "$LOG")" -gt 2 ] || { echo "E: Could not get lock /lists/lock. It is held"; exit 100; }
                """,
            ])
        #expect(end.program.cause == .exited(0), "\(end.program)")
        #expect(end.log == ["update", "slept", "update", "slept", "update", "install"])
        let said = end.program.errors.split(separator: "\n").filter { $0.hasPrefix("Another apt is at work") }
        #expect(said == ["Another apt is at work: waiting for it. E: Could not get lock /lists/lock. It is held"])
    }

    @Test("what apt refuses for another reason is shown at once")
    func aptFails() async throws {
        let programs = ["dpkg-query": "exit 1", "id": "echo 0", "apt-get": "echo E: no such package; exit 100"]
        let end = try await run("dependencies", ["missing-package"], programs: programs)
        #expect(end.program.cause == .exited(1), "\(end.program)")
        #expect(end.program.errors.contains("E: no such package"))
    }

    @Test("a run of the tests says at its end what was not run, for want of what, and what failed")
    func testsSayWhatIsMissing() async throws {
        let output = """
            ➜ Suite "An upload to S3 at moto" skipped: "needs moto"
            ➜ Test notCalledAnything() skipped.
            ➜ Test "pages" was cancelled after 0.1 seconds: "needs moto"
            ✔ Test "all is well" passed after 0.1 seconds.
            ✘ Test "a sum" recorded an issue at SumTests.swift:3:5: Expectation failed
            """
        let end = try await run("test", [], programs: ["swift": "cat <<'OUTPUT'\n\(output)\nOUTPUT\nexit 1"])
        #expect(end.program.cause == .exited(1))
        let told = end.program.output.components(separatedBy: "Missing here:\n").last ?? ""
        #expect(
            told == """
                    needs moto
                    no reason given

                Not run for it:
                    Suite "An upload to S3 at moto": needs moto
                    Test "pages": needs moto
                    Test notCalledAnything(): no reason given

                What failed:
                ✘ Test "a sum" recorded an issue at SumTests.swift:3:5: Expectation failed

                """)
        let whole = try await run("test", [], programs: ["swift": "echo '✔ Test x passed'"])
        #expect(whole.program.cause == .exited(0))
        #expect(whole.program.output.hasSuffix("\nNothing was left out: all peers were there.\n"))
    }

    /// Runs a script of `.scripts` with programs that stand before all others; `$LOG` is a file that they may write to.
    private func run(
        _ script: String, _ arguments: [String], programs: [String: String]
    ) async throws -> (program: ProgramEnd, log: [String]) {
        let folder = NSTemporaryDirectory() + "pipeline-scripts-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        for (name, text) in programs {
            let path = "\(folder)/\(name)"
            try "#!/bin/bash\n\(text)\n".write(toFile: path, atomically: true, encoding: .utf8)
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
        }
        let end = try await BuiltProgram(path: "/bin/bash").run(
            ["\(ExampleTests.root.path)/.scripts/\(script)"] + arguments,
            environment: ["PATH": "\(folder):/usr/bin:/bin", "LOG": "\(folder)/log", "LANG": "C.UTF-8"], folder: folder)
        let log = (try? String(contentsOfFile: folder + "/log", encoding: .utf8)) ?? ""
        return (end, log.split(separator: "\n").map(String.init))
    }
}
