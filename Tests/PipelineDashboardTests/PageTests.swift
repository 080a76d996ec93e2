import Foundation
import JSONPath
import PipelineCore
import PipelineKit
import PipelinePictures
import Testing

@testable import PipelineDashboard

/// What the pages show, and what they never show.
@Suite("Pages of the dashboard", .serialized, .timeLimit(.minutes(3)))
struct PageTests {
    private func withWorld(_ body: (DashboardWorld, String) async throws -> Void) async throws {
        let world = try await DashboardWorld()
        do { try await body(world, try world.signIn()) } catch {
            await world.close()
            throw error
        }
        await world.close()
    }

    @Test("empty pages say what to type")
    func empty() async throws {
        try await withWorld { world, cookie in
            let words = [
                ("/", "pipeline run selfie.json -i video=me.mov"), ("/pipelines", "pipeline run FILE.json"),
                ("/services", "pipeline run FILE.json"), ("/workers", "pipeline daemon"),
                ("/?q=nothing", "No job matches"), ("/?since=soon", "write 2d, 3h"),
            ]
            for (target, text) in words {
                let page = try world.get(target, cookie: cookie)
                #expect(page.shows(text), "\(target)")
            }
            let missing = try world.get("/jobs/none", cookie: cookie)
            #expect(missing.status == 404)
        }
    }

    @Test("the list shows each job with its state and reason, by filters of the address, page by page")
    func list() async throws {
        try await withWorld { world, cookie in
            for number in 0..<60 { try await world.make(number, key: "job-\(number)", kind: .jobSucceeded) }
            let failed = StepState.failed(StepFailure("the quota is used up"))
            try await world.make(61, key: "bad", model: failed, kind: .jobFailed)
            let page = try world.get("/", cookie: cookie).body
            #expect(page.components(separatedBy: "<tr id=\"job-").count == 51)
            let older = try #require(page.firstRange(of: "href=\"/?before="))
            let address = page[older.upperBound...].prefix { $0 != "\"" }
            let next = try world.get("/?before=\(address)", cookie: cookie).body
            #expect(next.components(separatedBy: "<tr id=\"job-").count == 12)
            let bad = try world.get("/?state=failed", cookie: cookie).body
            #expect(bad.contains("model: the quota is used up") && !bad.contains(">job-3<"))
            #expect(try world.get("/?q=QUOTA", cookie: cookie).shows(">bad<"))
            #expect(try !world.get("/?since=30s", cookie: cookie).shows("<tr id"))
            #expect(try world.get("/?since=1d", cookie: cookie).shows("<tr id"))
        }
    }

    @Test("a job's page tells why it does not go on, until when, and what can be done")
    func why() async throws {
        try await withWorld { world, cookie in
            let until = SystemClock().now + .seconds(600)
            let job = try await world.make(
                1, model: .waiting(AttemptState(), .at(until), WaitReason(.poll, detail: "still rendering")))
            let page = try world.get("/jobs/\(job)", cookie: cookie).body
            #expect(page.contains("Why it is not going on") && page.contains("still rendering"))
            #expect(page.contains("<time datetime=\"\(until)\""))
            #expect(page.contains("aria-label=\"upload succeeded, model waiting, fetch pending\""), "its graph")
            #expect(page.contains("When each stage was at work") && page.contains("As numbers"))
        }
    }

    @Test("hostile names, captures and errors stay texts")
    func hostile() async throws {
        try await withWorld { world, cookie in
            let hostile = "<script>alert(1)</script><img src=x onerror=alert(2)>"
            let job = try await world.make(
                1, pipeline: hostile,
                model: .failed(StepFailure(hostile, hint: hostile, request: hostile, body: hostile)),
                kind: .jobFailed, captures: ["id": .string(hostile)])
            for target in ["/", "/jobs/\(job)", "/pipelines", "/services", "/?q=%3Cscript%3Ealert(1)"] {
                let body = try world.get(target, cookie: cookie).body
                #expect(!body.contains("<script>alert") && !body.contains("<img src=x"), "\(target)")
            }
            #expect(try world.get("/", cookie: cookie).shows("&lt;script&gt;alert(1)"))
        }
    }

    @Test("secret captures are not shown; of a document that can't be planned none is")
    func secrets() async throws {
        try await withWorld { world, cookie in
            let source = DashboardWorld.document.replacing(
                "\"capture\": { \"id\": \"$.id\" }",
                with: "\"capture\": { \"id\": \"$.id\", \"key\": { \"select\": \"$.key\", \"secret\": true } }")
            let values: JSONObject = ["id": "m-17", "key": "TOP-SECRET"]
            let job = try await world.make(1, captures: values, source: source)
            let unplanned = try await world.make(2, pipeline: "other", captures: values, source: "{}")
            for id in [job, unplanned] {
                #expect(try !world.get("/jobs/\(id)", cookie: cookie).shows("TOP-SECRET"))
            }
            #expect(try !world.get("/jobs/\(unplanned)", cookie: cookie).shows("m-17"))
        }
    }

