import Foundation
import PipelineTestKit

/// A mail server that offers STARTTLS (RFC 3207), with a certificate that nobody vouches for.
struct SecureMailServer {
    struct Failure: Error {}

    let port: Int
    private let program: RunningProgram

    /// - Parameter host: the address at which it listens.
    init(host: String) async throws {
        let certified = try await TLSServer.start()
        program = try BuiltProgram(path: "/usr/bin/env").start(
            ["python3", "-c", Self.script, host, certified.certificate, certified.key],
            environment: ["PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin"])
        guard await program.hasWritten("ready") else { throw Failure() }
        // Its files are read by now.
        withExtendedLifetime(certified) {}
        guard let port = program.text.split(separator: " ").first.flatMap({ Int($0) }) else { throw Failure() }
        self.port = port
    }

    /// Waits for the message that it takes; true if that came over an encrypted connection. What it prints before it answers
    /// may be read here after the answer.
    var takesOverTLS: Bool {
        get async { await program.hasWritten("taken by ") && program.text.contains("taken by SSLSocket") }
    }

    func stop() { program.signal(SIGTERM) }

    private static let script = #"""
        import socket, ssl, sys
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(sys.argv[2], sys.argv[3])
        def serve(connection):
            connection.sendall(b"220 test ESMTP\r\n")
            lines = connection.makefile("rb")
            while line := lines.readline():
                command = line[:4]
                if command == b"EHLO": answer = b"250-test\r\n250 STARTTLS"
                elif command == b"STAR": answer = b"220 go on"
                elif command == b"DATA":
                    connection.sendall(b"354 go on\r\n")
                    while lines.readline() not in (b".\r\n", b""): pass
                    print("taken by", type(connection).__name__, flush=True)
                    answer = b"250 taken"
                else: answer = b"250 ok"
                connection.sendall(answer + b"\r\n")
                if command == b"STAR":
                    connection = context.wrap_socket(connection, server_side=True)
                    lines = connection.makefile("rb")
        listener = socket.create_server((sys.argv[1], 0))
        print(listener.getsockname()[1], "ready", flush=True)
        while True:
            try: serve(listener.accept()[0])
            except OSError: pass
        """#
}
