import Foundation
import JSONPath
import PipelineCore
import PipelineTestKit
import Testing

@testable import PipelineStages

/// nginx with one folder of files, which it takes too.
private final class Nginx {
    private let process = Process()
    let port: UInt16

    static let path = ["/usr/sbin/nginx", "/usr/bin/nginx"].first { FileManager.default.isExecutableFile(atPath: $0) }
    static let isAvailable = path != nil

    /// - Parameter isSecure: whether it speaks TLS, with a certificate of its own as `c.pem`, and HTTP/2 in it.
    init(_ folder: TransferFolder, isSecure: Bool = false) throws {
        port = try LoopbackServer.unusedPort()
        let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            .map { "\($0)_temp_path \(folder.path)/temp;" }.joined(separator: " ")
        if isSecure {
            let openssl = Process()
            openssl.executableURL = URL(fileURLWithPath: "/usr/bin/openssl")
            openssl.arguments =
                "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost"
                .split(separator: " ").map(String.init)
                + [
                    "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", "\(folder.path)/k.pem", "-out",
                    "\(folder.path)/c.pem",
                ]
            openssl.standardError = FileHandle.nullDevice
            try openssl.run()
            openssl.waitUntilExit()
        }
        let secure =
            isSecure
            ? " ssl http2; ssl_certificate \(folder.path)/c.pem; ssl_certificate_key \(folder.path)/k.pem" : ""
        let configuration = """
            daemon off; master_process off; pid \(folder.path)/nginx.pid; error_log \(folder.path)/error.log;
            events { worker_connections 64; }
            http { log_format versions $server_protocol; access_log \(folder.path)/versions.log versions; client_max_body_size 0; \(temporary)
                server { listen 127.0.0.1:\(port)\(secure); root \(folder.path)/www; dav_methods PUT; } }
            """
        let file = folder.write("nginx.conf", Array(configuration.utf8))
        process.executableURL = URL(fileURLWithPath: Self.path ?? "nginx")
        process.arguments = ["-c", file, "-e", "\(folder.path)/error.log"]
        process.standardError = FileHandle.nullDevice
        try process.run()
    }

    func stop() { kill(process.processIdentifier, SIGKILL) }
}

@Suite(
    "Transfers with nginx", .timeLimit(.minutes(1)),
    .enabled(if: Nginx.isAvailable, "needs nginx (apt-get install nginx-light)"))
struct NginxTests {
    private let folder = TransferFolder()
    private let content = TransferFolder.bytes(9_000_000)

    init() throws {
        for name in ["www", "temp"] {
            try FileManager.default.createDirectory(
                atPath: "\(folder.path)/\(name)", withIntermediateDirectories: true)
        }
    }

    private func bench(_ stage: String, _ url: String) throws -> TransferBench {
        try TransferBench(#"{ "id": "move", "service": "api", \#(stage) }"#, url: url, folder: folder.path)
    }

    /// nginx needs a moment until it listens: a try that finds nobody is made again.
    private func finish(_ bench: TransferBench) async -> JSONObject? { await bench.run(limit: 10_000).finished }

    @Test("a download goes on where it broke off, in one stream and in several", arguments: [1, 4])
    func download(streams: Int) async throws {
        folder.write("www/mesh.obj", content)
        let nginx = try Nginx(folder)
        defer { nginx.stop() }
        let proxy = try FaultProxy()
        defer { proxy.stop() }
        proxy.forward(to: nginx.port)
        proxy.choose { _ in .fault(.close, .toClient, after: 6_000_000) }
        let bench = try bench(
            #""kind": "download", "request": { "GET": "/mesh.obj" }, "to": "m.obj", "parallel": \#(streams)"#, proxy.url
        )
        #expect(await finish(bench)?["sha256"]?.string == TransferFolder.sha256(content))
        #expect(folder.read("m.obj") == content)
        #expect(Double(proxy.passed(.toClient)) <= 9_000_000 * 1.02)
    }

    @Test("by HTTP/2 a file goes up whole, and comes down on where it broke off, in one stream and in several")
    func http2() async throws {
        folder.write("selfie.y4m", content)
        let nginx = try Nginx(folder, isSecure: true)
        defer { nginx.stop() }
        let proxy = try FaultProxy()
        defer { proxy.stop() }
        proxy.forward(to: nginx.port)
        proxy.choose { $0 == 2 ? .fault(.reset, .toClient, after: 5_000_000) : .pass }
        // The certificate is named beside the service's URL.
        let url = "https://127.0.0.1:\(proxy.port)\", \"tls\": { \"ca\": \"\(folder.path)/c.pem\" }, \"timeout\": \"1m"
        let up = try bench(
            #""kind": "upload", "file": "selfie.y4m", "protocol": "put", "request": { "PUT": "/mesh.obj" }"#, url)
        #expect(await finish(up) != nil)
        for streams in [1, 4] {
            let down = try bench(
                #""kind": "download", "request": { "GET": "/mesh.obj" }, "to": "\#(streams).obj", "parallel": \#(streams)"#,
                url)
            #expect(await finish(down)?["sha256"]?.string == TransferFolder.sha256(content))
        }
        let versions = try String(contentsOfFile: "\(folder.path)/versions.log", encoding: .utf8)
        #expect(Set(versions.split(separator: "\n")) == ["HTTP/2.0"])
    }

    @Test("an upload in one request arrives whole after a break")
    func upload() async throws {
        folder.write("selfie.y4m", content)
        let nginx = try Nginx(folder)
        defer { nginx.stop() }
        let proxy = try FaultProxy()
        defer { proxy.stop() }
        proxy.forward(to: nginx.port)
        proxy.choose { $0 == 1 ? .fault(.reset, .toServer, after: 6_000_000) : .pass }
        let bench = try bench(
            #""kind": "upload", "file": "selfie.y4m", "protocol": "put", "request": { "PUT": "/selfie.y4m" }"#,
            proxy.url)
        #expect(await finish(bench) != nil)
        #expect(folder.read("www/selfie.y4m") == content)
    }
}
