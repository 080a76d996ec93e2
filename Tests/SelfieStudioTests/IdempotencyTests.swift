import Testing

@testable import SelfieStudio

@Suite("Idempotency keys")
struct IdempotencyTests {
    @Test("The same key and body give the same answer and no second model, over a restart too")
    func repeated() async throws {
        try await withFolder { folder in
            let (video, first) = try await withStudio(in: folder) { server, client in
                let video = try await client.upload(try Selfie.bytes()).id
                let first = try await client.submit(video, key: "k")
                let second = try await client.submit(video, key: "k")
                #expect(first.status == 202)
                #expect(second.body == first.body)
                #expect(server.counters.modelRequests == 2)
                #expect(server.counters.modelsSubmitted == 1)
                return (video, first)
            }
            try await withStudio(in: folder) { server, client in
                let third = try await client.submit(video, key: "k")
                #expect(third.status == 202)
                #expect(third.body == first.body)
                #expect(server.counters.modelsSubmitted == 0)
                #expect(try await client.submit(video, quality: "full", key: "k").status == 422)
            }
        }
    }

    @Test("Another key, or none, makes another model")
    func others() async throws {
        try await withStudio { server, client in
            let video = try await client.upload(try Selfie.bytes()).id
            var ids: Set<String> = []
            for key in ["a", "b", nil, nil] { ids.insert(try await client.submit(video, key: key).member("id")) }
            #expect(ids.count == 4)
            #expect(server.counters.modelsSubmitted == 4)
        }
    }

    @Test("The same key with another body is refused")
    func mismatched() async throws {
        try await withStudio { server, client in
            let video = try await client.upload(try Selfie.bytes()).id
            #expect(try await client.submit(video, quality: "draft", key: "k").status == 202)
            #expect(try await client.submit(video, quality: "full", key: "k").status == 422)
            #expect(server.counters.modelsSubmitted == 1)
        }
    }

    @Test("While the first request is handled the key is pending, and free again if it comes to nothing")
    func pending() async throws {
        try await withFolder { folder in
            let ledger = try ModelLedger(dataFolder: folder)
            #expect(ledger.claim("k", bodyDigest: "1") == .granted)
            #expect(ledger.claim("k", bodyDigest: "1") == .pending)
            #expect(ledger.claim("k", bodyDigest: "2") == .mismatched)
            ledger.release("k")
            #expect(ledger.claim("k", bodyDigest: "2") == .granted)
            let record = try ledger.add(id: "m", video: "v", quality: .full, key: "k", bodyDigest: "2")
            #expect(ledger.claim("k", bodyDigest: "2") == .repeated(record))
            #expect(try ModelLedger(dataFolder: folder).claim("k", bodyDigest: "2") == .repeated(record))
        }
    }

    @Test("Of many requests at once with one key one makes the model, and the others wait or get the same")
    func race() async throws {
        try await withStudio(.with { $0.submitSeconds = 0.05 }) { server, client in
            let video = try await client.upload(try Selfie.bytes()).id
            let replies = try await withThrowingTaskGroup(of: RawReply.self) { group in
                for _ in 0..<8 { group.addTask { try await client.submit(video, key: "k") } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(replies.allSatisfy { [202, 409].contains($0.status) })
            #expect(replies.contains { $0.status == 202 })
            #expect(replies.allSatisfy { $0.status == 202 || $0.fields["retry-after"] == "1" })
            #expect(server.counters.modelsSubmitted == 1)
        }
    }

    @Test("A lost answer leaves one model, and asking again tells which")
    func lostAnswer() async throws {
        try await withStudio(.with { $0.lostAnswers = 2 }) { server, client in
            let video = try await client.upload(try Selfie.bytes()).id
            for _ in 0..<2 {
                #expect(try await client.replies(to: RawClient.submission(video, key: "k")).isEmpty)
            }
            let id = try await client.submit(video, key: "k").member("id")
            #expect(try await client.model(id, in: [.done]).state == .done)
            #expect(server.counters.answersLost == 2)
            #expect(server.counters.modelRequests == 3)
            #expect(server.counters.modelsSubmitted == 1)
        }
    }
}
