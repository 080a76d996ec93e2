import JSONPath
import PipelineCore
import PipelineTestKit
import Testing

@testable import PipelineStages

@Suite("An upload to S3 at moto", .enabled(if: ForeignServer.isAvailable, ForeignServer.howTo))
struct MotoTests {
    @Test("arrives whole after a crash in the middle, in parts that go side by side")
    func crash() async throws {
        let folder = TransferFolder()
        let server = try ForeignServer(
            """
            import sys, threading, urllib.request
            from moto.server import ThreadedMotoServer
            server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
            server.start()
            host, port = server.get_host_and_port()
            urllib.request.urlopen(urllib.request.Request(f"http://127.0.0.1:{port}/bucket", method="PUT"))
            print(port, flush=True)
            threading.Event().wait()
            """)
        defer { server.stop() }
        let content = TransferFolder.bytes(17_000_000)
        folder.write("selfie.y4m", content)
        let proxy = try FaultProxy()
        defer { proxy.stop() }
        proxy.forward(to: try #require(server.port))
        let bench = try TransferBench(
            """
            { "id": "move", "kind": "upload", "service": "api", "file": "selfie.y4m", "protocol": "s3",
              "partSize": "5MiB", "parallel": 2,
              "request": { "PUT": "/bucket/selfie.y4m",
                           "with": [ { "sigv4": { "region": "us-east-1", "service": "s3", "accessKey": "AK",
                                                  "secretKey": "SK" } } ] },
              "capture": { "tag": "xml:/CompleteMultipartUploadResult/ETag" } }
            """, url: proxy.url, folder: folder.path)
        #expect(await bench.resume(crash: (.uploadPart, 2)).hasDied)
        let tag = try #require(await bench.run().finished?["tag"]?.string)
        #expect(tag.hasSuffix("-4\""))
        // At most the parts that were under way are sent again.
        #expect(proxy.passed(.toServer) <= 17_000_000 + 2 * 5_242_880 + 20_000)
        let download = try TransferBench(
            #"{ "id": "move", "kind": "download", "service": "api", "request": { "GET": "/bucket/selfie.y4m" }, "to": "back" }"#,
            url: server.url, folder: folder.path)
        _ = await download.run()
        #expect(folder.read("back") == content)
    }
}
