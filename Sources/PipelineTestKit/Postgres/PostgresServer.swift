import CLibrary
import Synchronization

/// A server of PostgreSQL that the tests start for themselves, on a Unix socket in a temporary folder, as an ordinary user.
///
/// One of them serves a whole run of tests: each makes a database of its own.
package final class PostgresServer: Sendable {
    /// The place where the server's programs are; nil where it is not installed.
    package static let programs: String? = {
        let versions = (14...30).reversed().map { "/usr/lib/postgresql/\($0)/bin" }
        return (versions + ["/usr/local/bin", "/usr/bin", "/opt/homebrew/bin"]).first {
            access("\($0)/initdb", X_OK) == 0 && access("\($0)/postgres", X_OK) == 0
        }
    }()
    /// True if tests that need a server can run.
    package static var isAvailable: Bool { programs != nil }
    /// The sentence with which a test is skipped.
    package static let howTo = "needs PostgreSQL 14 or later (apt-get install postgresql)"

    private struct State {
        var process: RunningProgram?
        var databases = 0
    }

    /// The folder of the data and of the socket.
    package let folder: String
    private let bin: String
    private let state = Mutex(State())

    /// The server of this run of tests, started at the first use and stopped at the run's end.
    package static func shared() async throws -> PostgresServer { try await sharedStart.value }

    private static let sharedStart = Task {
        let server = try await PostgresServer()
        kept.withLock { $0 = server }
        atexit { PostgresServer.kept.withLock { $0 }?.endAtExit() }
        return server
    }
    private static let kept = Mutex<PostgresServer?>(nil)

    /// Makes a new cluster and starts its server.
    package init() async throws {
        guard let bin = Self.programs else { throw BuiltProgram.StartError(description: Self.howTo) }
        self.bin = bin
        var template = Array("/tmp/pipeline-pg-XXXXXX".utf8CString)
        guard let made = mkdtemp(&template) else {
            throw BuiltProgram.StartError(description: "no folder for the server can be made")
        }
        folder = String(cString: made)
        if let user = Self.user { chown(folder, user.id, user.group) }
        let end = try await run(
            "initdb",
            ["-D", "\(folder)/data", "-U", "pipeline", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"])
        guard end.cause == .exited(0) else {
            throw BuiltProgram.StartError(description: "initdb failed: \(end.errors)")
        }
        try await start()
    }

    /// Starts the server again, on the same data.
    package func start() async throws {
        let settings = [
            "listen_addresses=", "unix_socket_directories=\(folder)", "fsync=off", "shared_buffers=32MB",
            "max_connections=200", "log_min_messages=warning",
        ]
        let process = try program("postgres").start(
            arguments("postgres", ["-D", "\(folder)/data"] + settings.flatMap { ["-c", $0] }),
            environment: Self.environment, folder: folder, limit: .seconds(3600))
        state.withLock { $0.process = process }
        // Its messages of readiness are of the lowest level that the log has.
        for _ in 0..<600 {
            if try await run("pg_isready", ["-h", folder, "-t", "1"]).cause == .exited(0) { return }
            guard process.isRunning else { break }
        }
        throw BuiltProgram.StartError(description: "the server did not start: \(process.text)")
    }

    /// Stops the server; connections are cut.
    package func stop() async {
        guard let process = state.withLock({ $0.process }) else { return }
        process.signal(SIGINT)
        _ = await process.end
        state.withLock { $0.process = nil }
    }

    /// Makes an empty database, or a copy of another one, and returns its name.
    package func makeDatabase(copying template: String? = nil) async throws -> String {
        let number = state.withLock { state in
            state.databases += 1
            return state.databases
        }
        let name = "test\(number)"
        try await query("CREATE DATABASE \(name)" + (template.map { " TEMPLATE \($0)" } ?? ""), in: "postgres")
        return name
    }

    /// The address of a database, as libpq takes it.
    package func address(of database: String, user: String = "pipeline", socket: String? = nil) -> String {
        "postgres://\(user)@/\(database)?host=\(socket ?? folder)"
    }

    /// Returns what psql prints for a statement, without a frame.
    @discardableResult
    package func query(_ sql: String, in database: String) async throws -> String {
        let end = try await run(
            "psql",
            [
                "-h", folder, "-U", "pipeline", "-d", database, "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-c",
                sql,
            ])
        guard end.cause == .exited(0) else { throw BuiltProgram.StartError(description: "psql: \(end.errors)") }
        return end.output.hasSuffix("\n") ? String(end.output.dropLast()) : end.output
    }

    /// Stops the server and removes its folder.
    package func remove() async {
        await stop()
        _ = try? await BuiltProgram(path: "/bin/rm").run(["-rf", folder])
    }

    /// Starts another program as the user that the server runs as, who gets the folder.
    func startAsUser(_ path: String, _ arguments: [String], owning folder: String) throws -> RunningProgram {
        guard let user = Self.user else {
            return try BuiltProgram(path: path).start(arguments, environment: Self.environment, limit: .seconds(3600))
        }
        chown(folder, user.id, user.group)
        return try BuiltProgram(path: "/usr/bin/setpriv").start(
            ["--reuid", "\(user.id)", "--regid", "\(user.group)", "--clear-groups", path] + arguments,
            environment: Self.environment, limit: .seconds(3600))
    }

    // MARK: Programs

    private static let environment = ["PATH": "/usr/bin:/bin", "LC_ALL": "C", "TZ": "UTC"]

    /// The server runs as no superuser.
    private static let user: (name: String, id: uid_t, group: gid_t)? = {
        guard geteuid() == 0 else { return nil }
        for name in ["postgres", "nobody"] {
            if let entry = getpwnam(name) { return (name, entry.pointee.pw_uid, entry.pointee.pw_gid) }
        }
        return nil
    }()

    /// setpriv becomes the program, so that the process is the server's own.
    private func program(_ name: String) -> BuiltProgram {
        BuiltProgram(path: Self.user == nil ? "\(bin)/\(name)" : "/usr/bin/setpriv")
    }

    private func arguments(_ name: String, _ arguments: [String]) -> [String] {
        guard let user = Self.user else { return arguments }
        return ["--reuid", "\(user.id)", "--regid", "\(user.group)", "--clear-groups", "\(bin)/\(name)"] + arguments
    }

    private func run(_ name: String, _ arguments: [String]) async throws -> ProgramEnd {
        try await program(name).run(
            self.arguments(name, arguments), environment: Self.environment, folder: folder, limit: .seconds(60))
    }

    private func endAtExit() {
        guard let process = state.withLock({ $0.process }) else { return }
        process.signal(SIGQUIT)
        for _ in 0..<200 where process.isRunning { usleep(10_000) }
        var arguments: [UnsafeMutablePointer<CChar>?] = (["rm", "-rf", folder] as [String]).map { strdup($0) } + [nil]
        var child: pid_t = 0
        posix_spawn(&child, "/bin/rm", nil, nil, &arguments, nil)
        waitpid(child, nil, 0)
    }
}
