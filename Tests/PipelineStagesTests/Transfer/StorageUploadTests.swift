import Crypto
import Foundation
import HTTPTypes
import JSONPath
import PipelineCore
import PipelineHTTP
import PipelineTestKit
import Synchronization
import Testing

@testable import PipelineStages

@Suite("An upload to S3 over real sockets")
struct StorageUploadTests {
    private let folder = TransferFolder()
    private let content = TransferFolder.bytes(17_000_000)

    private func bench(
        _ url: String, parallel: Int = 1, bytes: [UInt8]? = nil, header: String = ""
    ) throws -> TransferBench {
        folder.write("selfie.y4m", bytes ?? content)
        return try TransferBench(
            """
            { "id": "move", "kind": "upload", "service": "api", "file": "selfie.y4m", "protocol": "s3",
              "partSize": "5MiB", "parallel": \(parallel),
              "request": { "PUT": "/bucket/a%20b.y4m", "headers": { "Content-Type": "video/x", "x-amz-acl": "private" \(header) },
                           "with": [ { "sigv4": { "region": "us-east-1", "service": "s3", "accessKey": "AK",
                                                  "secretKey": "SK" } } ] },
              "capture": { "tag": [ "xml:/CompleteMultipartUploadResult/ETag", "header:ETag" ] } }
            """, url: url, folder: folder.path)
    }

    /// Each of the parts on their way counted: a gateway was believed at once, and the losses began anew without a person.
    @Test("that all parts on their way are told is gone has lost one upload, and is doubted once", arguments: [0, 3])
    func toldTogether(doubts: Int) async throws {
        let service = try StorageService()
        let bench = try bench(service.url, parallel: 5, bytes: TransferFolder.bytes(42_000_000))
        #expect(await bench.resume(crash: (.uploadPart, 2)).hasDied)
        try bench.change { saved in
            guard case .parts(var parts) = saved.phase else { return }
            parts.streams = 5
            saved.phase = .parts(parts)
            saved.progress.doubts = doubts
        }
        service.state.withLock { $0.faults.refusals = Array(repeating: 404, count: 5) }
        let failed = await bench.resume().failedTry
        #expect(failed?.kind == .answered)
        try bench.change { saved in
            #expect(saved.progress.losses == (doubts == 0 ? 0 : 1))
            #expect(saved.progress.doubts == (doubts == 0 ? 1 : 0))
        }
        #expect(await bench.run().finished != nil)
        #expect(service.state.withLock(\.created) == (doubts == 0 ? 1 : 2))
    }

    @Test("doubts anew that it is gone once another part was taken")
    func doubtsAnew() async throws {
        let service = try StorageService()
        let bench = try bench(service.url)
        #expect(await bench.resume(crash: (.uploadPart, 1)).hasDied)
        try bench.change { $0.progress.doubts = 3 }
        bench.onPass = { point, _ in
            if point == .uploadPart { service.state.withLock { $0.faults.refusals = [404] } }
        }
        #expect(await bench.run().finished != nil)
        #expect(service.state.withLock(\.created) == 1)
    }

    @Test("of at most one part is one PUT")
    func single() async throws {
        let service = try StorageService()
        let small = TransferFolder.bytes(5 << 20)
        let bench = try bench(service.url, bytes: small)
        #expect(await bench.resume().finished?["tag"] == "\"whole\"")
        #expect(service.lines == ["PUT /bucket/a%20b.y4m"])
        #expect(service.requests[0].header("X-Amz-Content-Sha256") == TransferFolder.sha256(small))
        #expect(service.object == small)
    }

    @Test("to a URL that was signed beforehand is one PUT of any size")
    func presigned() async throws {
        let server = try LoopbackServer(keptBodyBytes: 64 << 20) { _ in .status(200, headers: [("ETag", "\"e\"")]) }
        defer { server.stop() }
        folder.write("selfie.y4m", content)
        let bench = try TransferBench(
            """
            { "id": "move", "kind": "upload", "service": "api", "file": "selfie.y4m", "protocol": "s3",
              "partSize": "5MiB", "request": { "PUT": "/bucket/a?X-Amz-Signature=abc", "credentials": "none" } }
            """, url: server.url, folder: folder.path)
        #expect(await bench.resume().finished != nil)
        #expect(server.requests.map(\.target) == ["/bucket/a?X-Amz-Signature=abc"])
        #expect(server.requests.first?.body == content)
    }

