import JSONPath
import PipelineCore
import PipelineTestKit
import Synchronization
import Testing

@testable import PipelineStages

@Suite("A part whose response was lost, at a service that counts bytes")
struct ContestedPartsTests {
    /// Makes uploads, takes each byte of them once, and says how far one is as long as it is not over.
    final class Service: LoopbackService {
        struct State: Sendable {
            var uploads: [String: [UInt8]] = [:]
            /// What is done with the next parts that are in their place.
            var faults: [Fault] = []
            var completed: [String] = []
            /// The uploads that their last byte has ended.
            var over: Set<String> = []
            /// True if nothing is said of bytes that are there.
            var isMute = false
        }

        enum Fault: Sendable {
            case none
            /// The part is taken, and nothing is answered.
            case silent
            case refuse(Int)
        }

        let state = Mutex(State())
        let server = ServiceServer()
        /// The status of an upload that is over, to who asks for it.
        let statusOver: Int
        /// The status of a part of such an upload.
        let statusOfPart: Int

        init(faults: [Fault], statusOver: Int = 200, statusOfPart: Int = 409, isMute: Bool = false) throws {
            (self.statusOver, self.statusOfPart) = (statusOver, statusOfPart)
            state.withLock { ($0.faults, $0.isMute) = (faults, isMute) }
            try server.start(for: self)
        }

        var lines: [String] { requests.map { "\($0.method) \($0.path)" } }
        var creations: Int { lines.count { $0 == "POST /new" } }

        func bytes(of upload: String) -> [UInt8]? { state.withLock { $0.uploads[upload] } }

        func answer(_ request: ReceivedRequest) -> ScriptedAnswer {
            ScriptedAnswer([.readBody, .then { [weak self] in self?.answer(whole: $0) ?? .status(500) }])
        }

        private func answer(whole request: ReceivedRequest) -> ScriptedAnswer {
            let upload = request.header("X-Upload") ?? ""
            return state.withLock { state in
                switch (request.method, request.path) {
                case ("POST", "/new"):
                    let id = "up\(state.uploads.count + 1)"
                    state.uploads[id] = []
                    return .json("{\"id\": \"\(id)\"}", status: 201)
                case ("GET", "/ask"):
                    guard let bytes = state.uploads[upload] else { return .status(404) }
                    if state.over.contains(upload) { return .json("{}", status: statusOver) }
                    return .json(state.isMute || bytes.isEmpty ? "{}" : "{\"there\": \(bytes.count)}")
                case ("POST", let path) where path.hasPrefix("/part"): return take(request, upload, &state)
                case ("POST", "/end"):
                    state.completed.append(upload)
                    return .json("{\"file\": \"f1\"}")
                case ("GET", "/files"):
                    let files = state.over.sorted().map { "{\"file\": \"of \($0)\"}" }
                    return .json("{\"files\": [\(files.joined(separator: ", "))]}")
                default: return .status(204)
                }
            }
        }

        private func take(_ request: ReceivedRequest, _ upload: String, _ state: inout State) -> ScriptedAnswer {
            let count = state.uploads[upload]?.count ?? 0
            if state.over.contains(upload) { return .status(statusOfPart) }
            guard request.header("X-Offset") == "\(count)" else { return .status(409) }
            let fault = state.faults.isEmpty ? Fault.none : state.faults.removeFirst()
            if case .refuse(let status) = fault { return .status(status) }
            state.uploads[upload, default: []] += request.body
            if request.header("X-Last") == "yes" { state.over.insert(upload) }
            if case .silent = fault { return ScriptedAnswer([.reset]) }
            return .json("{\"file\": \"of \(upload)\"}")
        }
    }

    private let folder = TransferFolder()

    private static let end = #", "complete": { "POST": "/end", "headers": { "X-Upload": "${{ self.id }}" } }"#
    private static let once = """
        , "once": { "match": { "list": { "GET": "/files" }, "items": "$.files[*]", "where": "true" } }
        """

    private func bench(
        _ service: Service, ask: Bool = false, part: String = "/part", end: String, once: String = "", bytes: [UInt8]
    ) throws -> TransferBench {
        folder.write("data.bin", bytes)
        let upload = #""headers": { "X-Upload": "${{ self.id }}" }"#
        let question = ask ? #""ask": { "GET": "/ask", \#(upload), "received": "$.there" },"# : ""
        return try TransferBench(
            """
            { "id": "move", "kind": "upload", "service": "api", "file": "data.bin", "protocol": "parts",
              "partSize": "1KB", "request": { "POST": "/new", "capture": { "id": "$.id" } }, \(question)
              "part": { "POST": "\(part)", "part": true,
                        "headers": { "X-Upload": "${{ self.id }}", "X-Offset": "${{ part.offset }}",
                                     "X-Last": "${{ part.offset + part.size == \(bytes.count) ? 'yes' : 'no' }}" } },
              "cancel": { "DELETE": "/it" }, "capture": { "file": "$.file" } \(end) \(once) }
            """, url: service.url, folder: folder.path)
    }

