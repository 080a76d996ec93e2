import Foundation
import JSONPath
import PipelineTestKit
import Testing

/// The background owner as systemd starts it: with a socket that is there already.
@Suite("A service manager", .timeLimit(.minutes(2)))
struct ServiceManagerTests {
    /// Listens as a manager does, and becomes the owner's program with the socket as its descriptor 3 (sd_listen_fds(3)).
    private static let manager = """
        import os, socket, sys
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(sys.argv[1])
        listener.listen()
        os.dup2(listener.fileno(), 3)
        os.set_inheritable(3, True)
        environment = dict(os.environ, LISTEN_FDS="1", LISTEN_PID=str(os.getpid()))
        os.execve(sys.argv[2], sys.argv[2:], environment)
        """

    @Test("the owner serves on the socket that it was given, and leaves it in its place")
    func socketActivation() async throws {
        try await withWorkplace { workplace in
            let script = try workplace.write("manager.py", Self.manager)
            try FileManager.default.createDirectory(
                atPath: workplace.state, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            let socket = workplace.state + "/control.sock"
            let daemon = try BuiltProgram(named: "pipeline-daemon")
            var environment = workplace.environment()
            environment["PATH"] = ProcessInfo.processInfo.environment["PATH"]
            let owner = try BuiltProgram(path: "/usr/bin/env").start(
                ["python3", script, socket, daemon.path], environment: environment, folder: workplace.folder)
            #expect(await owner.hasWritten("ready"))
            let inode = try FileManager.default.attributesOfItem(atPath: socket)[.systemFileNumber] as? Int
            let file = try workplace.write(
                "w.json",
                #"""
                { "pipeline": 1, "name": "w", "stages": [ { "id": "a", "kind": "write", "to": "x.txt", "text": "done" } ] }
                """#)
            let end = try await workplace.run("run", file, "--detach", "--output", workplace.output)
            try #require(end.cause == .exited(0) && end.errors.isEmpty, "\(end)")
            #expect(try await workplace.waitFor(["succeeded", "failed"])["state"] == "succeeded")
            // No other owner was started beside it.
            #expect(BackgroundProcess(workplace: workplace).processes.isEmpty)
            owner.signal(SIGTERM)
            #expect(await owner.end.cause == .exited(0))
            #expect(try FileManager.default.attributesOfItem(atPath: socket)[.systemFileNumber] as? Int == inode)
        }
    }

    private static let analyze = "/usr/bin/systemd-analyze"

    @Test(
        "systemd finds nothing wrong with the units",
        .enabled(if: FileManager.default.isExecutableFile(atPath: analyze), "systemd-analyze is not installed"))
    func units() async throws {
        try await withWorkplace { workplace in
            let daemon = try BuiltProgram(named: "pipeline-daemon")
            let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
                .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Sources/pipeline/Units")
            let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter {
                $0.hasPrefix("pipeline")
            }
            #expect(names.count == 5)
            var units: [String] = []
            for name in names {
                let unit = try String(contentsOf: folder.appending(path: name), encoding: .utf8)
                // Where it is not installed the built program stands for the installed one.
                let installed = unit.replacing("@PREFIX@/bin/pipeline-daemon", with: daemon.path)
                    .replacing("@PREFIX@/bin/pipeline", with: workplace.program.path)
                // A template is looked at as one of its instances.
                let instance = name.replacing("@", with: "@nightly")
                units.append(try workplace.write(instance, installed.replacing("@PREFIX@", with: "/usr")))
            }
            let end = try await BuiltProgram(path: Self.analyze).run(
                ["verify", "--user", "--man=no", "--generators=no"] + units,
                environment: ["HOME": workplace.folder, "PATH": "/usr/bin:/bin", "XDG_RUNTIME_DIR": workplace.folder])
            let own = end.errors.split(separator: "\n").filter {
                $0.contains(workplace.folder) || $0.contains("pipeline.")
            }
            #expect(end.cause == .exited(0) && own.isEmpty, "\(end)")
        }
    }
}