    @Test("script and looks stay within 10 and 30 KB")
    func assets() async throws {
        try await withWorld { world, _ in
            let (script, style) = (try world.get("/script.js").body, try world.get("/style.css").body)
            #expect(script.utf8.count <= 10 << 10 && script.contains("EventSource"))
            #expect(script.utf8.count + style.utf8.count <= 30 << 10 && style.contains(".picture"))
        }
    }

    @Test("each change is told once, by the number that a broken stream goes on from")
    func changes() async throws {
        try await withWorld { world, cookie in
            let first = try await world.make(1)
            let mark = try await world.journal.lastChange()
            func stream(_ fields: String) throws -> RawConnection {
                let connection = try RawConnection(port: world.service.port)
                connection.send("GET /changes HTTP/1.1\r\nHost: \(world.host)\r\nCookie: \(cookie)\r\n\(fields)\r\n")
                return connection
            }
            let live = try stream("Last-Event-ID: \(mark)\r\n")
            #expect(live.text(through: ": connected\n\n")?.contains("text/event-stream") == true)
            try await world.touch(first)
            let told = try #require(live.text(through: "\"]\n\n"))
            #expect(told.hasSuffix("event: change\nid: \(mark + 1)\ndata: [\"\(first)\"]\n\n"))
            let second = try await world.make(2)
            #expect(live.text(through: "\"]\n\n")?.contains(second.text) == true)
            // Another one goes on where this one was after the first event.
            let again = try stream("Last-Event-ID: \(mark + 1)\r\n")
            #expect(again.text(through: "\"]\n\n")?.hasSuffix("id: \(mark + 2)\ndata: [\"\(second)\"]\n\n") == true)
        }
    }

    @Test("sixteen streams, and the next is told to come later; one that ends makes room")
    func streams() async throws {
        try await withWorld { world, cookie in
            func stream() throws -> RawConnection {
                let connection = try RawConnection(port: world.service.port)
                connection.send("GET /changes HTTP/1.1\r\nHost: \(world.host)\r\nCookie: \(cookie)\r\n\r\n")
                return connection
            }
            var open = try (0..<ChangeStreams.limit).map { _ in try stream() }
            for connection in open { #expect(connection.text(through: ": connected\n\n") != nil) }
            #expect(try stream().text(through: "\r\n")?.contains("503") == true)
            open.removeLast()
            // Its end is heard of in the server's own time: the suite's limit is this loop's.
            while try stream().text(through: "\r\n")?.contains("200") != true {}
        }
    }

    @Test("a page comes while a hundred connections trickle")
    func slow() async throws {
        try await withWorld { world, cookie in
            let slow = try (0..<100).map { _ in try RawConnection(port: world.service.port) }
            for connection in slow { connection.send("GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ") }
            #expect(try world.get("/", cookie: cookie).status == 200)
            for connection in slow { connection.send("y") }
            #expect(try world.get("/", cookie: cookie).status == 200)
            // More than there is room for: those that hold on longest without a word go.
            let more = try (0..<DashboardListener.connectionLimit).map { _ in
                try RawConnection(port: world.service.port)
            }
            #expect(try world.get("/", cookie: cookie).status == 200)
            withExtendedLifetime((slow, more)) {}
        }
    }

    @Test("five hundred broken requests are refused or ignored, and none of them harms")
    func fuzzed() async throws {
        try await withWorld { world, cookie in
            let job = try await world.make(1)
            var random = Randomness(seed: 20_261_122)
            let seeds = [
                "GET / HTTP/1.1\r\nHost: \(world.host)\r\nCookie: \(cookie)\r\n\r\n",
                "GET /jobs/\(job)?x=%00&q=%ff HTTP/1.1\r\nHost: \(world.host)\r\nCookie: \(cookie)\r\n\r\n",
                "GET /?state=failed&q=a%25_&since=2d&before=\(job) HTTP/1.1\r\nHost: \(world.host)\r\nCookie: \(cookie)\r\n\r\n",
                "POST /actions HTTP/1.1\r\nHost: \(world.host)\r\nContent-Length: 9\r\n\r\naction=no",
            ]
            for number in 0..<500 {
                var bytes = Array(seeds[number % seeds.count].utf8)
                for _ in 0...random.next(6) {
                    let place = random.next(bytes.count)
                    switch random.next(4) {
                    case 0: bytes[place] = UInt8(random.next(256))
                    case 1: bytes.insert(UInt8(random.next(256)), at: place)
                    case 2: bytes.remove(at: place)
                    default: bytes.insert(contentsOf: bytes[place...].prefix(random.next(40)), at: place)
                    }
                }
                let connection = try RawConnection(port: world.service.port)
                connection.send(bytes)
                connection.endSending()
                let answer = RawResponse(connection.rest())
                #expect(answer.status != 500, "\(String(decoding: bytes, as: UTF8.self))")
            }
            #expect(try world.get("/jobs/\(job)", cookie: cookie).status == 200)
        }
    }
}

/// Numbers that follow from a seed alone (splitmix64).
struct Randomness {
    private var state: UInt64
    init(seed: UInt64) { state = seed }

    mutating func next(_ bound: Int) -> Int {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return Int((value ^ (value >> 31)) % UInt64(max(1, bound)))
    }
}
