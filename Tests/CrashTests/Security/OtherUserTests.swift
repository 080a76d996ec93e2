import Foundation
import PipelineTestKit
import Testing

@Suite("A state folder of another user", .timeLimit(.minutes(3))) struct OtherUserTests {
    private static let setpriv = "/usr/bin/setpriv"

    /// Runs the program as the user `nobody`; nil where that user can't reach it.
    private func nobody(_ arguments: [String], in folder: String) async throws -> ProgramEnd? {
        let program = try BuiltProgram(named: "pipeline")
        let rights = ["--reuid=65534", "--regid=65534", "--clear-groups"]
        let reaches = try await BuiltProgram(path: Self.setpriv).run(
            rights + ["/usr/bin/test", "-x", program.path], environment: [:], folder: "/")
        guard reaches.cause == .exited(0) else { return nil }
        var environment = ["HOME": folder, "PATH": "/usr/bin:/bin"]
        environment["LD_LIBRARY_PATH"] = ProcessInfo.processInfo.environment["LD_LIBRARY_PATH"]
        return try await BuiltProgram(path: Self.setpriv).run(
            rights + [program.path] + arguments, environment: environment, folder: "/")
    }

    @Test(
        "is refused with its name, and is not taken for an empty one",
        .enabled(
            if: geteuid() == 0 && FileManager.default.isExecutableFile(atPath: setpriv), "needs root and setpriv"))
    func refused() async throws {
        try await withWorkplace { workplace in
            let file = try workplace.write(
                "w.json",
                #"{ "pipeline": 1, "name": "w", "stages": [ { "id": "a", "kind": "write", "to": "w", "text": "x" } ] }"#
            )
            #expect(try await workplace.run("run", file).cause == .exited(0))
            for arguments in [["list"], ["show", "last"], ["stats"]] {
                guard let end = try await nobody(arguments + ["--state-dir", workplace.state], in: workplace.folder)
                else { try Test.cancel("needs a build folder that others may enter") }
                #expect(end.cause == .exited(1) && end.output.isEmpty, "\(end)")
                #expect(end.errors.contains(workplace.state), "\(end)")
                #expect(!end.errors.contains("no jobs"), "\(end)")
            }
        }
    }
}
