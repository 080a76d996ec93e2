import CLibrary
import JSONPath
import PipelineCore
import PipelineHTTP
import PipelineTestKit
import Synchronization
import Testing

@testable import PipelineStages

@Suite("A resumable upload over real sockets")
struct ResumableUploadTests {
    private let folder = TransferFolder()
    private let content = TransferFolder.bytes(3_000_000)

    private func bench(_ service: ResumableService, _ more: String = "", partSize: String = "256KiB") throws
        -> TransferBench
    {
        folder.write("selfie.y4m", content)
        return try bench(url: service.url, more, partSize: partSize)
    }

    private func bench(url: String, _ more: String, partSize: String) throws -> TransferBench {
        try TransferBench(
            """
            { "id": "move", "kind": "upload", "service": "api", "file": "selfie.y4m", "protocol": "resumable",
              "partSize": "\(partSize)", "request": { "POST": "/videos" }, "capture": { "video": "$.id" } \(more) }
            """, url: url, folder: folder.path)
    }

    private func whole(_ service: ResumableService) -> [UInt8]? {
        service.uploads.values.first { $0.isComplete }?.bytes
    }

    @Test("is created empty and filled by one append", arguments: [8, 6, 5, 3])
    func simple(version: Int) async throws {
        let service = try ResumableService(versions: [version])
        let bench = try bench(service)
        let result = await bench.resume()
        #expect(result.finished?["video"] == "video-3000000")
        #expect(whole(service) == content)
        let spoken = service.requests.filter { $0.header("Upload-Draft-Interop-Version") == "\(version)" }
        #expect(spoken.map(\.method) == ["POST", "PATCH"])
        #expect(spoken[0].header("Content-Disposition") == "inline; filename=\"selfie.y4m\"")
        #expect(spoken[0].header("Authorization") == "Bearer token")
        #expect(spoken[1].header("Authorization") == "Bearer token")
        #expect(spoken[1].header("Content-Type") == (version >= 6 ? "application/partial-upload" : nil))
        #expect(service.requests.count == (version == 8 ? 2 : 3))
        #expect(bench.state.moved.sent == 3_000_000)
        #expect(bench.state.points.first == .uploadCreated)
        #expect(bench.state.points.last == .uploadSent)
        #expect(bench.state.points.count { $0 == .uploadPart } == 12)
    }

