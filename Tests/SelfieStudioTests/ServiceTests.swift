import Crypto
import Foundation
import Testing

@testable import SelfieStudio

@Suite("The service")
struct ServiceTests {
    @Test("Without the right token nothing is told", arguments: [nil, "wrong", ""] as [String?])
    func unauthorized(token: String?) async throws {
        try await withStudio { server, client in
            for path in ["/stats", "/videos", "/models", "/nowhere"] {
                let reply = try await client.send(RawRequest(method: "GET", path: path, token: token))
                #expect(reply.status == 401)
                #expect(reply.fields["www-authenticate"]?.hasPrefix("Bearer") == true)
                #expect(reply.fields["content-type"] == "application/problem+json")
            }
            let video = RawRequest(method: "POST", path: "/videos", body: try Selfie.bytes(), token: token)
            #expect(try await client.send(video).status == 401)
            #expect(server.counters.uploadsCreated == 0)
            #expect(try await client.send(RawRequest(method: "GET", path: "/healthz", token: token)).status == 200)
            let head = RawRequest(method: "HEAD", path: "/videos", token: token)
            #expect(try await client.send(head).body.isEmpty)
        }
    }

    @Test("The token can be chosen")
    func token() async throws {
        try await withStudio(.with { $0.token = "s3cret" }) { _, client in
            let refused = try await client.send("GET", "/stats")
            #expect(refused.status == 401)
            let admitted = try await client.send(RawRequest(method: "GET", path: "/stats", token: "s3cret"))
            #expect(admitted.status == 200)
        }
    }

    @Test("Wrong paths and methods have their answers")
    func routes() async throws {
        try await withStudio { _, client in
            #expect(try await client.send("GET", "/nowhere").status == 404)
            #expect(try await client.send("GET", "/models/nobody").status == 404)
            #expect(try await client.send("GET", "/videos/..%2f").status == 404)
            let wrong = try await client.send("DELETE", "/videos")
            #expect(wrong.status == 405)
            #expect(wrong.fields["allow"] == "GET, HEAD, POST, OPTIONS")
            #expect(try await client.send("OPTIONS", "/models").status == 204)
        }
    }

    @Test("A body that is too long is refused")
    func tooLong() async throws {
        try await withStudio { _, client in
            let body = [UInt8](repeating: 32, count: 70_000)
            let reply = try await client.send(RawRequest(method: "POST", path: "/models", body: body))
            #expect(reply.status == 413)
        }
    }

    @Test("A mesh has a strong tag, a digest, ranges, and can be asked for without its body")
    func meshFields() async throws {
        try await withStudio { _, client in
            let model = try await client.finishedModel()
            let result = try #require(model.result)
            let whole = try await client.send("GET", result.url)
            let tag = try #require(whole.fields["etag"])
            #expect(tag.hasPrefix("\""))
            #expect(whole.fields["accept-ranges"] == "bytes")
            let digest = Data(SHA256.hash(data: whole.body)).base64EncodedString()
            #expect(whole.fields["repr-digest"] == "sha-256=:\(digest):")
            let head = try await client.send("HEAD", result.url)
            #expect(head.status == 200)
            #expect(head.body.isEmpty)
            #expect(head.fields["content-length"] == String(result.bytes))
            #expect(head.fields["etag"] == tag)
            #expect(try await client.send("GET", result.url, ("If-None-Match", tag)).status == 304)
            #expect(try await client.send("GET", result.url, ("If-Match", "\"other\"")).status == 412)
        }
    }

    @Test("A range is honoured while the mesh is the same")
    func ranges() async throws {
        try await withStudio { _, client in
            let model = try await client.finishedModel()
            let result = try #require(model.result)
            let whole = try await client.send("GET", result.url)
            let tag = try #require(whole.fields["etag"])
            let tail = try await client.send("GET", result.url, ("Range", "bytes=1000-"), ("If-Range", tag))
            #expect(tail.status == 206)
            #expect(tail.body == Array(whole.body[1000...]))
            #expect(tail.fields["content-range"] == "bytes 1000-\(result.bytes - 1)/\(result.bytes)")
            #expect(tail.fields["repr-digest"] == whole.fields["repr-digest"])
            for validator in ["\"other\"", "W/" + tag, "Wed, 21 Oct 2015 07:28:00 GMT"] {
                let all = try await client.send("GET", result.url, ("Range", "bytes=1000-"), ("If-Range", validator))
                #expect(all.status == 200)
                #expect(all.body == whole.body)
            }
            let beyond = try await client.send("GET", result.url, ("Range", "bytes=\(result.bytes)-"))
            #expect(beyond.status == 416)
            #expect(beyond.fields["content-range"] == "bytes */\(result.bytes)")
        }
    }

    @Test("A download that is cut goes on where it broke off, and no byte is sent twice")
    func cutDownload() async throws {
        try await withStudio(.with { $0.cutAfter = 50_000 }) { server, client in
            // Small enough not to be cut itself: 64 x 64 pixels with a bright square.
            var video = Array("YUV4MPEG2 W64 H64 F1:1 Cmono\nFRAME\n".utf8)
            for row in 0..<64 {
                video += (0..<64).map { (8..<56).contains(row) && (8..<56).contains($0) ? 200 : 10 }
            }
            let id = try await client.submit(try await client.upload(video).id, quality: "full").member("id")
            let result = try #require(try await client.model(id, in: [.done, .error]).result)
            try #require(result.bytes > 100_000)
            let first = try await client.send("GET", result.url)
            #expect(first.body.count == 50_000)
            let rest = try await client.send("GET", result.url, ("Range", "bytes=50000-"))
            #expect(SHA256.hash(data: first.body + rest.body).hex == result.sha256)
            #expect(server.counters.results[id] == .init(requests: 2, bytes: result.bytes))
            #expect(server.counters.cut == 1)
        }
    }

    @Test("Half of the requests fail if that is asked for, and say when to come again")
    func failing() async throws {
        try await withStudio(.with { $0.failPercent = 50 }) { server, client in
            var statuses: [Int] = []
            for _ in 0..<4 {
                let reply = try await client.send("GET", "/videos")
                statuses.append(reply.status)
                #expect(reply.status == 200 || reply.fields["retry-after"] == "1")
            }
            #expect(statuses == [200, 503, 200, 503])
            let stats: Counters = try await client.send("GET", "/stats").decode()
            #expect(stats.failed == 2)
            #expect(stats.requests == 5)
        }
    }
}
