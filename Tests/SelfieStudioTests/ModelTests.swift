import Crypto
import Foundation
import Testing

@testable import SelfieStudio

@Suite("Models")
struct ModelTests {
    @Test("A model is made, and its mesh has the digest that was told")
    func made() async throws {
        try await withStudio { server, client in
            let view = try await client.finishedModel()
            #expect(view.state == .done)
            #expect(view.percent == 100)
            let result = try #require(view.result)
            let mesh = try await client.send("GET", result.url)
            #expect(mesh.status == 200)
            #expect(mesh.body.count == result.bytes)
            #expect(SHA256.hash(data: mesh.body).hex == result.sha256)
            #expect(server.counters.modelsSubmitted == 1)
            #expect(server.counters.results[view.id] == .init(requests: 1, bytes: result.bytes))
        }
    }

    @Test("While it works it tells how far it is and how long it takes", .timeLimit(.minutes(1)))
    func progress() async throws {
        try await withStudio(.with { $0.minimumSeconds = 3600 }) { _, client in
            let video = try await client.upload(try Selfie.bytes())
            let id = try await client.submit(video.id).member("id")
            var view = try await client.model(id, in: [.working])
            // In its first moments nobody can know how long it takes.
            while view.etaSeconds == nil { view = try await client.model(id, in: [.working]) }
            #expect((0...1).contains(view.percent))
            #expect((3500...3600).contains(try #require(view.etaSeconds)))
            #expect(view.result == nil)
            #expect(try await client.send("GET", "/models/\(id)/mesh.obj").status == 404)
        }
    }

    @Test("A model that is cancelled stops, and stays cancelled")
    func cancelled() async throws {
        try await withFolder { folder in
            try await withStudio(in: folder, .with { $0.minimumSeconds = 3600 }) { _, client in
                let video = try await client.upload(try Selfie.bytes())
                let id = try await client.submit(video.id).member("id")
                _ = try await client.model(id, in: [.working])
                #expect(try await client.send("DELETE", "/models/\(id)").status == 204)
                #expect(try await client.send("DELETE", "/models/\(id)").status == 204)
                #expect(try await client.model(id, in: [.error]).message == "cancelled by request")
            }
            try await withStudio(in: folder) { server, _ in
                #expect(server.counters.computationsStarted == 0)
            }
        }
    }

    @Test("A model that a stop interrupted is made after the next start")
    func restarted() async throws {
        try await withFolder { folder in
            let id = try await withStudio(in: folder, .with { $0.minimumSeconds = 3600 }) { _, client in
                let video = try await client.upload(try Selfie.bytes())
                let id = try await client.submit(video.id).member("id")
                _ = try await client.model(id, in: [.working])
                return id
            }
            let first = try await withStudio(in: folder) { server, client in
                let view = try await client.model(id, in: [.done, .error])
                #expect(view.state == .done)
                #expect(server.counters.computationsStarted == 1)
                #expect(server.counters.modelsSubmitted == 0)
                return try await client.send("GET", try #require(view.result).url)
            }
            try await withStudio(in: folder) { server, client in
                let again = try await client.send("GET", "/models/\(id)/mesh.obj")
                #expect(again.body == first.body)
                #expect(again.fields["etag"] == first.fields["etag"])
                #expect(server.counters.computationsStarted == 0)
            }
        }
    }

    @Test("A video that is none makes the model an error that says why")
    func notAVideo() async throws {
        try await withStudio { _, client in
            let video = try await client.upload(Array("hello".utf8))
            let id = try await client.submit(video.id).member("id")
            let view = try await client.model(id, in: [.done, .error])
            #expect(view.state == .error)
            #expect(view.message == VideoError.notY4M.description)
            #expect(view.result == nil)
        }
    }

    @Test("Every model fails if that is asked for")
    func failing() async throws {
        try await withStudio(.with { $0.failsModels = true }) { _, client in
            let view = try await client.finishedModel()
            #expect(view.state == .error)
            #expect(view.message == "every model fails on purpose")
        }
    }

    @Test(
        "A submission that makes no sense is refused with problem details",
        arguments: [
            ("{", 400), ("[]", 400), ("{\"quality\":\"full\"}", 400),
            ("{\"video\":\"nobody\"}", 422), ("{\"video\":\"KNOWN\",\"quality\":\"best\"}", 422),
        ]
    )
    func refused(body: String, status: Int) async throws {
        try await withStudio { server, client in
            let video = try await client.upload(Array("hello".utf8))
            let body = Array(body.replacing("KNOWN", with: video.id).utf8)
            let fields = [("Idempotency-Key", "\"k\"")]
            let reply = try await client.send(
                RawRequest(method: "POST", path: "/models", fields: fields, body: body)
            )
            #expect(reply.status == status)
            #expect(reply.fields["content-type"] == "application/problem+json")
            #expect(server.counters.modelsSubmitted == 0)
            // What was refused has not used up the key.
            #expect(try await client.submit(video.id, key: "k").status == 202)
        }
    }
}
