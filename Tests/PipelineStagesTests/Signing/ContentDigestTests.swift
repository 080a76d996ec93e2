import HTTPTypes
import PipelineHTTP
import PipelineTestKit
import Testing

@testable import PipelineStages

@Suite("A request with the digest of its body")
struct ContentDigestTests {
    private func fields(_ request: RequestDescription, _ decorators: [any RequestDecorator]) async throws -> [String?] {
        let built = try await RequestBuilder().build(
            request, decorators: decorators, context: DecorationContext(time: { .seconds(0) }))
        return [built.headers[.init("Content-Digest")!], built.headers[.init("Repr-Digest")!]]
    }

    /// RFC 9530, appendix B.1 and D: `{"hello": "world"}` and a line feed.
    @Test("has the values of RFC 9530")
    func published() async throws {
        let request = RequestDescription(method: .put, url: "http://h/a", body: .text("{\"hello\": \"world\"}\n"))
        let short = "sha-256=:RK/0qy18MlBSVnWgjwz6lZEWjP/lF5HF9bvEF8FabDg=:"
        #expect(try await fields(request, [ContentDigest()]) == [short, short])
        let long =
            "sha-512=:YMAam51Jz/jOATT6/zvHrLVgOYTGFy1d6GJiOHTohq4yP+pgk4vf2aCsyRZOtw8MjkM7iw7yZ/WkppmM44T3qg==:"
        #expect(try await fields(request, [ContentDigest(.sha512)]) == [long, long])
    }

    @Test("speaks of the content alone where that is a part, of nothing where there is none, and keeps the author's")
    func parts() async throws {
        var request = RequestDescription(method: .patch, url: "http://h/a", body: .text("{\"hello\": \"world\"}\n"))
        request.headers[.init("Upload-Offset")!] = "5"
        let found = try await fields(request, [ContentDigest()])
        #expect(found == ["sha-256=:RK/0qy18MlBSVnWgjwz6lZEWjP/lF5HF9bvEF8FabDg=:", nil])
        #expect(try await fields(RequestDescription(url: "http://h/a"), [ContentDigest()]) == [nil, nil])
        request.headers[.init("Content-Digest")!] = "mine"
        #expect(try await fields(request, [ContentDigest()]) == ["mine", nil])
    }

    @Test("of a resumable upload is that of each append")
    func upload() async throws {
        let folder = TransferFolder()
        let content = TransferFolder.bytes(300_000)
        folder.write("a.bin", content)
        let service = try TusService()
        let bench = try TransferBench(
            #"{ "id": "move", "kind": "upload", "service": "api", "file": "a.bin", "protocol": "tus", "request": { "POST": "/files/" }, "with": [ { "digest": {} } ] }"#,
            url: service.url, folder: folder.path)
        #expect(await bench.resume().finished != nil)
        for request in service.requests where request.method != "PATCH" {
            #expect(request.header("Content-Digest") == nil)
        }
        let append = try #require(service.requests.first { $0.method == "PATCH" })
        #expect(append.header("Content-Digest")?.hasPrefix("sha-256=:") == true)
        #expect(append.header("Repr-Digest") == nil)
    }
}
