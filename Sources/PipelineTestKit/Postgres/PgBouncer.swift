import CLibrary

/// A pooler between clients and a server of the tests (pgbouncer.org/config.html).
package final class PgBouncer: Sendable {
    private static let path = "/usr/sbin/pgbouncer"
    /// True if tests that need it can run.
    package static var isAvailable: Bool { access(path, X_OK) == 0 && PostgresServer.isAvailable }
    /// The sentence with which a test is skipped.
    package static let howTo = "needs PgBouncer (apt-get install pgbouncer)"

    /// The folder of its socket: an address's `host`.
    package let folder: String
    private let process: RunningProgram

    /// - Parameter mode: `session` or `transaction`.
    package init(to server: PostgresServer, mode: String) async throws {
        var template = Array("/tmp/pipeline-pool-XXXXXX".utf8CString)
        guard let made = mkdtemp(&template) else {
            throw BuiltProgram.StartError(description: "no folder for the pooler can be made")
        }
        folder = String(cString: made)
        let settings = """
            [databases]
            * = host=\(server.folder) user=pipeline
            [pgbouncer]
            listen_port = 5432
            unix_socket_dir = \(folder)
            auth_type = any
            pool_mode = \(mode)
            default_pool_size = 8
            logfile = \(folder)/log

            """
        let file = fopen("\(folder)/pgbouncer.ini", "w")
        fputs(settings, file)
        fclose(file)
        process = try server.startAsUser(Self.path, ["\(folder)/pgbouncer.ini"], owning: folder)
        for _ in 0..<400 where access("\(folder)/.s.PGSQL.5432", F_OK) != 0 && process.isRunning { usleep(10_000) }
        guard process.isRunning else { throw BuiltProgram.StartError(description: "pgbouncer: \(process.text)") }
    }

    package func remove() async {
        process.signal(SIGTERM)
        _ = await process.end
        _ = try? await BuiltProgram(path: "/bin/rm").run(["-rf", folder])
    }
}
