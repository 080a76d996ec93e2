import Foundation
import PipelineTestKit
import Testing

@Suite("A state folder of another user", .timeLimit(.minutes(3))) struct OtherUserTests {
    private static let setpriv = "/usr/bin/setpriv"
    private static let perl = "/usr/bin/perl"

    private static func isInstalled(_ program: String) -> Bool {
        FileManager.default.isExecutableFile(atPath: program)
    }

    /// Runs the program as the user `nobody`; nil where that user can't reach it.
    private func nobody(_ arguments: [String], in folder: String) async throws -> ProgramEnd? {
        let program = try BuiltProgram(named: "pipeline")
        let rights = ["--reuid=65534", "--regid=65534", "--clear-groups"]
        let reaches = try await BuiltProgram(path: Self.setpriv).run(
            rights + ["/usr/bin/test", "-x", program.path], environment: [:], folder: "/")
        guard reaches.cause == .exited(0) else { return nil }
        let environment = BuiltProgram.environment(["HOME": folder, "PATH": "/usr/bin:/bin"])
        return try await BuiltProgram(path: Self.setpriv).run(
            rights + [program.path] + arguments, environment: environment, folder: "/")
    }

    @Test(
        "is refused with its name, and is not taken for an empty one",
        .enabled(
            if: geteuid() == 0 && isInstalled(setpriv), "needs root and setpriv"))
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

    // Only a mistake of the administrator's lets another user get there: the folder and the socket are closed to others.
    @Test(
        "a control socket answers no other user, and says so in the log",
        .enabled(if: geteuid() == 0 && isInstalled(setpriv) && isInstalled(perl), "needs root, setpriv and perl"))
    func controlSocket() async throws {
        try await withWorkplace { workplace in
            let daemon = try workplace.start("daemon")
            #expect(await daemon.hasWritten("ready"))
            let socket = workplace.state + "/control.sock"
            let asks = """
                $SIG{PIPE} = 'IGNORE'; socket(S, AF_UNIX, SOCK_STREAM, 0); connect(S, pack_sockaddr_un($ARGV[0]))
                    or die "closed: $!\\n";
                syswrite(S, '{"type":"status"}' . "\\n"); while (sysread(S, $b, 4096)) { print $b } print "end\\n";
                """
            let rights = [
                "--reuid=65534", "--regid=65534", "--clear-groups", Self.perl, "-MSocket", "-e", asks, socket,
            ]
            func ask() async throws -> ProgramEnd {
                try await BuiltProgram(path: Self.setpriv).run(rights, environment: [:], folder: "/")
            }
            #expect(try await ask().errors == "closed: Permission denied\n")
            chmod(workplace.folder, 0o755)
            chmod(workplace.state, 0o755)
            chmod(socket, 0o777)
            #expect(
                try await ask().output
                    == #"{"error":"the background owner serves the user alone who started it"}"# + "\nend\n")
            #expect(await daemon.hasWritten("a connection of user 65534 to the control socket was refused"))
            let own = try await BuiltProgram(path: Self.perl).run(
                ["-MSocket", "-e", asks.replacing("while", with: "shutdown(S, 1); while"), socket], environment: [:],
                folder: "/")
            #expect(own.output.contains(#""process":"#) && !own.output.contains("error"), "\(own)")
            daemon.signal(SIGTERM)
            #expect(await daemon.end.cause == .exited(0))
        }
    }

    @Test(
        "a process of another user that listens in the owner's place is told nothing",
        .enabled(if: geteuid() == 0 && isInstalled(perl), "needs root and perl"))
    func impostor() async throws {
        try await withWorkplace { workplace in
            let file = try workplace.write(
                "w.json",
                #"{ "pipeline": 1, "name": "w", "stages": [ { "id": "a", "kind": "wait", "for": "1h" } ] }"#)
            #expect(try await workplace.run("list").cause == .exited(0))
            let listens = """
                socket(S, AF_UNIX, SOCK_STREAM, 0); bind(S, pack_sockaddr_un($ARGV[0])) or die; $> = 65534;
                listen(S, 5); $| = 1; print "ready\\n";
                while (accept(C, S)) { while (sysread(C, $b, 4096)) { print "heard $b" } print "end\\n" }
                """
            try FileManager.default.createDirectory(
                atPath: workplace.state, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            let other = try BuiltProgram(path: Self.perl).start(
                ["-MSocket", "-e", listens, workplace.state + "/control.sock"], environment: [:], folder: "/")
            #expect(await other.hasWritten("ready"))
            let end = try await workplace.run(
                "run", file, "--detach", environment: ["PIPELINE_SECRET_TOKEN": "quite-secret"])
            // The job is kept, and a person who asks for it is warned.
            #expect(end.cause == .exited(0) && end.errors.contains("belongs to another user's process"), "\(end)")
            #expect(await other.hasWritten("end\n"))
            other.signal(SIGKILL)
            #expect(await !other.end.output.contains("heard"))
        }
    }
}