    /// It was repeated on a kept connection without a word, and then at each resume, and was refused for ever.
    @Test("is refused when it comes again: another upload is made, also after a kill", arguments: [false, true])
    func refused(isKilled: Bool) async throws {
        let content = TransferFolder.bytes(2_500)
        let service = try Service(faults: [.none, .silent])
        let bench = try bench(service, end: Self.end, once: #", "once": { "resend": true }"#, bytes: content)
        #expect(await bench.resume().failedTry?.kind == .silent)
        if isKilled {
            try bench.change { checkpoint in
                guard case .parts(var parts) = checkpoint.phase else { return }
                parts.unanswered = nil
                checkpoint.phase = .parts(parts)
            }
        }
        let failure = await bench.resume().failedTry
        #expect(failure?.kind == .answered)
        #expect(failure?.failure.title.contains("refuses part 2") == true)
        #expect(failure?.failure.hint?.contains("\"ask\"") == true)
        #expect(await bench.run().finished != nil)
        #expect(service.bytes(of: "up2") == content)
        #expect(service.state.withLock(\.completed) == ["up2"])
        #expect(service.creations == 2)
    }

    @Test("makes no more uploads than there are attempts")
    func bounded() async throws {
        let service = try Service(faults: Array(repeating: .silent, count: 20))
        let bench = try bench(service, end: Self.end, bytes: TransferFolder.bytes(2_500))
        bench.retry.attempts = 3
        #expect(await bench.run(limit: 20).refusal?.contains("lost the upload 3 times") == true)
        #expect(service.creations == 3)
    }

    @Test("is not a part that was refused from the beginning: that refusal is one of the part")
    func refusedOutright() async throws {
        let service = try Service(faults: [.none, .refuse(409), .refuse(409)])
        let bench = try bench(service, ask: true, end: Self.end, bytes: TransferFolder.bytes(2_500))
        #expect(await bench.resume().refusal?.contains("409") == true)
        let other = try Service(faults: [.none, .refuse(409)])
        let second = try self.bench(other, end: Self.end, bytes: TransferFolder.bytes(2_500))
        #expect(await second.resume().refusal?.contains("409") == true)
        #expect(service.creations == 1 && other.creations == 1)
        #expect(other.lines.last == "DELETE /it")
    }

    /// It counted as 0, the first part was refused there, and the upload stayed so.
    @Test("is not sent to the first byte because the service says nothing of those that it had acknowledged")
    func mute() async throws {
        let content = TransferFolder.bytes(2_500)
        let service = try Service(faults: [.none, .silent], isMute: true)
        let once = #", "once": { "resend": true }"#
        let bench = try bench(service, ask: true, end: Self.end, once: once, bytes: content)
        #expect(await bench.resume().failedTry?.kind == .silent)
        #expect(await bench.resume().failedTry?.failure.title.contains("does not say any more how much") == true)
        #expect(await bench.run().finished != nil)
        #expect(service.bytes(of: "up2") == content)
    }

    /// A service that says nothing of an upload that is over was sent its first part again, and `once` was not looked at.
    @Test(
        "and which ended the upload is found by `once`: the upload is gone, says nothing, or refuses it",
        arguments: [(2_500, true, 200), (2_500, true, 404), (500, true, 200), (2_500, false, 200)])
    func found(size: Int, asks: Bool, statusOver: Int) async throws {
        let faults: [Service.Fault] = size > 1_000 ? [.none, .none, .silent] : [.silent]
        let service = try Service(faults: faults, statusOver: statusOver)
        let bench = try bench(service, ask: asks, end: "", once: Self.once, bytes: TransferFolder.bytes(size))
        #expect(await bench.run().finished?["file"] == "of up1")
        #expect(service.creations == 1)
        #expect(!service.lines.contains("DELETE /it"))
    }

    @Test(
        "and which may have ended the upload is unknown without `once`, and nothing is removed",
        arguments: [(2_500, true), (500, true), (2_500, false)])
    func unknown(size: Int, asks: Bool) async throws {
        let faults: [Service.Fault] = size > 1_000 ? [.none, .none, .silent] : [.silent]
        let service = try Service(faults: faults)
        let bench = try bench(service, ask: asks, end: "", bytes: TransferFolder.bytes(size))
        #expect(await bench.run().refusal?.hasPrefix("it is unknown whether the upload was accepted") == true)
        #expect(await bench.run().refusal?.hasPrefix("it is unknown whether the upload was accepted") == true)
        #expect(service.creations == 1)
        #expect(!service.lines.contains("DELETE /it"))
    }

    /// The file was sent again, and the service had it twice, without a word.
    @Test(
        "and which is answered as one of no upload when it comes again is looked for by `once`", arguments: [404, 410])
    func goneAtPart(_ status: Int) async throws {
        let content = TransferFolder.bytes(2_500)
        let service = try Service(faults: [.none, .none, .silent], statusOfPart: status)
        let part = "/part/${{ self.id }}"
        let first = try bench(service, part: part, end: "", once: Self.once, bytes: content)
        #expect(await first.run().finished?["file"] == "of up1")
        #expect(service.creations == 1)
        let other = try Service(faults: [.none, .none, .silent], statusOfPart: status)
        let second = try bench(other, part: part, end: "", bytes: content)
        _ = await second.resume()
        var failure: StepFailure?
        for _ in 0..<4 where failure?.title.contains("may have been complete") != true {
            failure = await second.resume().failedTry?.failure
        }
        #expect(failure?.title.contains("which may have been complete; the file is sent again") == true)
    }

    /// It was told as lost, and the service had the file twice without a word.
    @Test("and after which the upload is gone may have ended it: that is said before the file is sent again")
    func gone() async throws {
        let content = TransferFolder.bytes(2_500)
        let service = try Service(faults: [.none, .none, .silent], statusOver: 404)
        let bench = try bench(service, ask: true, end: "", bytes: content)
        var failures: [StepFailure] = []
        var outcome = await bench.resume()
        for _ in 0..<8 {
            guard let failed = outcome.failedTry, failed.kind != .definite else { break }
            failures.append(failed.failure)
            outcome = await bench.resume()
        }
        #expect(outcome.finished?["file"] == "of up2")
        #expect(failures.last?.title.contains("which may have been complete; the file is sent again") == true)
        #expect(failures.last?.hint?.contains("\"once\"") == true)
        #expect(service.creations == 2)
    }
}