    /// The bytes went again with each creation that was refused.
    @Test(
        "of one part goes with its creation, where sending it again does no harm, and once that was refused after it",
        arguments: [8, 6, 5, 3])
    func optimistic(version: Int) async throws {
        let service = try ResumableService(versions: [version])
        folder.write("selfie.y4m", content)
        let bench = try TransferBench(
            """
            { "id": "move", "kind": "upload", "service": "api", "file": "selfie.y4m", "protocol": "resumable",
              "request": { "POST": "/videos" }, "capture": { "video": "$.id" }, "once": { "resend": true } }
            """, url: service.url, folder: folder.path)
        #expect(await bench.resume().finished?["video"] == "video-3000000")
        #expect(whole(service) == content)
        let spoken = service.requests.filter { $0.header("Upload-Draft-Interop-Version") == "\(version)" }
        #expect(spoken.map(\.method) == (version == 8 ? ["POST"] : ["POST", "PATCH"]))
        #expect(
            spoken[0].header(version == 3 ? "Upload-Incomplete" : "Upload-Complete")
                == ([8, 3].contains(version) ? "?1" : "?0"))
        #expect(service.requests.count { $0.method == "POST" && $0.contentLength > 0 } == 1)
        #expect(spoken[0].header("Upload-Length") == "3000000")
        #expect(spoken[0].header("Content-Type") == "application/octet-stream")
        #expect(service.state.withLock(\.created) == 1)
    }

    @Test("that goes with its creation and is cut goes on where a 104 said that it is")
    func optimisticCut() async throws {
        let service = try ResumableService(
            versions: [8], .init(informsCreation: true, creationCuts: [1_000_000]))
        let bench = try bench(service, #", "once": { "resend": true }"#, partSize: "8MiB")
        #expect(await bench.run().finished?["video"] == "video-3000000")
        #expect(whole(service) == content)
        #expect(service.state.withLock(\.created) == 1)
        #expect(service.lines.suffix(2) == ["HEAD /uploads/1", "PATCH /uploads/1"])
    }

    @Test("of which the service gives two addresses is ended there")
    func twoAddresses() async throws {
        let server = try LoopbackServer { request in
            guard request.method == "POST" else { return .status(204) }
            let told = [("Upload-Draft-Interop-Version", "8"), ("Location", "/uploads/1")]
            return ScriptedAnswer([.inform(104, told), .send(201, [("Location", "/uploads/2")], [])])
        }
        defer { server.stop() }
        folder.write("selfie.y4m", content)
        let bench = try bench(url: server.url, "", partSize: "256KiB")
        #expect(await bench.resume().refusal?.contains("two addresses for one upload") == true)
        #expect(server.requests.map { "\($0.method) \($0.path)" } == ["POST /videos", "DELETE /uploads/1"])
    }

    /// 'pipeline retry' asks for the same upload, and nobody said how another is made.
    @Test("that the service calls complete too early says how another one is made")
    func cutShort() async throws {
        let server = try LoopbackServer { request in
            guard request.method == "POST" else {
                return ScriptedAnswer([
                    .readBody, .send(204, [("Upload-Complete", "?1"), ("Upload-Offset", "10")], []),
                ])
            }
            return .status(201, headers: [("Location", "/uploads/1"), ("Upload-Offset", "0")])
        }
        defer { server.stop() }
        folder.write("selfie.y4m", content)
        let bench = try bench(url: server.url, "", partSize: "256KiB")
        let failed = await bench.resume().failedTry
        #expect(failed?.failure.title.contains("calls an upload complete of which it has 10 of 3000000 bytes") == true)
        #expect(failed?.failure.hint?.contains("if it stays so, 'pipeline retry 01job --from move' makes") == true)
    }

    @Test("that goes with its creation and whose answer is lost is settled by 'once'")
    func optimisticLost() async throws {
        let service = try ResumableService(.init(lostAnswers: 1))
        let look = try LoopbackServer { _ in .json("{\"id\": \"found\", \"key\": \"key1\"}") }
        defer { look.stop() }
        let bench = try bench(
            service,
            ", \"once\": { \"name\": { \"GET\": \"\(look.url)/videos/key1\" }, \"ours\": \"response.body.key == job.key\" }",
            partSize: "8MiB")
        #expect(await bench.run().finished?["video"] == "found")
        #expect(service.lines == ["POST /videos"])
    }

    /// Each try without a connection was taken for a lost answer, and a few of them for the end of the upload.
    @Test("that goes with its creation and never arrives whole waits for the network, however often")
    func optimisticOffline() async throws {
        let service = try ResumableService()
        let once = #", "once": { "key": "Idempotency-Key" }"#
        folder.write("selfie.y4m", content)
        let offline = try bench(url: "http://127.0.0.1:1", once, partSize: "8MiB")
        for _ in 0..<8 { #expect(await offline.resume().failedTry?.kind == .silent) }
        let bench = try bench(url: service.url, once, partSize: "8MiB")
        bench.state = offline.state
        #expect(await bench.run().finished?["video"] == "video-3000000")
    }

    @Test("goes on at the offset that the service reports, and repeats nothing that it has")
    func interruption() async throws {
        let service = try ResumableService(.init(cuts: [1_000_000, 500_000]))
        let bench = try bench(service)
        #expect(await bench.run().finished != nil)
        #expect(whole(service) == content)
        #expect(
            service.lines == [
                "POST /videos", "PATCH /uploads/1", "HEAD /uploads/1", "PATCH /uploads/1", "HEAD /uploads/1",
                "PATCH /uploads/1",
            ])
        #expect(service.received == 3_000_000)
        #expect(service.state.withLock(\.conflicts) == 0)
    }

    @Test("survives a crash at every point", arguments: [CrashPoint.uploadCreated, .uploadPart, .uploadSent])
    func crash(point: CrashPoint) async throws {
        let service = try ResumableService(.init(destroysOnConflict: true))
        let bench = try bench(service)
        let count = point == .uploadPart ? 5 : 1
        #expect(await bench.resume(crash: (point, count)).hasDied)
        // The engine of the dead process may still have a connection; the service ends it at the HEAD.
        let result = await bench.run()
        #expect(result.finished != nil)
        #expect(service.state.withLock(\.created) == 1)
        #expect(whole(service) == content)
    }

    @Test("asks again for an answer that was lost, where the service can give it again")
    func lostAnswerReplayed() async throws {
        let service = try ResumableService(.init(lostAnswers: 1))
        let bench = try bench(service)
        #expect(await bench.run().finished?["video"] == "video-3000000")
        #expect(service.lines.suffix(2) == ["HEAD /uploads/1", "PATCH /uploads/1"])
        #expect(service.requests.last?.contentLength == 0)
        #expect(service.received == 3_000_000)
    }

    @Test("whose answer is lost for good is sent again, and says so")
    func lostAnswerForgotten() async throws {
        let service = try ResumableService(.init(lostAnswers: 1, forgetsComplete: true))
        let bench = try bench(service)
        for _ in 0..<4 { #expect(await bench.resume().failedTry?.kind != .definite) }
        let second = await bench.resume()
        #expect(second.failedTry?.failure.title.contains("may have been complete") == true)
        #expect(second.failedTry?.kind == .answered)
        #expect(await bench.run().finished != nil)
        #expect(service.state.withLock(\.created) == 2)
    }

    @Test("whose answer is lost for good is found as 'once' says, and not sent again")
    func lostAnswerFound() async throws {
        let service = try ResumableService(.init(lostAnswers: 1, forgetsComplete: true))
        let look = try LoopbackServer { _ in .json("{\"id\": \"found\", \"key\": \"key1\"}") }
        defer { look.stop() }
        let bench = try bench(
            service,
            ", \"once\": { \"name\": { \"GET\": \"\(look.url)/videos/key1\" }, \"ours\": \"response.body.key == job.key\" }"
        )
        #expect(await bench.run().finished?["video"] == "found")
        #expect(service.state.withLock(\.created) == 1)
    }

    /// After 'pipeline retry --from' the upload of before was found, and taken for the new one.
    @Test("that a retry sends anew, and whose answer is lost for good, is not found in the upload of before")
    func lostAnswerOfRetry() async throws {
        let service = try ResumableService(.init(lostAnswers: 1, forgetsComplete: true))
        let look = try LoopbackServer { _ in .json("{\"id\": \"found\", \"key\": \"key1\"}") }
        defer { look.stop() }
        let bench = try bench(
            service,
            ", \"once\": { \"name\": { \"GET\": \"\(look.url)/videos/key1\" }, \"ours\": \"response.body.key == job.key\" }"
        )
        bench.state.record = SubmitRecord(key: "key-2", generation: 2, digest: "")
        var refusal: String?
        for _ in 0..<8 where refusal == nil { refusal = await bench.resume().refusal }
        #expect(refusal?.contains("what was found may be the upload of before: put ${{ self.key }}") == true)
        #expect(bench.state.captures["video"] == nil)
        #expect(service.state.withLock(\.created) == 1)
    }

    @Test("is made anew when the service has lost it in the middle")
    func lostUpload() async throws {
        let service = try ResumableService(.init(cuts: [1_000_000], forgetsAll: 0))
        let bench = try bench(service)
        _ = await bench.resume()
        service.state.withLock { $0.faults.forgetsAll = 1 }
        // A gateway says so too while the service starts: where more than a part is at stake it is asked again.
        var pauses: [Duration] = []
        for _ in 0..<3 {
            let doubted = try #require(await bench.resume().failedTry)
            #expect(doubted.kind == .answered && doubted.failure.title.contains("answered 404"))
            #expect(doubted.failure.hint?.hasPrefix("it is asked again before ") == true)
            pauses.append(doubted.pause)
        }
        #expect(pauses == [.seconds(2), .seconds(6), .seconds(20)])
        let second = await bench.resume()
        #expect(second.failedTry?.failure.title.contains("no longer has the upload") == true)
        #expect(await bench.run().finished != nil)
        #expect(whole(service) == content)
        #expect(service.state.withLock(\.created) == 2)
    }

    @Test("goes on where it was when a gateway in front of the service had nothing for a moment")
    func startingService() async throws {
        let service = try ResumableService(.init(cuts: [1_000_000]))
        let bench = try bench(service)
        _ = await bench.resume()
        service.server.change { gateway in
            gateway.errors = [3: 404, 4: 404, 5: 404]
        }
        #expect(await bench.run().finished != nil)
        #expect(service.state.withLock(\.created) == 1)
        #expect(whole(service) == content)
    }

    @Test("that the service loses again and again fails at last")
    func lostAlways() async throws {
        let service = try ResumableService(.init(forgetsAll: 1000))
        let bench = try bench(service)
        let result = await bench.run(limit: 40)
        #expect(result.refusal?.contains("lost the upload 5 times") == true)
        // A person who orders another try is not told so at the first loss.
        #expect(await bench.resume().failedTry?.kind == .answered)
    }

    @Test("sends parts where the service takes no more at a time")
    func appendLimit() async throws {
        let service = try ResumableService(.init(appendLimit: 1_000_000))
        let bench = try bench(service)
        #expect(await bench.resume().finished != nil)
        #expect(
            service.requests.filter { $0.method == "PATCH" }.map(\.contentLength) == [1_000_000, 1_000_000, 1_000_000])
        #expect(bench.state.points.count { $0 == .uploadSent } == 1)
        #expect(whole(service) == content)
    }

    @Test("finds out by 413 what the service takes at a time")
    func tooMuch() async throws {
        let service = try ResumableService(.init(appendLimit: 800_000, tellsLimit: false))
        let bench = try bench(service)
        #expect(await bench.run().finished != nil)
        #expect(whole(service) == content)
        #expect(
            service.requests.filter { $0.method == "PATCH" && $0.bodyCount > 0 }.allSatisfy { $0.bodyCount <= 800_000 })
    }

    @Test("falls back to parts where a service resets what is too much for it")
    func tooMuchUnsaid() async throws {
        let service = try ResumableService(.init(appendLimit: 800_000, tellsLimit: false, resetsTooMuch: 600_000))
        let bench = try bench(service)
        #expect(await bench.resume().failedTry?.kind != .definite)
        #expect(await bench.resume().finished != nil)
        #expect(whole(service) == content)
        let appends = service.requests.filter { $0.method == "PATCH" && $0.bodyCount > 0 }
        #expect(appends.dropFirst().allSatisfy { $0.bodyCount <= 256 << 10 })
    }

    @Test("waits and goes on after 503 and 423")
    func busy() async throws {
        let service = try ResumableService(.init(refusals: [503, 423]))
        let bench = try bench(service)
        let first = await bench.resume()
        #expect(first.failedTry?.kind == .answered)
        #expect(first.failedTry?.retryAfter == .zero)
        #expect(await bench.run().finished != nil)
        #expect(service.state.withLock(\.created) == 1)
    }

    @Test("keeps the offset of a 104, and counts what it vouches for as progress")
    func informed() async throws {
        let service = try ResumableService(.init(cuts: [], informsAfter: 1_000_000))
        let bench = try bench(service)
        #expect(await bench.resume().finished != nil)
        #expect(bench.state.moved.sent == 3_000_000)
        #expect(whole(service) == content)
    }

    @Test("of an empty file is an upload too")
    func empty() async throws {
        let service = try ResumableService()
        let bench = try bench(service)
        folder.write("selfie.y4m", [])
        #expect(await bench.resume().finished?["video"] == "video-0")
    }

    @Test("of a file that changed between two tries fails, and removes what is at the service")
    func changedBetween() async throws {
        let service = try ResumableService(.init(cuts: [1_000_000]))
        let bench = try bench(service)
        _ = await bench.resume()
        folder.write("selfie.y4m", TransferFolder.bytes(3_000_000, seed: 2))
        let second = await bench.resume()
        #expect(second.refusal?.hasPrefix("the file changed while it was being uploaded") == true)
        #expect(service.uploads.isEmpty)
        // A person who orders another try gets the new content, from the beginning.
        #expect(await bench.run().finished != nil)
        #expect(whole(service) == TransferFolder.bytes(3_000_000, seed: 2))
    }

    @Test("of a file that changes while it is sent fails", arguments: [true, false])
    func changedMeanwhile(shrinks: Bool) async throws {
        let service = try ResumableService(.init(informsAfter: 500_000))
        let bench = try bench(service)
        let path = folder.path + "/selfie.y4m"
        bench.onPass = { point, count in
            guard point == .uploadCreated else { return }
            if shrinks { truncate(path, 1_000_000) } else { truncate(path, 3_000_001) }
        }
        let result = await bench.resume()
        #expect(result.refusal?.hasPrefix("the file changed while it was being uploaded") == true)
        #expect(service.lines.last == "DELETE /uploads/1")
    }

    @Test("that is stopped keeps its place")
    func stop() async throws {
        let gate = Gate()
        let service = try ResumableService(.init(informsAfter: 500_000))
        folder.write("selfie.y4m", content)
        let bench = try bench(service)
        bench.onPass = { point, _ in if point == .uploadCreated { gate.open() } }
        let host = bench.host(nil)
        let stage = bench.stage
        let task = Task { await stage.resume(nil, host) }
        await gate.wait()
        task.cancel()
        let result = await task.value
        #expect(result.isStopped)
        bench.state = host.state.withLock { $0 }
        #expect(await bench.run().finished != nil)
        #expect(service.state.withLock(\.created) == 1)
        #expect(whole(service) == content)
    }

    @Test("that is cancelled is removed at the service")
    func cancel() async throws {
        let service = try ResumableService(.init(cuts: [1_000_000]))
        let bench = try bench(service)
        _ = await bench.resume()
        let failure = await bench.cancel()
        #expect(failure == nil)
        #expect(service.uploads.isEmpty)
    }

    @Test("at a service that knows nothing of it fails with what to do")
    func unsupported() async throws {
        let server = try LoopbackServer { _ in .json("{\"id\": 1}", status: 201) }
        defer { server.stop() }
        folder.write("a.bin", content)
        let bench = try TransferBench(
            #"{ "id": "move", "kind": "upload", "service": "api", "file": "a.bin", "protocol": "resumable", "request": { "POST": "/v" } }"#,
            url: server.url, folder: folder.path)
        let result = await bench.resume()
        #expect(result.refusal?.contains("does not speak resumable uploads") == true)
        #expect(result.failedTry?.failure.hint?.contains("put") == true)
    }

    @Test("with a refusal of the service's own fails with its words")
    func refused() async throws {
        let server = try LoopbackServer { _ in .json("{\"detail\": \"no credit\"}", status: 402) }
        defer { server.stop() }
        folder.write("a.bin", content)
        let bench = try TransferBench(
            #"{ "id": "move", "kind": "upload", "service": "api", "file": "a.bin", "protocol": "resumable", "request": { "POST": "/v" } }"#,
            url: server.url, folder: folder.path)
        let result = await bench.resume()
        #expect(result.refusal?.contains("402") == true)
        #expect(result.refusal?.contains("no credit") == true)
    }
}
