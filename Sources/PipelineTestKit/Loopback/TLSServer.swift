import Foundation

/// `openssl s_server` on a free port of 127.0.0.1, with certificates made for the test.
package final class TLSServer: Sendable {
    package struct ToolError: Error {
        let text: String
    }

    /// Of its own; gone with the server.
    private let folder: String
    package let port: Int
    /// The pin of the server's public key: the base64 of the SHA-256 of its DER form (CURLOPT_PINNEDPUBLICKEY).
    package let pin: String
    private let process: Process

    /// - Parameters:
    ///   - name: what the certificate is for.
    ///   - isExpired: a certificate of the year 2020.
    ///   - needsClientCertificate: refuses clients without one of the same authority.
    ///   - isOld: knows TLS 1.2 and nothing newer.
    package static func start(
        name: String = "localhost", isExpired: Bool = false, needsClientCertificate: Bool = false, isOld: Bool = false
    ) async throws -> TLSServer {
        try await withCheckedThrowingContinuation { continuation in
            // Waiting for programs blocks, and the threads of Swift's tasks are few.
            Thread.detachNewThread {
                continuation.resume(
                    with: Result {
                        try TLSServer(
                            name: name, isExpired: isExpired, needsClientCertificate: needsClientCertificate,
                            isOld: isOld)
                    })
            }
        }
    }

    private init(name: String, isExpired: Bool, needsClientCertificate: Bool, isOld: Bool) throws {
        folder = NSTemporaryDirectory() + "pipeline-tls-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try Self.makeCertificate(in: folder, name: name, isExpired: isExpired)
        pin = try Self.pin(in: folder)
        process = Process()
        let output = Pipe()
        let verify =
            needsClientCertificate ? ["-Verify", "1", "-verify_return_error", "-CAfile", "\(folder)/c.pem"] : []
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments =
            [
                "openssl", "s_server", "-accept", "127.0.0.1:0", "-www", "-cert", "\(folder)/c.pem", "-key",
                "\(folder)/k.pem",
            ]
            + verify + (isOld ? ["-tls1_2"] : [])
        process.standardInput = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        port = try Self.port(from: output.fileHandleForReading)
    }

    deinit {
        // Not SIGTERM: a process inherits the signals that its parent's thread has blocked.
        kill(process.processIdentifier, SIGKILL)
        try? FileManager.default.removeItem(atPath: folder)
    }

    package var url: String { "https://localhost:\(port)/" }
    /// PEM files: the server's own certificate, which is its own authority, and its key.
    package var certificate: String { "\(folder)/c.pem" }
    package var key: String { "\(folder)/k.pem" }

    /// Returns the same key in a PEM file that a password opens.
    package func sealedKey(password: String) throws -> String {
        _ = try Self.run("openssl pkey -in k.pem -aes256 -passout pass:\(password) -out sealed.pem", in: folder)
        return "\(folder)/sealed.pem"
    }

    private static func pin(in folder: String) throws -> String {
        let script =
            "openssl x509 -in c.pem -pubkey -noout | openssl pkey -pubin -outform der | openssl dgst -sha256 -binary | openssl base64"
        return "sha256//" + (try run(script, in: folder)).filter { !$0.isWhitespace }
    }

    private static func makeCertificate(in folder: String, name: String, isExpired: Bool) throws {
        let key = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout k.pem"
        let subject = "-subj /CN=\(name) -addext subjectAltName=DNS:\(name)"
        guard isExpired else {
            _ = try run("openssl req -x509 \(key) \(subject) -days 2 -out c.pem", in: folder)
            return
        }
        let configuration = """
            [ca]\ndefault_ca=d\n[d]\nnew_certs_dir=.\ndatabase=index\nserial=serial\ndefault_md=sha256\npolicy=p
            [p]\ncommonName=supplied\n
            """
        try Data(configuration.utf8).write(to: URL(fileURLWithPath: "\(folder)/ca.cnf"))
        _ = try run("touch index; echo 01 > serial; openssl req -new \(key) \(subject) -out r.csr", in: folder)
        let dates = "-startdate 20200101000000Z -enddate 20200102000000Z"
        _ = try run(
            "openssl ca -config ca.cnf -batch -selfsign -keyfile k.pem -in r.csr \(dates) -notext -out c.pem",
            in: folder)
    }

    private static func run(_ command: String, in folder: String) throws -> String {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", command]
        process.currentDirectoryURL = URL(fileURLWithPath: folder)
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw ToolError(text: command) }
        return text
    }

    /// The server says `ACCEPT 127.0.0.1:PORT` when it listens.
    private static func port(from output: FileHandle) throws -> Int {
        var text = ""
        while true {
            let data = output.availableData
            guard !data.isEmpty else { throw ToolError(text: text) }
            text += String(decoding: data, as: UTF8.self)
            guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix("ACCEPT") }), text.hasSuffix("\n"),
                let port = line.split(separator: ":").last.flatMap({ Int($0) })
            else { continue }
            return port
        }
    }
}
