import JSONPath
import PipelineCore
import PipelineTestKit
import Synchronization
import Testing

@testable import PipelineStages

@Suite("An upload by a session of Google's kind over real sockets")
struct GoogleUploadTests {
    private let folder = TransferFolder()
    private let content = TransferFolder.bytes(3_000_000)

    private func bench(
        _ url: String, request: String = #"{ "POST": "/o", "query": { "uploadType": "resumable" } }"#,
        _ more: String = "", bytes: [UInt8]? = nil
    ) throws -> TransferBench {
        folder.write("selfie.y4m", bytes ?? content)
        return try TransferBench(
            """
            { "id": "move", "kind": "upload", "service": "api", "file": "selfie.y4m", "protocol": "gcs",
              "partSize": "300KiB", "request": \(request), "capture": { "size": "$.size" } \(more) }
            """, url: url, folder: folder.path)
    }

    @Test("makes a session and sends all to it")
    func simple() async throws {
        let service = try GoogleService()
        let bench = try bench(service.url)
        #expect(await bench.resume().finished?["size"] == "3000000")
        #expect(service.lines == ["POST -", "PUT bytes 0-2999999/3000000"])
        #expect(service.requests[0].target == "/o?uploadType=resumable")
        #expect(service.requests[1].target == "/upload?upload_id=s1")
        #expect(service.sessions["s1"]?.bytes == content)
    }

    @Test("may describe the object in the body of its POST")
    func described() async throws {
        let service = try GoogleService()
        let bench = try bench(service.url, request: #"{ "POST": "/o", "json": { "name": "a" } }"#)
        #expect(await bench.resume().finished != nil)
        #expect(service.requests[0].text == #"{"name":"a"}"#)
        #expect(service.requests[1].body == content)
    }

    @Test("of an empty file is one session and one request")
    func empty() async throws {
        let service = try GoogleService()
        let bench = try bench(service.url, bytes: [])
        #expect(await bench.resume().finished?["size"] == "0")
        #expect(service.lines == ["POST -", "PUT bytes */0"])
    }

    @Test("finds the session where the author says")
    func selector() async throws {
        let service = try GoogleService(.init(answersInBody: true))
        let bench = try bench(service.url, #", "session": "$.data.url""#)
        #expect(await bench.resume().finished != nil)
    }

    @Test("goes on at what the service kept")
    func interruption() async throws {
        let service = try GoogleService(.init(cuts: [1_000_000]))
        let bench = try bench(service.url)
        #expect(await bench.run().finished != nil)
        #expect(service.lines.suffix(2) == ["PUT bytes */3000000", "PUT bytes 786432-2999999/3000000"])
        #expect(service.sessions["s1"]?.bytes == content)
    }

    /// Nine times 20 MB went out within a third of a second.
    @Test("to a service that takes bytes and keeps none is sent twice, and no oftener")
    func forgetful() async throws {
        let service = try GoogleService(.init(forgets: true))
        let bench = try bench(service.url)
        let refusal = await bench.run().refusal
        #expect(refusal?.contains("keeps none of the bytes that it takes") == true, "\(refusal ?? "nothing")")
        #expect(service.received == 6_000_000, "\(service.lines)")
    }

    @Test("to a service that has all bytes and is not done waits for its end, with pauses")
    func unfinished() async throws {
        let service = try GoogleService(.init(unfinished: 6))
        let bench = try bench(service.url)
        #expect(await bench.run().finished?["size"] == "3000000")
        #expect(service.received == 3_000_000, "\(service.lines)")
    }

    @Test("goes in stretches of whole 256 KiB where nothing of a broken one is kept")
    func granularity() async throws {
        let service = try GoogleService(.init(cuts: [1_000_000], keepsNothing: true))
        let bench = try bench(service.url)
        #expect(await bench.run().finished != nil)
        #expect(service.lines.contains("PUT bytes 262144-524287/3000000"))
        #expect(service.sessions["s1"]?.bytes == content)
    }

    @Test("whose last answer is lost gets it again, and sends nothing twice")
    func lostAnswer() async throws {
        let service = try GoogleService(.init(lostAnswers: 1))
        let bench = try bench(service.url)
        #expect(await bench.run().finished?["size"] == "3000000")
        #expect(service.received == 3_000_000)
    }

    @Test("takes a new session when the old one is over", arguments: [404, 410])
    func gone(status: Int) async throws {
        let service = try GoogleService(.init(cuts: [1_000_000]))
        let bench = try bench(service.url)
        _ = await bench.resume()
        service.state.withLock { $0.faults.statuses = [status] }
        #expect(await bench.run().finished != nil)
        #expect(service.state.withLock(\.created) == 2)
        #expect(service.sessions["s2"]?.bytes == content)
    }

    @Test("writes to a session that exists, and keeps to it over interruptions")
    func given() async throws {
        let service = try GoogleService(.init(cuts: [1_000_000]))
        service.open("mine", total: 3_000_000)
        let bench = try bench(service.url, request: #"{ "PUT": "\#(service.url)/upload?upload_id=mine" }"#)
        #expect(await bench.run().finished != nil)
        #expect(service.sessions["mine"]?.bytes == content)
        #expect(service.lines.first == "PUT bytes */3000000")
        #expect(service.state.withLock(\.created) == 0)
    }

    @Test("to a given session that is over says that it can't make another, and never shows its address")
    func givenAndGone() async throws {
        let service = try GoogleService()
        let bench = try bench(service.url, request: #"{ "PUT": "\#(service.url)/upload?upload_id=hush" }"#)
        let failed = try #require(await bench.run().failedTry)
        #expect(failed.kind == .definite)
        #expect(failed.failure.title.contains("names no way to make another"))
        #expect(!"\(failed)".contains("hush"))
    }

    @Test("is removed at the service when it is cancelled")
    func cancel() async throws {
        let service = try GoogleService(.init(cuts: [1_000_000]))
        let bench = try bench(service.url)
        _ = await bench.resume()
        #expect(await bench.cancel() == nil)
        #expect(service.sessions.isEmpty)
    }

    @Test("survives a crash at every point", arguments: [CrashPoint.uploadCreated, .uploadPart, .uploadSent])
    func crash(point: CrashPoint) async throws {
        let service = try GoogleService()
        let bench = try bench(service.url)
        #expect(await bench.resume(crash: (point, point == .uploadPart ? 4 : 1)).hasDied)
        #expect(await bench.run().finished != nil)
        #expect(service.state.withLock(\.created) == 1)
        #expect(service.sessions["s1"]?.bytes == content)
    }
}