    @Test("sends a condition on the object with the request that makes it, and with no other")
    func condition() async throws {
        let service = try StorageService()
        folder.write("selfie.y4m", content)
        let bench = try TransferBench(
            """
            { "id": "move", "kind": "upload", "service": "api", "file": "selfie.y4m", "protocol": "s3",
              "partSize": "5MiB",
              "request": { "PUT": "/bucket/a", "headers": { "If-None-Match": "*" },
                           "with": [ { "sigv4": { "region": "us-east-1", "service": "s3", "accessKey": "AK",
                                                  "secretKey": "SK" } } ] } }
            """, url: service.url, folder: folder.path)
        #expect(await bench.resume().finished != nil)
        #expect(service.object.map(TransferFolder.sha256) == TransferFolder.sha256(content))
        let with = service.requests.filter { $0.header("If-None-Match") != nil }
        #expect(with.map(\.target) == ["/bucket/a?uploadId=u1"])
    }

    @Test("is made, filled in parts and completed", arguments: [1, 3])
    func parts(parallel: Int) async throws {
        let service = try StorageService()
        let bench = try bench(service.url, parallel: parallel)
        #expect(await bench.resume().finished?["tag"] == "\"abc-4\"")
        #expect(service.object == content)
        #expect(service.received == 17_000_000)
        #expect(service.lines.first == "POST /bucket/a%20b.y4m?uploads=")
        #expect(service.lines.last == "POST /bucket/a%20b.y4m?uploadId=u1")
        #expect(service.requests[0].header("x-amz-acl") == "private")
        #expect(service.requests[0].header("Content-Type") == "video/x")
        #expect(service.requests[1].header("x-amz-acl") == nil)
        #expect(service.state.withLock(\.mostRunning) <= parallel)
        #expect(bench.state.moved.sent == 17_000_000)
    }

    @Test(
        "has parts as the author wants them, within what S3 takes",
        arguments: [
            (100, 1 << 20, 5 << 20, 1), (50 << 20, 8 << 20, 8 << 20, 7), (10000 << 23, 8 << 20, 8 << 20, 10000),
            (10000 << 23 + 1, 8 << 20, 9 << 20, 8889), (5 << 40, 8 << 20, 525 << 20, 9987),
            (20 << 30, 6 << 30, 5 << 30, 4),
        ] as [(Int64, Int64, Int64, Int)])
    func partSizes(total: Int64, wanted: Int64, size: Int64, count: Int) {
        let found = PartTable.storagePartSize(for: total, wanted: wanted)
        #expect(found == size)
        let table = PartTable(total: total, size: found)
        #expect(table.count == count)
        #expect(table.offset(of: count) + table.length(of: count) == total)
    }

