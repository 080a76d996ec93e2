import CLibrary
import JSONPath
import PipelineCore
import PipelineHTTP
import PipelineTestKit
import Synchronization
import Testing

@testable import PipelineStages

@Suite("An upload by tus over real sockets")
struct TusUploadTests {
    private let folder = TransferFolder()
    private let content = TransferFolder.bytes(3_000_000)

    private func bench(_ url: String, _ more: String = "", bytes: [UInt8]? = nil) throws -> TransferBench {
        folder.write("selfie.y4m", bytes ?? content)
        return try TransferBench(
            """
            { "id": "move", "kind": "upload", "service": "api", "file": "selfie.y4m", "protocol": "tus",
              "partSize": "256KiB", "request": { "POST": "/files/" }, "capture": { "video": "url" } \(more) }
            """, url: url, folder: folder.path)
    }

    @Test("is created, and filled by one part and then by what ten seconds bring", arguments: [true, false])
    func simple(isAbsolute: Bool) async throws {
        let service = try TusService(.init(givesAbsoluteLocation: isAbsolute))
        let bench = try bench(service.url)
        #expect(await bench.resume().finished?["video"] == .string("\(service.url)/files/1"))
        #expect(service.lines == ["POST /files/", "PATCH /files/1", "PATCH /files/1"])
        #expect(service.requests.first { $0.method == "PATCH" }?.contentLength == 262_144)
        #expect(service.uploads["/files/1"]?.bytes == content)
        // "selfie.y4m" and "application/octet-stream"
        #expect(
            service.uploads["/files/1"]?.metadata
                == "filename c2VsZmllLnk0bQ==,filetype YXBwbGljYXRpb24vb2N0ZXQtc3RyZWFt")
        #expect(service.requests.allSatisfy { $0.header("Authorization") == "Bearer token" })
        #expect(bench.state.moved.sent == 3_000_000)
    }

    @Test("makes use of what the service offers: a first part with the creation, and a checksum for each append")
    func offers() async throws {
        let service = try TusService(.init(extensions: "creation,creation-with-upload,checksum", damages: 1))
        let bench = try bench(service.url)
        #expect(await bench.resume().finished != nil)
        let upload = try #require(service.uploads["/files/1"])
        #expect(upload.bytes == content)
        // 3,000,000 bytes are eleven parts of 256 KiB and a rest; the first goes with the creation, one goes twice.
        #expect(service.requests.first { $0.method == "POST" }?.contentLength == 262_144)
        #expect(upload.checksums.count == 12)
        #expect(upload.metadata?.hasSuffix("filetype YXBwbGljYXRpb24vb2N0ZXQtc3RyZWFt") == true)
        #expect(service.received == 3_262_144)
        #expect(bench.state.moved.sent >= 3_000_000)
    }

    @Test("goes on with checksums after a crash, and asks only once what is offered")
    func offersAfterCrash() async throws {
        let service = try TusService(.init(extensions: "creation,checksum"))
        let bench = try bench(service.url)
        #expect(await bench.resume(crash: (.uploadPart, 4)).hasDied)
        #expect(await bench.run().finished != nil)
        let upload = try #require(service.uploads["/files/1"])
        #expect(upload.bytes == content)
        #expect(upload.checksums.count >= 12)
        #expect(service.requests.filter { $0.method == "OPTIONS" }.count == 1)
    }

    @Test("knows the digest of the whole file at its end, interruptions and a crash in between")
    func knownDigest() async throws {
        let service = try TusService(.init(cuts: [.max, 1_500_000, .max, 700_001]))
        let bench = try bench(service.url)
        #expect(await bench.resume(crash: (.uploadPart, 3)).hasDied)
        #expect(await bench.run().finished != nil)
        #expect(service.uploads["/files/1"]?.bytes == content)
        let known = TransferBench.digests.sha256(ofFileAt: "\(folder.path)/selfie.y4m")
        #expect(known?.hex == TransferFolder.sha256(content))
        folder.append("selfie.y4m", [1])
        #expect(TransferBench.digests.sha256(ofFileAt: "\(folder.path)/selfie.y4m") == nil)
    }

    @Test("refuses a file whose bytes changed behind the same size and time", arguments: [true, false])
    func changedInSecret(changesBytes: Bool) async throws {
        let service = try TusService(.init(cuts: [.max, 2_500_000]))
        let bench = try bench(service.url)
        #expect(await bench.resume().finished == nil)
        folder.overwriteInSecret("selfie.y4m", at: 1_000_000, changesBytes ? [0xAA, 0xBB, 0xCC] : nil)
        let end = await bench.run()
        #expect((end.finished == nil) == changesBytes)
        if changesBytes { #expect(end.refusal?.contains("changed while it was being uploaded") == true) }
    }

    @Test("ends with the author's own request where there is one, whose answer is the upload's")
    func complete() async throws {
        let service = try TusService()
        let end = try LoopbackServer { .json(#"{"id": "v-\#($0.text)"}"#) }
        defer { end.stop() }
        folder.write("selfie.y4m", content)
        let bench = try TransferBench(
            """
            { "id": "move", "kind": "upload", "service": "api", "file": "selfie.y4m", "protocol": "tus",
              "partSize": "256KiB", "request": { "POST": "/files/", "capture": { "at": "header:Location" } },
              "complete": { "POST": "\(end.url)/done", "text": "${{ self.at }}" }, "capture": { "video": "$.id" } }
            """, url: service.url, folder: folder.path)
        #expect(await bench.run().finished != nil)
        #expect(bench.state.captures["video"] == .string("v-\(service.url)/files/1"))
        #expect(end.requests.count == 1)
    }

    /// To settle that request by a key, the whole file was sent once more.
    @Test("whose own last request was lost sends that again under one key, and nothing of the file")
    func lostEnd() async throws {
        let service = try TusService()
        let tries = Mutex<[String?]>([])
        let end = try LoopbackServer { request in
            let count = tries.withLock { tries in
                tries.append(request.header("Idempotency-Key"))
                return tries.count
            }
            if count == 1 { return ScriptedAnswer([.reset]) }
            return count == 2 ? .status(503, headers: [("Retry-After", "0")]) : .json(#"{"id": "v"}"#)
        }
        defer { end.stop() }
        folder.write("selfie.y4m", content)
        let bench = try TransferBench(
            """
            { "id": "move", "kind": "upload", "service": "api", "file": "selfie.y4m", "protocol": "tus",
              "request": { "POST": "/files/", "capture": { "at": "header:Location" } },
              "complete": { "POST": "\(end.url)/done", "text": "${{ self.at }}" }, "capture": { "video": "$.id" },
              "once": { "key": "Idempotency-Key" } }
            """, url: service.url, folder: folder.path)
        #expect(await bench.run().finished != nil)
        #expect(bench.state.captures["video"] == "v")
        #expect(service.received == 3_000_000)
        #expect(service.state.withLock(\.created) == 1)
        let keys = tries.withLock { $0 }
        #expect(keys.count == 3 && Set(keys).count == 1 && keys[0] != nil)
    }

    @Test("asks the service itself how much it has, whatever a cache has")
    func pastCache() async throws {
        let service = ScriptedService()
        let offer = ["Tus-Resumable": "1.0.0"]
        service.on("OPTIONS /v1/files", 204, "", headers: offer)
        service.on("POST /v1/files", 201, "", headers: ["Location": "http://api.test/v1/files/1"])
        service.on("HEAD /v1/files/1", 200, "", headers: ["Upload-Offset": "0", "Tus-Resumable": "1.0.0"])
        service.on("PATCH /v1/files/1", 204, "", headers: ["Upload-Offset": "3000000", "Tus-Resumable": "1.0.0"])
        folder.write("selfie.y4m", content)
        let bench = try StageBench(
            """
            { "id": "move", "kind": "upload", "service": "api", "file": "selfie.y4m", "protocol": "tus",
              "request": { "POST": "/files" } }
            """, network: service.network, with: #"[ { "cache": { "maxAge": "1h" } } ]"#,
            folders: JobFolders(document: folder.path, output: folder.path))
        #expect(await bench.resume().isFinished)
        #expect(service.lines.contains("HEAD /v1/files/1"))
        #expect(service.requests.allSatisfy { $0.cachePolicy == nil })
    }

    @Test("of an empty file ends with its creation")
    func empty() async throws {
        let service = try TusService()
        let bench = try bench(service.url, bytes: [])
        #expect(await bench.resume().finished != nil)
        #expect(service.lines == ["POST /files/"])
    }

    @Test("goes on at the offset that the service reports, and repeats nothing that it has")
    func interruption() async throws {
        let service = try TusService(.init(cuts: [.max, 1_000_000, .max, 500_000]))
        let bench = try bench(service.url)
        #expect(await bench.run().finished != nil)
        #expect(service.uploads["/files/1"]?.bytes == content)
        #expect(service.received == 3_000_000)
        #expect(
            service.lines == [
                "POST /files/", "PATCH /files/1", "PATCH /files/1", "HEAD /files/1", "PATCH /files/1", "PATCH /files/1",
                "HEAD /files/1", "PATCH /files/1", "PATCH /files/1",
            ])
    }

    @Test("has patience with a service that still holds the broken connection", arguments: [423, 409])
    func locked(status: Int) async throws {
        let service = try TusService(.init(cuts: [1_000_000], heads: [status, status]))
        let bench = try bench(service.url)
        #expect(await bench.run().finished != nil)
        #expect(service.state.withLock(\.created) == 1)
        #expect(service.received == 3_000_000)
    }

    @Test("asks for the offset when an append is refused", arguments: [403, 409, 460])
    func conflict(status: Int) async throws {
        let service = try TusService(.init(refusals: [status, status]))
        let bench = try bench(service.url)
        #expect(await bench.resume().finished != nil)
        #expect(service.lines.filter { $0.hasPrefix("HEAD") }.count == 2)
        #expect(service.uploads["/files/1"]?.bytes == content)
    }

    @Test("is refused for ever with that said")
    func endlessConflict() async throws {
        let service = try TusService(.init(refusals: Array(repeating: 460, count: 50)))
        let bench = try bench(service.url)
        #expect(await bench.resume().refusal?.contains("keeps refusing bytes with 460") == true)
        #expect(service.lines.count { $0.hasPrefix("PATCH") } == 3)
    }

    /// A service may answer so for a minute after a connection broke: the upload was over within a second.
    @Test("that is refused by a service that may still hold another connection is tried again, ever later")
    func held() async throws {
        let service = try TusService(.init(refusals: Array(repeating: 409, count: 12), givesNoPause: true))
        let bench = try bench(service.url)
        var pauses: [Duration?] = []
        for _ in 0..<4 {
            let failed = await bench.resume().failedTry
            #expect(failed?.kind == .answered)
            #expect(failed?.failure.title.contains("keeps refusing bytes with 409") == true)
            pauses.append(failed?.pause)
        }
        #expect(pauses == [.seconds(2), .seconds(6), .seconds(20), .seconds(60)])
        #expect(await bench.run().finished != nil)
        #expect(service.state.withLock(\.created) == 1)
        #expect(service.uploads["/files/1"]?.bytes == content)
    }

    /// The page of a stranger on the way was taken for the end of the upload.
    @Test("believes no answer that is none of the protocol")
    func stranger() async throws {
        let service = try TusService(.init(strangers: 2))
        let bench = try bench(service.url)
        #expect(await bench.run().finished != nil)
        #expect(service.uploads["/files/1"]?.bytes == content)
    }

    @Test("is made anew when it is gone", arguments: [404, 410, 403])
    func gone(status: Int) async throws {
        let service = try TusService(.init(cuts: [1_000_000], heads: [status]))
        let bench = try bench(service.url)
        _ = await bench.resume()
        #expect(await bench.resume().failedTry?.failure.title.contains("no longer has the upload") == true)
        #expect(await bench.run().finished != nil)
        #expect(service.uploads["/files/2"]?.bytes == content)
    }

    // Who had asked too often was told that the upload is gone, and it was sent again from its beginning.
    @Test("is asked for again where a 403 says that there were too many requests")
    func limited() async throws {
        let fields = [("X-RateLimit-Remaining", "0")]
        let service = try TusService(.init(cuts: [1_000_000], heads: [403], headFields: fields))
        let bench = try bench(service.url)
        _ = await bench.resume()
        let failed = try #require(await bench.resume().failedTry)
        #expect(failed.kind == .answered && failed.failure.title.contains("answered 403"))
        #expect(await bench.run().finished != nil)
        #expect(service.uploads["/files/1"]?.bytes == content)
    }

    @Test("says until when the service keeps it, by the service's own clock, and after a crash anew")
    func expires() async throws {
        let service = try TusService(.init(life: 3600))
        let bench = try bench(service.url)
        #expect(await bench.resume(crash: (.uploadPart, 4)).hasDied)
        let first = try #require(bench.state.mustActBefore)
        let left = (first - bench.host(nil).now).seconds
        #expect(left > 3500 && left <= 3600)
        // It is dropped meanwhile: it says what was known of it.
        service.state.withLock { $0.uploads = [:] }
        let lost = await bench.resume().failedTry
        #expect(lost?.failure.hint == "it had said that it keeps it until \(first)")
        #expect(bench.state.mustActBefore == nil)
        #expect(await bench.run().finished != nil)
    }

    @Test("whose last answer is lost ends with the offset that tells it, and sends nothing twice")
    func lostAnswer() async throws {
        let service = try TusService(.init(lostAnswers: 1))
        let bench = try bench(service.url)
        #expect(await bench.run().finished?["video"] == .string("\(service.url)/files/1"))
        #expect(service.received == 3_000_000)
        #expect(service.lines.last == "HEAD /files/1")
    }

    @Test("goes in short appends where nothing of a broken one is kept, and stays with them")
    func keepsNothing() async throws {
        let service = try TusService(.init(cuts: [.max, 1_000_000], keepsNothing: true))
        let bench = try bench(service.url)
        #expect(await bench.run().finished != nil)
        #expect(service.uploads["/files/1"]?.bytes == content)
        let lengths = service.requests.filter { $0.method == "PATCH" }.map(\.contentLength)
        #expect(lengths.prefix(2) == [262_144, 2_737_856])
        #expect(lengths.dropFirst(2).allSatisfy { $0 <= 262_144 })
        #expect(lengths.count == 13)
    }

    /// The first part went with each creation again: 280 MB for 20, and 56 uploads of nothing at the service.
    @Test("gets through a line that breaks after less than a part, also where nothing of a broken append is kept")
    func brokenLine() async throws {
        let service = try TusService(
            .init(lineLimit: 100_000, keepsNothing: true, extensions: "creation,creation-with-upload"))
        let bench = try bench(service.url, bytes: Array(content.prefix(600_000)))
        #expect(await bench.run(limit: 60).finished != nil)
        #expect(service.uploads.count == 2)
        #expect(service.uploads["/files/2"]?.bytes == Array(content.prefix(600_000)))
        let lengths = service.requests.filter { $0.method == "POST" }.map(\.contentLength)
        #expect(lengths == [262_144, 0])
    }

    @Test("to a service that takes bytes and keeps none is sent twice, and no oftener")
    func forgetful() async throws {
        let service = try TusService(.init(forgets: true))
        let bench = try bench(service.url)
        let refusal = await bench.run().refusal
        #expect(refusal?.contains("bytes that it does not keep") == true, "\(refusal ?? "nothing")")
        let appends = service.requests.filter { $0.method == "PATCH" && $0.contentLength > 0 }
        #expect(appends.count == 2, "\(service.lines)")
    }

    @Test("goes in shorter appends where one of all is too large")
    func tooLarge() async throws {
        let service = try TusService(.init(appendLimit: 100_000))
        let bench = try bench(service.url)
        #expect(await bench.run().finished != nil)
        #expect(service.uploads["/files/1"]?.bytes == content)
    }

    @Test("survives a crash at every point", arguments: [CrashPoint.uploadCreated, .uploadPart, .uploadSent])
    func crash(point: CrashPoint) async throws {
        let service = try TusService()
        let bench = try bench(service.url)
        #expect(await bench.resume(crash: (point, point == .uploadPart ? 5 : 1)).hasDied)
        #expect(await bench.run().finished != nil)
        #expect(service.state.withLock(\.created) == 1)
        #expect(service.uploads["/files/1"]?.bytes == content)
    }

    private func patchBench(_ url: String) throws -> TransferBench {
        folder.write("selfie.y4m", content)
        return try TransferBench(
            """
            { "id": "move", "kind": "upload", "service": "api", "file": "selfie.y4m", "protocol": "tus",
              "partSize": "256KiB", "request": { "PATCH": "/files/7?token=a" }, "capture": { "video": "url" } }
            """, url: url, folder: folder.path)
    }

    @Test("fills an upload that is there, makes no other, and goes on in it after an interruption")
    func given() async throws {
        let service = try TusService(.init(cuts: [.max, 1_000_000]))
        service.state.withLock { $0.uploads["/files/7"] = TusService.Upload(length: 3_000_000) }
        let bench = try patchBench(service.url)
        #expect(await bench.run().finished?["video"] == .string("\(service.url)/files/7?token=a"))
        #expect(service.uploads["/files/7"]?.bytes == content)
        #expect(service.received == 3_000_000)
        #expect(Set(service.lines) == ["HEAD /files/7", "PATCH /files/7"])
        #expect(service.lines.first == "HEAD /files/7")
    }

    @Test("can't make another where the one that was there is gone")
    func givenAndGone() async throws {
        let service = try TusService()
        let bench = try patchBench(service.url)
        #expect(await bench.run().refusal?.contains("no longer knows the upload's session") == true)
    }

    @Test("is removed at the service when it is cancelled")
    func cancel() async throws {
        let service = try TusService(.init(cuts: [.max, 1_000_000]))
        let bench = try bench(service.url)
        _ = await bench.resume()
        #expect(await bench.cancel() == nil)
        #expect(service.lines.last == "DELETE /files/1")
        #expect(service.uploads.isEmpty)
    }

    /// It was told once, and the upload stayed at the service.
    @Test("is removed once the service lets go of the request that was broken off")
    func cancelLocked() async throws {
        let service = try TusService(.init(cuts: [.max, 1_000_000], removals: [423]))
        let bench = try bench(service.url)
        _ = await bench.resume()
        guard case .failed(let locked) = await bench.cancel() else {
            Issue.record("it has not been removed")
            return
        }
        #expect(locked.kind == .answered)
        #expect(await bench.cancel() == nil)
        #expect(service.uploads.isEmpty)
    }

    /// A disk that was away for a moment had the whole upload removed at the service.
    @Test("of a file that is away fails, keeps what is at the service, and goes on when the file is back")
    func away() async throws {
        let service = try TusService(.init(cuts: [.max, 1_000_000]))
        let bench = try bench(service.url)
        _ = await bench.resume()
        let path = folder.path + "/selfie.y4m"
        // Away when the next bytes are read, and already when a try begins.
        let server = service.server
        for isLate in [true, false] {
            let host = bench.host(nil)
            if isLate { server.onNext("HEAD") { rename(path, path + ".away") } }
            let failed = await bench.stage.resume(bench.state.checkpoint, host).failedTry
            bench.state = host.state.withLock { $0 }
            #expect(failed?.kind == .definite)
            #expect(failed?.failure.title.contains("No such file") == true)
        }
        #expect(!service.lines.contains("DELETE /files/1"))
        rename(path + ".away", path)
        #expect(await bench.run().finished != nil)
        #expect(service.state.withLock(\.created) == 1)
        #expect(service.received == 3_000_000)
    }

    @Test("of a file that changes before a checksum is made is refused, with that said")
    func changedBeforeChecksum() async throws {
        let service = try TusService(.init(extensions: "creation,checksum"))
        let bench = try bench(service.url)
        let path = folder.path + "/selfie.y4m"
        bench.onPass = { point, _ in if point == .uploadCreated { truncate(path, 100_000) } }
        #expect(await bench.resume().refusal?.hasPrefix("the file changed while it was being uploaded") == true)
        #expect(service.lines.last == "DELETE /files/1")
    }

    @Test("of a file that changed is refused, and removed at the service")
    func changed() async throws {
        let service = try TusService(.init(cuts: [.max, 1_000_000]))
        let bench = try bench(service.url)
        _ = await bench.resume()
        folder.append("selfie.y4m", [1])
        #expect(await bench.resume().refusal?.hasPrefix("the file changed") == true)
        #expect(service.lines.last == "DELETE /files/1")
    }

    @Test("at a service that does not speak it fails with what to do")
    func unsupported() async throws {
        let server = try LoopbackServer { _ in .json("{}", status: 201) }
        defer { server.stop() }
        let result = await (try bench(server.url)).resume()
        #expect(result.refusal?.contains("does not speak tus 1.0.0") == true)
    }

    @Test("says how large a file may be")
    func maximum() async throws {
        let server = try LoopbackServer { _ in .status(413, headers: [("Tus-Max-Size", "1000")]) }
        defer { server.stop() }
        let result = await (try bench(server.url)).resume()
        #expect(result.refusal?.contains("at most") == true)
    }
}
