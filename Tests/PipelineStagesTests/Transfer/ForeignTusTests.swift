import JSONPath
import PipelineCore
import PipelineTestKit
import Testing

@testable import PipelineStages

@Suite("An upload by tus to tuspyserver", .enabled(if: ForeignServer.isAvailable, ForeignServer.howTo))
struct TuspyserverTests {
    @Test("arrives whole after a crash in the middle")
    func crash() async throws {
        let folder = TransferFolder()
        let server = try ForeignServer(
            """
            import socket, sys, uvicorn
            from fastapi import FastAPI
            from tuspyserver import create_tus_router
            app = FastAPI()
            app.include_router(create_tus_router(prefix="files", files_dir=sys.argv[1]))
            listener = socket.socket()
            listener.bind(("127.0.0.1", 0))
            listener.listen()
            print(listener.getsockname()[1], flush=True)
            uvicorn.Server(uvicorn.Config(app, log_level="error")).run(sockets=[listener])
            """, folder.path + "/server")
        defer { server.stop() }
        let content = TransferFolder.bytes(9_000_000)
        folder.write("selfie.y4m", content)
        let bench = try TransferBench(
            """
            { "id": "move", "kind": "upload", "service": "api", "file": "selfie.y4m", "protocol": "tus",
              "partSize": "1MiB", "request": { "POST": "/files" }, "capture": { "video": "url" } }
            """, url: server.url, folder: folder.path)
        #expect(await bench.resume(crash: (.uploadPart, 3)).hasDied)
        let end = await bench.run()
        let video = try #require(end.finished?["video"]?.string)
        let name = try #require(video.split(separator: "/").last)
        #expect(folder.read("server/\(name)") == content)
    }
}

@Suite("An upload by tus to aiohttp-tus", .enabled(if: ForeignServer.isAvailable, ForeignServer.howTo))
struct AiohttpTusTests {
    @Test("arrives whole after a crash in the middle, and after a break", arguments: [false, true])
    func interrupted(breaks: Bool) async throws {
        let folder = TransferFolder()
        let server = try ForeignServer(
            """
            import pathlib, socket, sys
            from aiohttp import web
            from aiohttp_tus import setup_tus
            folder = pathlib.Path(sys.argv[1])
            folder.mkdir()
            app = setup_tus(
                web.Application(client_max_size=1 << 30), upload_url="/files", upload_path=folder,
                allow_overwrite_files=True)
            listener = socket.socket()
            listener.bind(("127.0.0.1", 0))
            listener.listen()
            print(listener.getsockname()[1], flush=True)
            web.run_app(app, sock=listener, print=None)
            """, folder.path + "/server")
        defer { server.stop() }
        let content = TransferFolder.bytes(9_000_000)
        folder.write("selfie.y4m", content)
        let proxy = try FaultProxy()
        defer { proxy.stop() }
        proxy.forward(to: try #require(server.port))
        let bench = try TransferBench(
            """
            { "id": "move", "kind": "upload", "service": "api", "file": "selfie.y4m", "protocol": "tus",
              "partSize": "1MiB", "request": { "POST": "/files" } }
            """, url: proxy.url, folder: folder.path)
        if breaks {
            proxy.choose { _ in .fault(.reset, .toServer, after: 6_000_000) }
            #expect(await bench.resume().failedTry?.kind == .silent)
            proxy.choose { _ in .pass }
        } else {
            #expect(await bench.resume(crash: (.uploadPart, 3)).hasDied)
        }
        #expect(await bench.run().finished != nil)
        #expect(folder.read("server/selfie.y4m") == content)
    }
}