    @Test("has a checksum with each part and with its end where the author asks for one, also after a crash")
    func checksums() async throws {
        let service = try StorageService()
        let bench = try bench(service.url, header: #", "x-amz-checksum-algorithm": "SHA256""#)
        #expect(await bench.resume(crash: (.uploadPart, 2)).hasDied)
        #expect(await bench.run().finished?["tag"] == "\"abc-4\"")
        #expect(service.object.map(TransferFolder.sha256) == TransferFolder.sha256(content))
        #expect(service.requests.first?.header("x-amz-checksum-algorithm") == "SHA256")
        let parts = service.requests.filter { $0.method == "PUT" }
        for part in parts {
            let digest = Base64Bytes.encode(SHA256.hash(data: part.body))
            #expect(part.header("x-amz-checksum-sha256") == digest)
            #expect(part.header("x-amz-checksum-algorithm") == nil)
        }
        #expect(service.state.withLock(\.completion).components(separatedBy: "<ChecksumSHA256>").count == 5)
    }

    @Test(
        "of one part has the checksum of the whole",
        arguments: [
            ("CRC32", "x-amz-checksum-crc32"), ("crc32c", "x-amz-checksum-crc32c"), ("SHA1", "x-amz-checksum-sha1"),
        ])
    func wholeChecksum(algorithm: String, name: String) async throws {
        let service = try StorageService()
        let bench = try bench(
            service.url, bytes: Array("123456789".utf8), header: ", \"x-amz-checksum-algorithm\": \"\(algorithm)\"")
        #expect(await bench.resume().finished != nil)
        // The check values of the catalogue of parametrised CRC algorithms, and FIPS 180.
        let values = ["CRC32": "y/Q5Jg==", "crc32c": "4waSgw==", "SHA1": "98O8HYCOBHMq32eZZczDTKeuNEE="]
        #expect(service.requests[0].header(name) == values[algorithm])
        #expect(service.requests[0].header("x-amz-checksum-algorithm") == nil)
    }

    @Test("of a file that is cut off while its parts are made ready is removed, with that said")
    func changedBeforeChecksum() async throws {
        let service = try StorageService()
        let bench = try bench(service.url, header: #", "x-amz-checksum-algorithm": "SHA256""#)
        let path = folder.path + "/selfie.y4m"
        bench.onPass = { point, _ in if point == .uploadCreated { truncate(path, 1_000_000) } }
        #expect(await bench.resume().refusal?.hasPrefix("the file changed while it was being uploaded") == true)
        #expect(service.lines.last == "DELETE /bucket/a%20b.y4m?uploadId=u1")
    }

    @Test("with a checksum that is not known says which ones are")
    func unknownChecksum() async throws {
        let service = try StorageService()
        let bench = try bench(service.url, header: #", "x-amz-checksum-algorithm": "CRC64NVME""#)
        let failed = await bench.resume().failedTry
        #expect(failed?.failure.title == "the checksum CRC64NVME is not known here")
        #expect(failed?.failure.hint?.contains("CRC32C") == true)
    }

    @Test("whose earlier end won, though its answer was lost, is not taken for somebody else's object")
    func lateCompletion() async throws {
        let service = try StorageService(.init(lateCompletions: 1))
        let bench = try bench(service.url, header: #", "If-None-Match": "*""#)
        #expect(await bench.resume().failedTry?.kind == .silent)
        #expect(await bench.run().finished?["tag"] == "\"abc-4\"")
        #expect(service.received == 17_000_000)
        #expect(service.lines.suffix(2) == ["POST /bucket/a%20b.y4m?uploadId=u1", "HEAD /bucket/a%20b.y4m"])
    }

    @Test("fails when somebody else's object has the name, also where an end was tried before", arguments: [0, 1])
    func foreignObject(tries: Int) async throws {
        let service = try StorageService(.init(hiddenErrors: Array(repeating: "InternalError", count: tries)))
        let bench = try bench(service.url, header: #", "If-None-Match": "*""#)
        if tries > 0 { #expect(await bench.resume().failedTry?.kind == .answered) }
        service.state.withLock { $0.faults.foreignObject = [1, 2, 3] }
        #expect(await bench.run().refusal?.contains("412") == true)
        #expect(service.object == [1, 2, 3])
    }

    @Test("goes on with the parts that a paged list lacks")
    func interruption() async throws {
        let service = try StorageService(.init(page: 1))
        let bench = try bench(service.url)
        #expect(await bench.resume(crash: (.uploadPart, 2)).hasDied)
        let before = service.received
        #expect(await bench.run().finished != nil)
        #expect(service.object == content)
        #expect(service.lines.contains("GET /bucket/a%20b.y4m?part-number-marker=1&uploadId=u1"))
        #expect(before <= 15_728_640)
        #expect(service.received <= 17_000_000 + 5_242_880)
        #expect(service.state.withLock(\.created) == 1)
    }

    @Test("sends again only the part that was cut")
    func cut() async throws {
        let service = try StorageService(.init(cuts: 1))
        let bench = try bench(service.url, parallel: 2)
        #expect(await bench.run().finished != nil)
        #expect(service.object == content)
        #expect(service.received <= 18_000_000)
    }

    @Test("survives a crash at every point", arguments: [CrashPoint.uploadCreated, .uploadPart, .uploadSent])
    func crash(point: CrashPoint) async throws {
        let service = try StorageService()
        let bench = try bench(service.url, parallel: 2)
        #expect(await bench.resume(crash: (point, 1)).hasDied)
        #expect(await bench.run().finished?["tag"] == "\"abc-4\"")
        #expect(service.object == content)
    }

    /// The refusal of the end was taken for that of the whole upload: all parts were sent once more to another one.
    @Test("whose end is refused for now keeps its parts, and only ends again", arguments: [503, 500, 429])
    func refusedEnd(status: Int) async throws {
        let service = try StorageService(.init(ends: [status, status]))
        let bench = try bench(service.url)
        #expect(await bench.resume().failedTry?.kind == .answered)
        #expect(await bench.run().finished?["tag"] == "\"abc-4\"")
        #expect(service.received == 17_000_000)
        #expect(service.state.withLock(\.created) == 1)
    }

    @Test("whose end is refused for good goes on with its parts when a person orders another try")
    func refusedEndForGood() async throws {
        let service = try StorageService(.init(ends: [403]))
        let bench = try bench(service.url)
        #expect(await bench.resume().refusal?.contains("403") == true)
        #expect(await bench.run().finished != nil)
        #expect(service.received == 17_000_000)
    }

    /// An object of the same name, size and number of parts was believed to be this one, though none of it had arrived.
    @Test("that was removed before its end is not taken for an older object of the same size")
    func olderObject() async throws {
        let service = try StorageService(.init(removals: 1))
        service.state.withLock { state in
            state.object = TransferFolder.bytes(17_000_000, seed: 9)
            (state.tag, state.made) = ("\"abc-4\"", StorageService.now - .seconds(86_400))
        }
        let bench = try bench(service.url)
        #expect(await bench.resume().failedTry?.failure.title.contains("no longer has the upload") == true)
        #expect(await bench.run().finished != nil)
        #expect(service.object == content)
    }

    @Test("tells its object from another one by its parts' digests where they are such, and else by its age")
    func ownObject() {
        func tag(_ bytes: String) -> String { "\"\(Array(Insecure.MD5.hash(data: Array(bytes.utf8))).hex)\"" }
        func object(_ tag: String, _ age: Int, _ more: [String: String] = [:]) -> HTTPExchangeResponse {
            var headers: HTTPFields = [
                .eTag: tag, .contentLength: "11", .lastModified: (StorageService.now + .seconds(age)).httpDate,
            ]
            for (name, value) in more { headers[HTTPField.Name(name)!] = value }
            return HTTPExchangeResponse(status: 200, headers: headers, url: "http://h/o")
        }
        var state = PartsCheckpoint(partSize: 10)
        state.begun = StorageService.now
        state.receipts = [1: tag("1234567890"), 2: tag("x")]
        let digests = [UInt8](Insecure.MD5.hash(data: Array("1234567890".utf8))) + Insecure.MD5.hash(data: [120])
        let whole = "\"\(Array(Insecure.MD5.hash(data: digests)).hex)-2\""
        #expect(state.made(object(whole, -1000), of: 11, isContested: true))
        #expect(!state.made(object("\"ab-2\"", -1000), of: 11, isContested: false))
        #expect(state.made(object("\"ab-2\"", 0), of: 11, isContested: false))
        #expect(!state.made(object("\"ab-2\"", 0), of: 11, isContested: true))
        let sealed = ["x-amz-server-side-encryption": "aws:kms"]
        #expect(state.made(object("\"ab-2\"", 0, sealed), of: 11, isContested: true))
        #expect(!state.made(object("\"ab-3\"", 0), of: 11, isContested: false))
        #expect(!state.made(object(whole, 0), of: 12, isContested: false))
        state.receipts = [1: "a", 2: "b"]
        state.begun = nil
        #expect(!state.made(object("\"ab-2\"", 0), of: 11, isContested: false))
    }

    @Test("is tried again when an error stands under the 200 of its end")
    func hiddenError() async throws {
        let service = try StorageService(.init(hiddenErrors: ["InternalError"]))
        let bench = try bench(service.url)
        let first = await bench.resume()
        #expect(first.failedTry?.kind == .answered)
        #expect(first.failedTry?.failure.title.contains("no way") == true)
        #expect(await bench.run().finished != nil)
        #expect(service.received == 17_000_000)
    }

    @Test("fails when the error under the 200 is for good")
    func hiddenRefusal() async throws {
        let service = try StorageService(.init(hiddenErrors: ["EntityTooSmall"]))
        let bench = try bench(service.url)
        #expect(await bench.resume().refusal?.contains("no way") == true)
    }

    @Test("whose last answer is lost finds the object, and sends nothing twice")
    func lostAnswer() async throws {
        let service = try StorageService(.init(lostAnswers: 1))
        let bench = try bench(service.url)
        #expect(await bench.run().finished?["tag"] == "\"abc-4\"")
        #expect(service.received == 17_000_000)
        #expect(service.lines.last == "HEAD /bucket/a%20b.y4m")
    }

    /// An end that was cut off was taken for lost as long as nothing had come of it: the whole file was sent twice.
    @Test("whose end goes on at the service after it was cut off waits for the object")
    func slowEnd() async throws {
        let service = try StorageService(.init(looksUntilMade: 3))
        let bench = try bench(service.url)
        #expect(await bench.resume().failedTry?.kind == .silent)
        for miss in 1...2 {
            guard case .success(.waiting(let checkpoint, until: _, let reason)) = await bench.resume() else {
                Issue.record("it was not waited for")
                return
            }
            #expect(reason.kind == .settle)
            bench.state.checkpoint = checkpoint
            try bench.change { saved in #expect(saved.progress.misses == miss) }
        }
        #expect(await bench.resume().finished?["tag"] == "\"abc-4\"")
        #expect(service.received == 17_000_000)
        #expect(service.state.withLock(\.created) == 1)
    }

    @Test("whose end made nothing for minutes is sent again")
    func lostEnd() async throws {
        let service = try StorageService(.init(looksUntilMade: .max))
        let bench = try bench(service.url)
        #expect(await bench.resume().failedTry?.kind == .silent)
        try bench.change { $0.progress.misses = 8 }
        #expect(await bench.resume().failedTry?.failure.title.contains("no longer has the upload") == true)
        #expect(await bench.run().finished != nil)
        #expect(service.state.withLock(\.created) == 2)
    }

    /// All parts were sent once more.
    @Test("believes no page of a stranger that none of its parts is there")
    func strangersPage() async throws {
        let service = try StorageService(.init(strangers: 1))
        let bench = try bench(service.url)
        #expect(await bench.resume(crash: (.uploadPart, 3)).hasDied)
        let failed = await bench.resume().failedTry
        #expect(failed?.kind == .answered)
        #expect(failed?.failure.title.contains("did not say how much of the file it has") == true)
        #expect(await bench.run().finished != nil)
        #expect(service.received <= 17_000_000 + 5_242_880)
    }

    @Test("whose signature was too old when it came is signed anew")
    func outdated() async throws {
        let service = try StorageService(.init(outdated: 1))
        let bench = try bench(service.url)
        #expect(await bench.resume().failedTry?.kind == .answered)
        #expect(await bench.run().finished != nil)
        #expect(service.object.map(TransferFolder.sha256) == TransferFolder.sha256(content))
    }

    @Test("whose token has ended goes on with a new one, and without fails", arguments: [true, false])
    func expiredToken(isThere: Bool) async throws {
        let service = try StorageService(.init(expired: 1))
        let bench = try bench(service.url)
        bench.state.hasNewSecrets = isThere
        #expect(await bench.resume().failedTry?.kind == (isThere ? .answered : .definite))
        #expect(await bench.run().finished != nil)
    }

    @Test("goes on with what it knows where it may not list its parts", arguments: [403, 405, 501])
    func unlisted(status: Int) async throws {
        let service = try StorageService(.init(lists: status))
        let bench = try bench(service.url)
        #expect(await bench.resume(crash: (.uploadPart, 3)).hasDied)
        #expect(await bench.run().finished?["tag"] == "\"abc-4\"")
        #expect(service.object == content)
        #expect(service.received <= 17_000_000 + 2 * 5_242_880)
    }

    @Test("that the service does not let go says so when it is cancelled")
    func cancelRefused() async throws {
        let service = try StorageService(.init(cuts: 1, cancels: [503]))
        let bench = try bench(service.url)
        _ = await bench.resume()
        guard case .failed(let failed)? = await bench.cancel() else {
            Issue.record("nobody is told that the parts stay")
            return
        }
        #expect(failed.failure.title.contains("503"))
        #expect(await bench.cancel() == nil)
    }

    @Test("is made anew when somebody removed it")
    func gone() async throws {
        let service = try StorageService(.init(cuts: 1))
        let bench = try bench(service.url)
        _ = await bench.resume()
        service.state.withLock { $0.uploads = [:] }
        #expect(await bench.run().finished != nil)
        #expect(service.state.withLock(\.created) == 2)
        #expect(service.object == content)
    }

    @Test("is removed when it is cancelled, and when the file changed")
    func cancel() async throws {
        let service = try StorageService(.init(cuts: 1))
        let bench = try bench(service.url)
        _ = await bench.resume()
        #expect(await bench.cancel() == nil)
        #expect(service.lines.last == "DELETE /bucket/a%20b.y4m?uploadId=u1")
        let other = try StorageService(.init(cuts: 1))
        let second = try self.bench(other.url)
        _ = await second.resume()
        folder.append("selfie.y4m", [1])
        #expect(await second.resume().refusal?.hasPrefix("the file changed") == true)
        #expect(other.state.withLock(\.uploads).isEmpty)
    }
}
