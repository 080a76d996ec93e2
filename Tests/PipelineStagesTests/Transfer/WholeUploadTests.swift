import CLibrary
import JSONPath
import PipelineCore
import PipelineHTTP
import PipelineTestKit
import Synchronization
import Testing

@testable import PipelineStages

@Suite("An upload in one request")
struct WholeUploadTests {
    private let folder = TransferFolder()
    private let content = TransferFolder.bytes(2_000_000)

    private func bench(
        _ url: String, _ more: String = "", mode: String = "put", request: String = #"{ "PUT": "/videos/a" }"#
    ) throws -> TransferBench {
        folder.write("a.bin", content)
        return try TransferBench(
            """
            { "id": "move", "kind": "upload", "service": "api", "file": "a.bin", "protocol": "\(mode)",
              "request": \(request), "capture": { "video": "$.id" } \(more) }
            """, url: url, folder: folder.path)
    }

    @Test("sends the file as the body and takes the captures from the answer")
    func put() async throws {
        let server = try LoopbackServer { _ in .json(#"{"id": "v1"}"#, status: 201) }
        defer { server.stop() }
        let bench = try bench(server.url)
        #expect(await bench.resume().finished?["video"] == "v1")
        #expect(server.requests[0].method == "PUT")
        #expect(server.requests[0].body == content)
        #expect(server.requests[0].header("Content-Type") == "application/octet-stream")
        #expect(bench.state.moved.sent == 2_000_000)
        // The fingerprint before the first byte, and the end.
        #expect(bench.state.commits == 2)
        #expect(bench.state.points == [.uploadPart, .uploadSent])
        guard case .transfer(let sent, 0, total: 2_000_000)? = bench.state.progress.last else {
            Issue.record("no progress was told")
            return
        }
        #expect(sent == 2_000_000)
    }

    @Test("that began with a fingerprint commits nothing before it sends, and notices a file that changed since")
    func fingerprintFromTheStart() async throws {
        let server = try LoopbackServer { _ in .json(#"{"id": "v1"}"#, status: 201) }
        defer { server.stop() }
        let bench = try bench(server.url)
        let first = try #require(bench.stage.first)
        let scope = try await bench.host(nil).scope()
        bench.state.checkpoint = first(scope)
        #expect(await bench.resume().finished?["video"] == "v1")
        #expect(bench.state.commits == 1)

        bench.state.checkpoint = first(scope)
        folder.write("a.bin", TransferFolder.bytes(2_000_001))
        #expect(await bench.resume().refusal?.hasPrefix("the file changed while it was being uploaded") == true)
        #expect(server.requests.count == 1)
        var elsewhere = scope
        elsewhere.baseFolder = "/nowhere"
        #expect(first(elsewhere) == nil)
    }

    #if os(Linux)
        /// It went out as an empty one.
        @Test("of a file whose size is not told is refused")
        func untoldSize() async throws {
            let bench = try TransferBench(
                """
                { "id": "move", "kind": "upload", "service": "api", "file": "/proc/self/status", "protocol": "put",
                  "request": { "PUT": "/videos/a" } }
                """, url: "http://127.0.0.1:1", folder: folder.path)
            #expect(await bench.resume().refusal == "/proc/self/status has bytes and says that it has none")
        }
    #endif

    /// Its bytes went out again and again for a day.
    @Test(
        "that its own time-out ends while bytes move is a failed attempt, and not one without an answer",
        arguments: ["put", "multipart"])
    func tooLong(mode: String) async throws {
        let tries = Mutex(0)
        let server = try LoopbackServer.beforeBody { _ in
            tries.withLock { tries in
                tries += 1
                return tries == 1 ? ScriptedAnswer([.read(100_000), .stall]) : .silence
            }
        }
        defer { server.stop() }
        let method = mode == "put" ? "PUT" : "POST"
        let bench = try bench(
            server.url, mode: mode, request: #"{ "\#(method)": "/videos/a", "timeout": "1s" }"#)
        // More than the buffers of a connection take.
        folder.write("a.bin", TransferFolder.bytes(48 << 20))
        let failed = await bench.resume().failedTry
        #expect(failed?.kind == .answered)
        #expect(failed?.failure.hint == "a longer \"timeout\" may help")
        folder.write("a.bin", content)
        bench.state.checkpoint = nil
        #expect(await bench.resume().failedTry?.kind == .silent)
    }

    /// Nobody could learn any more whether the service had taken it.
    @Test("that is whole at the service ends with the author's own request also when the file is gone")
    func gone() async throws {
        let ends = Mutex(0)
        let server = try LoopbackServer { request in
            if request.method == "PUT" { return .json(#"{"id": "v1"}"#, status: 201) }
            let number = ends.withLock { ends in
                ends += 1
                return ends
            }
            return number == 1 ? ScriptedAnswer([.reset]) : .json(#"{"id": "v2"}"#)
        }
        defer { server.stop() }
        let bench = try bench(
            server.url, #", "complete": { "POST": "/done" }, "once": { "key": "Idempotency-Key" }"#)
        #expect(await bench.resume().failedTry?.kind == .silent)
        unlink("\(folder.path)/a.bin")
        #expect(await bench.resume().finished != nil)
        #expect(bench.state.captures["video"] == "v2")
        #expect(server.requests.count { $0.method == "PUT" } == 1 && ends.withLock { $0 } == 2)
    }

    @Test("is repeated whole after an interruption, and only what stayed counts as progress")
    func interruption() async throws {
        let tries = Mutex(0)
        let server = try LoopbackServer.beforeBody { _ in
            let number = tries.withLock { tries in
                tries += 1
                return tries
            }
            return number == 1 ? .reset(afterRequestBytes: 500_000) : .json(#"{"id": "v1"}"#, status: 201)
        }
        defer { server.stop() }
        let bench = try bench(server.url)
        let first = await bench.resume()
        #expect(first.failedTry?.kind == .silent)
        let lost = bench.state.moved.sent
        #expect(lost > 0 && bench.state.progressed == 0)
        #expect(await bench.resume().finished != nil)
        #expect(server.requests[1].body == content)
        #expect(bench.state.moved.sent == lost + 2_000_000)
    }

    /// Answers the first request with a page when little of its body has come, and the rest as told.
    private func gateway(
        _ gate: Gate, others: @escaping @Sendable (ReceivedRequest) -> ScriptedAnswer
    ) throws -> LoopbackServer {
        let count = Mutex(0)
        return try LoopbackServer.beforeBody { request in
            let number = count.withLock { count in
                count += 1
                return count
            }
            guard number == 1 else { return others(request) }
            let page = Array("<p>Please log in</p>".utf8)
            return ScriptedAnswer([.read(1000), .send(200, [("Connection", "close")], page), .wait(gate), .close])
        }
    }

    /// A page that asks to log in was the end of an upload, after the first of its bytes.
    @Test("is not done when it was accepted before it was sent", arguments: ["put", "multipart"])
    func acceptedEarly(mode: String) async throws {
        let gate = Gate()
        let server = try gateway(gate) { _ in .json(#"{"id": "v1"}"#, status: 201) }
        defer {
            gate.open()
            server.stop()
        }
        let bench = try bench(server.url, mode: mode, request: #"{ "POST": "/videos" }"#)
        folder.write("a.bin", TransferFolder.bytes(32_000_000))
        let failed = await bench.resume().failedTry
        #expect(failed?.kind == .answered)
        #expect(failed?.failure.title.hasPrefix("service 'api' answered 200 OK when ") == true)
        #expect(failed?.failure.title.hasSuffix(" had been sent") == true)
        #expect(failed?.failure.status == 200)
        #expect(failed?.failure.body?.contains("Please log in") == true)
        #expect(await bench.resume().finished?["video"] == "v1")
        #expect(server.requests.last.map { $0.bodyCount >= 32_000_000 } == true)
    }

    @Test("with 'once' that was accepted before it was sent is looked for, and not sent again")
    func acceptedEarlyOnce() async throws {
        let gate = Gate()
        let server = try gateway(gate) { _ in .json(#"{"id": "found", "owner": "key1"}"#) }
        defer {
            gate.open()
            server.stop()
        }
        let bench = try bench(
            server.url, #", "once": { "name": { "GET": "/videos/key1" }, "ours": "response.body.owner == job.key" }"#,
            request: #"{ "POST": "/videos" }"#)
        folder.write("a.bin", TransferFolder.bytes(32_000_000))
        #expect(await bench.run().finished != nil)
        #expect(bench.state.captures["video"] == "found")
        #expect(server.requests.map(\.method) == ["POST", "GET"])
    }

    @Test("that is refused after all its bytes is not progress, so that tries are bounded")
    func refusedAlways() async throws {
        let server = try LoopbackServer { _ in .status(500) }
        defer { server.stop() }
        let bench = try bench(server.url)
        for round in 1...3 {
            #expect(await bench.resume().failedTry?.kind == .answered)
            #expect(bench.state.progressed == 0)
            #expect(bench.state.moved.sent == Int64(round) * 2_000_000)
        }
    }

    @Test("whose last answer came damaged is tried again, and not over for good")
    func damagedAnswer() async throws {
        let count = Mutex(0)
        let server = try LoopbackServer { _ in
            let number = count.withLock {
                $0 += 1; return $0
            }
            return .json(number == 1 ? #"{"id": "v1"# : #"{"id": "v2"}"#)
        }
        defer { server.stop() }
        folder.write("selfie.y4m", [1, 2, 3])
        let bench = try TransferBench(
            """
            { "id": "move", "kind": "upload", "service": "api", "file": "selfie.y4m", "protocol": "put",
              "request": { "PUT": "/videos/1" }, "capture": { "video": "$.id" } }
            """, url: server.url, folder: folder.path)
        #expect(await bench.run().finished?["video"] == "v2")
        #expect(server.requests.count == 2)
    }

    @Test("as a form has the fields in their order, then the file")
    func multipart() async throws {
        let server = try LoopbackServer { _ in .json(#"{"id": "v1"}"#) }
        defer { server.stop() }
        let bench = try bench(
            server.url, #", "fields": { "purpose": "batch", "n": 1 }, "fileField": "data""#, mode: "multipart",
            request: #"{ "POST": "/files" }"#)
        #expect(await bench.resume().finished?["video"] == "v1")
        let request = server.requests[0]
        #expect(request.header("Content-Type")?.hasPrefix("multipart/form-data; boundary=") == true)
        let names = request.text.split(separator: "name=\"").dropFirst().map { $0.prefix { $0 != "\"" } }
        #expect(names.prefix(3) == ["purpose", "n", "data"])
        #expect(request.body.firstRange(of: content) != nil)
        #expect(bench.state.moved.sent == request.bodyCount)
    }

    /// The second form had another boundary, and a service that compares refused it although it had taken the first.
    @Test(
        "as a form has the same bytes again under one key, over a restart too",
        arguments: [
            #""kind": "upload", "file": "a.bin", "protocol": "multipart", "request": { "POST": "/files" }, "once": { "key": "Idempotency-Key" }"#,
            #""kind": "request", "request": { "POST": "/files", "once": { "key": "Idempotency-Key" }, "with": [{ "multipart": { "files": [{ "name": "f", "file": "a.bin" }] } }] }"#,
        ])
    func sameForm(stage: String) async throws {
        let losses = Mutex(1)
        let server = try LoopbackServer { _ in
            let isLost = losses.withLock { left in
                left -= 1
                return left >= 0
            }
            return isLost ? ScriptedAnswer([.reset]) : .json(#"{"id": "v1"}"#)
        }
        defer { server.stop() }
        folder.write("a.bin", TransferFolder.bytes(3000))
        let bench = try TransferBench(
            #"{ "id": "move", "service": "api", \#(stage) }"#, url: server.url, folder: folder.path)
        #expect(await bench.resume().finished == nil)
        #expect(await bench.resume(crash: (.submitAnswered, 1)).hasDied)
        #expect(await bench.run().finished != nil)
        #expect(server.requests.count == 3)
        #expect(Set(server.requests.map(\.body)).count == 1)
        #expect(Set(server.requests.map { $0.header("Content-Type") }).count == 1)
        #expect(Set(server.requests.map { $0.header("Idempotency-Key") }).count == 1)
        // Nor can it be known by the key.
        #expect(!server.requests[0].text.contains(DecorationContext(key: "own-key").boundary))
    }

    @Test("takes a form's fields from an expression")
    func computedFields() async throws {
        let server = try LoopbackServer { _ in .json(#"{"id": "v1"}"#) }
        defer { server.stop() }
        folder.write("a.bin", content)
        let bench = try TransferBench(
            """
            { "id": "move", "kind": "upload", "service": "api", "file": "a.bin", "protocol": "multipart",
              "request": { "POST": "/files" }, "fields": "${{ stages.job.form }}" }
            """, url: server.url, folder: folder.path, captured: ["job": ["form"]])
        bench.captures = ["job": ["form": ["key": "k", "policy": "p"]]]
        #expect(await bench.resume().finished != nil)
        #expect(server.requests[0].text.contains("name=\"key\"\r\n\r\nk\r\n"))
    }

    @Test("with 'once' is sent under one key, and a lost answer is found instead of sent again")
    func once() async throws {
        let puts = Mutex(0)
        let server = try LoopbackServer { request in
            guard request.method == "POST" else { return .json(#"{"id": "found", "owner": "key1"}"#) }
            puts.withLock { $0 += 1 }
            return ScriptedAnswer([.reset])
        }
        defer { server.stop() }
        let bench = try bench(
            server.url, #", "once": { "name": { "GET": "/videos/key1" }, "ours": "response.body.owner == job.key" }"#,
            request: #"{ "POST": "/videos" }"#)
        #expect(await bench.run().finished != nil)
        #expect(bench.state.captures["video"] == "found")
        #expect(puts.withLock { $0 } == 1)
    }

    /// What the first try had sent was found, and taken for the file as it was by then.
    @Test("with 'once' whose file changed while it was sent does not take what is found for the file as it is")
    func onceAndChanged() async throws {
        let path = folder.path + "/a.bin"
        let server = try LoopbackServer { request in
            guard request.method == "POST" else { return .json(#"{"id": "found", "owner": "key1"}"#) }
            truncate(path, 2_000_001)
            return .json(#"{"id": "v1"}"#, status: 201)
        }
        defer { server.stop() }
        let bench = try bench(
            server.url, #", "once": { "name": { "GET": "/videos/key1" }, "ours": "response.body.owner == job.key" }"#,
            request: #"{ "POST": "/videos" }"#)
        for _ in 0..<2 {
            let failed = await bench.resume().failedTry
            #expect(failed?.kind == .definite)
            #expect(failed?.failure.title.hasPrefix("the file changed while it was being uploaded") == true)
            #expect(failed?.failure.hint?.contains("'pipeline retry 01job --from move'") == true)
        }
        #expect(server.requests.count == 1)
        #expect(bench.state.captures["video"] == nil)
        // As after 'pipeline retry --from': nothing is known of what was.
        bench.state.checkpoint = nil
        bench.state.record = nil
        #expect(await bench.resume().failedTry?.kind == .definite, "it changes again")
        #expect(server.requests.count == 2)
    }

    @Test("of an empty file is one request too", arguments: ["put", "multipart", "s3"])
    func empty(mode: String) async throws {
        let server = try LoopbackServer { _ in .json(#"{"id": "v1"}"#) }
        defer { server.stop() }
        let bench = try bench(server.url, mode: mode)
        folder.write("a.bin", [])
        #expect(await bench.resume().finished?["video"] == "v1")
        #expect(server.requests.count == 1)
        #expect(mode == "multipart" || server.requests[0].header("Content-Length") == "0")
    }

    @Test("is not begun by a process that has lost the job")
    func notOwner() async throws {
        let server = try LoopbackServer { _ in .json(#"{"id": "v1"}"#) }
        defer { server.stop() }
        let bench = try bench(server.url)
        bench.state.isOwner = false
        #expect(await bench.resume().isStopped)
        #expect(server.requests.count == 0)
    }

    /// What one request forgot to ask, another process had done by then.
    @Test(
        "nor is any other request of a stage",
        arguments: [
            #""kind": "request", "request": { "POST": "/x" }"#,
            #""kind": "compute", "submit": { "POST": "/x" }, "poll": { "GET": "/x", "until": "true" }"#,
            #""kind": "download", "request": { "GET": "/x" }, "to": "back", "parallel": 2"#,
            #""kind": "upload", "file": "a.bin", "protocol": "tus", "request": { "POST": "/x" }"#,
            #""kind": "upload", "file": "a.bin", "protocol": "parts", "request": { "POST": "/x" }, "part": { "PUT": "/${{ part.number }}", "part": true }"#,
        ])
    func notOwner(stage: String) async throws {
        let server = try LoopbackServer { _ in .json(#"{"id": "v1"}"#) }
        defer { server.stop() }
        let folder = TransferFolder()
        folder.write("a.bin", TransferFolder.bytes(100))
        let bench = try TransferBench(
            #"{ "id": "move", "service": "api", \#(stage) }"#, url: server.url, folder: folder.path)
        bench.state.isOwner = false
        // A submit that did not go out is back before its intent; the next attempt is another owner's.
        let outcome = await bench.resume()
        #expect(outcome.isStopped || outcome.failedTry?.kind == .silent)
        #expect(server.requests.count == 0)
    }

    @Test(
        "of a file that is missing, a folder or unreadable says so",
        arguments: [("missing", "No such file"), ("", "is empty"), (".", "is a folder")])
    func badFile(name: String, words: String) async throws {
        let bench = try TransferBench(
            """
            { "id": "move", "kind": "upload", "service": "api", "file": "${{ inputs.file }}", "protocol": "put",
              "request": { "PUT": "/a" } }
            """, url: "http://127.0.0.1:1", folder: folder.path)
        bench.inputs = ["file": .string(name)]
        let refusal = await bench.resume().refusal
        #expect(refusal?.contains(words) == true)
    }

    @Test("with keys that can't be is refused when the document is read")
    func wrongKeys() {
        let report = TransferBench.report(
            """
            { "id": "a", "kind": "upload", "service": "api", "file": "x", "protocol": "put", "fields": {},
              "request": { "GET": "/x", "text": "body" }, "parallel": 4 }
            """)
        #expect(report.contains("'fields' belongs to the protocol 'multipart'"))
        #expect(report.contains("has no body of its own"))
        #expect(report.contains("GET carries no file"))
        #expect(report.contains("'parallel' belongs to the protocol 'parts' and 's3'"))
        #expect(report.contains(#"hint: take it out, or write "protocol": "parts" or "s3""#))
    }
}
