import PipelineTestKit
import Testing

#if os(Linux)
    @Suite("A machine that lacks a library")
    struct MissingLibraryTests {
        @Test("waits without libcurl, says what to install, and goes on when it is there")
        func libcurl() async throws {
            let server = try LoopbackServer { _ in .status(200) }
            defer { server.stop() }
            try await withWorkplace { workplace in
                try workplace.write("put.json", Documents.put)
                try workplace.write("file.txt", "content")
                // What the loader finds first under the name is no library.
                try workplace.write("libcurl.so.4", "")
                let loader = workplace.environment()["LD_LIBRARY_PATH"].map { ":\($0)" } ?? ""
                let end = try await workplace.run(
                    "run", "put.json", "-i", "file=file.txt",
                    environment: ["SERVER_URL": server.url, "LD_LIBRARY_PATH": workplace.folder + loader])
                #expect(end.cause == .exited(75), "\(end)")
                #expect(end.errors.contains("install libcurl"), "\(end)")
                #expect(server.requests.isEmpty)
                let resumed = try await workplace.run("resume", environment: ["SERVER_URL": server.url])
                #expect(resumed.cause == .exited(0), "\(resumed)")
                #expect(server.requests.count == 1)
            }
        }

        @Test("has the commands that send nothing all the same")
        func quiet() async throws {
            try await withWorkplace { workplace in
                try workplace.write("put.json", Documents.put)
                for library in ["libcurl.so.4", "libcrypto.so.3", "libarchive.so.13", "libpq.so.5"] {
                    try workplace.write(library, "")
                }
                let loader = workplace.environment()["LD_LIBRARY_PATH"].map { ":\($0)" } ?? ""
                for command in [["--help"], ["list"], ["validate", "put.json"], ["schema"]] {
                    let end = try await workplace.program.run(
                        command, environment: workplace.environment(["LD_LIBRARY_PATH": workplace.folder + loader]),
                        folder: workplace.folder)
                    #expect(end.cause == .exited(0), "\(end)")
                }
            }
        }
    }
#endif
