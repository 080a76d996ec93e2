import Foundation
import PipelineTestKit
import Testing

@Suite("An input that is a URL") struct FetchedInputTests {
    private static let film = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 9) }

    private static let document = """
        { "pipeline": 1, "name": "fetched",
          "inputs": { "film": { "type": "url" } },
          "services": {
            "store": { "url": "${{ env.STORE }}", "with": [ { "bearer": "${{ secrets.STORE }}" } ] },
            "api": { "url": "${{ env.API }}" } },
          "stages": [
            { "id": "send", "kind": "upload", "service": "api", "file": "${{ inputs.film }}", "protocol": "put",
              "request": { "PUT": "/films/1" } },
            { "id": "tell", "kind": "request", "service": "api",
              "request": { "POST": "/told", "json": {
                "from": "${{ inputs.film }}", "size": "${{ size(inputs.film) }}",
                "sha256": "${{ digest(inputs.film) }}" } } } ] }
        """

    /// A store with strong tags and ranges; what it is asked is kept.
    private static func store() throws -> LoopbackServer {
        try LoopbackServer { request in
            guard request.method == "GET" else { return .status(405) }
            let all: [(String, String)] = [("ETag", "\"one\""), ("Accept-Ranges", "bytes")]
            let range = request.header("Range")?.split(separator: "=").last?.split(separator: "-").first
            guard let first = range.flatMap({ Int($0) }), first < film.count else {
                return .status(200, headers: all, bytes: film)
            }
            return .status(
                206, headers: all + [("Content-Range", "bytes \(first)-\(film.count - 1)/\(film.count)")],
                bytes: Array(film[first...]))
        }
    }

    @Test(
        "is fetched once where a file is needed, sent on as text elsewhere, and goes on after a kill",
        arguments: ["none", "download.part", "download.verified", "download.renamed", "upload.sent"])
    func fetched(point: String) async throws {
        try await withWorkplace { workplace in
            let store = try Self.store()
            let api = try LoopbackServer { _ in .json("{}") }
            defer {
                store.stop()
                api.stop()
            }
            let file = try workplace.write("fetched.json", Self.document)
            var environment = ["STORE": store.url, "API": api.url, "PIPELINE_SECRET_STORE": "of-the-store"]
            environment["PIPELINE_CRASH_AT"] = point == "none" ? nil : point
            let url = "\(store.url)/films/a%20b.mov?v=1"
            let first = try await workplace.run("run", file, "-i", "film=\(url)", environment: environment)
            if point != "none" {
                #expect(first.cause == .killed(SIGKILL), "\(first)")
                environment["PIPELINE_CRASH_AT"] = nil
                #expect(try await workplace.run("resume", environment: environment).cause == .exited(0))
            } else {
                #expect(first.cause == .exited(0), "\(first)")
            }
            // The credentials of the service that the URL belongs to, and of no other.
            #expect(store.requests.allSatisfy { $0.header("Authorization") == "Bearer of-the-store" })
            #expect(api.requests.allSatisfy { $0.header("Authorization") == nil })
            #expect(store.requests.count <= (point == "download.part" ? 2 : 1))
            let sent = api.requests.filter { $0.method == "PUT" }.map(\.body)
            #expect(sent.last == Self.film && sent.count <= (point == "upload.sent" ? 2 : 1))
            let told = try #require(api.requests.last { $0.method == "POST" }?.text)
            #expect(told.contains(#""from":"\#(url)""#) && told.contains(#""size":300000"#), "\(told)")
            #expect(workplace.files(below: workplace.output).isEmpty)
            #expect(workplace.files(below: workplace.state + "/inputs").contains { $0.hasSuffix("a_20b.mov") })
            try workplace.expectPrivateState()
            #expect(try await workplace.run("rm", "last").cause == .exited(0))
            #expect(workplace.files(below: workplace.state + "/inputs").isEmpty)
        }
    }

    /// As where another machine takes the job over. The place of the copy that is gone was read, and the job failed for good.
    @Test("is fetched again where its copy is gone, and what was being sent of it begins again")
    func copyIsGone() async throws {
        try await withWorkplace { workplace in
            let store = try Self.store()
            let api = try LoopbackServer { _ in .json("{}") }
            defer {
                store.stop()
                api.stop()
            }
            let file = try workplace.write("fetched.json", Self.document)
            var environment = ["STORE": store.url, "API": api.url, "PIPELINE_SECRET_STORE": "of-the-store"]
            environment["PIPELINE_CRASH_AT"] = "upload.sent"
            let run = try await workplace.run(
                "run", file, "-i", "film=\(store.url)/film.mov", environment: environment)
            #expect(run.cause == .killed(SIGKILL), "\(run)")
            try FileManager.default.removeItem(atPath: workplace.state + "/inputs")
            environment["PIPELINE_CRASH_AT"] = nil
            let resumed = try await workplace.run("resume", environment: environment)
            #expect(resumed.cause == .exited(0), "\(resumed)")
            #expect(store.requests.count == 2)
            #expect(api.requests.last { $0.method == "PUT" }?.body == Self.film)
        }
    }

    @Test("a plan shows that it is fetched, and sends nothing; a URL that is refused says so")
    func refused() async throws {
        try await withWorkplace { workplace in
            let store = try LoopbackServer { _ in .status(403, body: "no") }
            let api = try LoopbackServer { _ in .json("{}") }
            defer {
                store.stop()
                api.stop()
            }
            let file = try workplace.write("fetched.json", Self.document)
            let environment = ["STORE": store.url, "API": api.url, "PIPELINE_SECRET_STORE": "x"]
            let url = "\(store.url)/film.mov"
            let plan = try await workplace.run("plan", file, "-i", "film=\(url)", environment: environment)
            #expect(plan.cause == .exited(0) && plan.output.contains("GET \(url)"), "\(plan)")
            #expect(store.requests.isEmpty && api.requests.isEmpty)
            let run = try await workplace.run("run", file, "-i", "film=\(url)", environment: environment)
            #expect(run.cause == .exited(1) && run.errors.contains("403"), "\(run)")
            #expect(api.requests.isEmpty)
            for wrong in ["film=ftp://x/y", "film=film.mov"] {
                let end = try await workplace.run("run", file, "-i", wrong, environment: environment)
                #expect(end.cause == .exited(2) && end.errors.contains("http"), "\(end)")
            }
        }
    }

    @Test("a URL that is the value of no input is a path, and nothing is fetched")
    func captured() async throws {
        try await withWorkplace { workplace in
            let api = try LoopbackServer { _ in .json(#"{"url":"http://127.0.0.1:1/secret"}"#) }
            defer { api.stop() }
            let file = try workplace.write(
                "captured.json",
                """
                { "pipeline": 1, "name": "captured", "services": { "api": { "url": "\(api.url)" } },
                  "stages": [
                    { "id": "ask", "kind": "request", "service": "api",
                      "request": { "GET": "/", "capture": { "url": "$.url" } } },
                    { "id": "send", "kind": "upload", "service": "api", "file": "${{ stages.ask.url }}",
                      "protocol": "put", "request": { "PUT": "/x" } } ] }
                """)
            let end = try await workplace.run("run", file)
            #expect(end.cause == .exited(1) && end.errors.contains("http://127.0.0.1:1/secret"), "\(end)")
            #expect(api.requests.count == 1)
        }
    }
}
