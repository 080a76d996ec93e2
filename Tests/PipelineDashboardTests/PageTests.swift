import Assertions
import Foundation
import JSONPath
import PipelineCore
import PipelineKit
import PipelinePictures
import PipelineServer
import PipelineTestKit
import SeededNumbers
import Testing

@testable import PipelineDashboard

/// What the pages show, and what they never show.
@Suite("Pages of the dashboard", .serialized, .timeLimit(.minutes(3)))
struct PageTests {
    private func withWorld(_ body: (DashboardWorld, String) async throws -> Void) async throws {
        let world = try await DashboardWorld()
        do { try await body(world, await world.signIn()) } catch {
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
                let page = try await world.get(target, cookie: cookie)
                #expect(page.shows(text), "\(target)")
            }
            let missing = try await world.get("/jobs/none", cookie: cookie)
            #expect(missing.status == 404)
        }
    }

    @Test("the list shows each job with its state and reason, by filters of the address, page by page")
    func list() async throws {
        try await withWorld { world, cookie in
            for number in 0..<60 { try await world.make(number, key: "job-\(number)", kind: .jobSucceeded) }
            let failed = StepState.failed(StepFailure("the quota is used up"))
            try await world.make(61, key: "bad", model: failed, kind: .jobFailed)
            let page = try await world.get("/", cookie: cookie).body
            #expect(page.components(separatedBy: "<tr id=\"job-").count == 51)
            let older = try #require(page.firstRange(of: "href=\"/?before="))
            let address = page[older.upperBound...].prefix { $0 != "\"" }
            let next = try await world.get("/?before=\(address)", cookie: cookie).body
            #expect(next.components(separatedBy: "<tr id=\"job-").count == 12)
            let bad = try await world.get("/?state=failed", cookie: cookie).body
            #expect(bad.contains("model: the quota is used up") && !bad.contains(">job-3<"))
            #expect(try await world.get("/?q=QUOTA", cookie: cookie).shows(">bad<"))
            #expect(try await !world.get("/?since=30s", cookie: cookie).shows("<tr id"))
            #expect(try await world.get("/?since=1d", cookie: cookie).shows("<tr id"))
        }
    }

    @Test("a job's page tells why it does not go on, until when, and what can be done")
    func why() async throws {
        try await withWorld { world, cookie in
            let until = SystemClock().now + .seconds(600)
            let job = try await world.make(
                1, model: .waiting(AttemptState(), .at(until), WaitReason(.poll, detail: "still rendering")))
            let page = try await world.get("/jobs/\(job)", cookie: cookie).body
            #expect(page.contains("Why it is not going on") && page.contains("still rendering"))
            #expect(page.contains("<time datetime=\"\(until)\""))
            #expect(page.contains("aria-label=\"upload succeeded, model waiting, fetch pending\""), "its graph")
            #expect(page.contains("When each stage was at work") && page.contains("As numbers"))
        }
    }

    @Test("of a submit that was made ready once more it is said that one came before it")
    func submits() async throws {
        try await withWorld { world, cookie in
            let failed = StepState.failed(StepFailure("the remote job failed"))
            func page(_ number: Int, _ submit: SubmitRecord) async throws -> RawResponse {
                let job = try await world.make(number, model: failed, kind: .jobFailed, submit: submit)
                return try await world.get("/jobs/\(job)", cookie: cookie)
            }
            let next = try await page(1, SubmitRecord(key: "key-2", generation: 2, digest: ""))
            #expect(next.shows("not sent; submit 1 came before it"))
            var sent = SubmitRecord(key: "key-2", generation: 2, digest: "", phase: .submitted)
            sent.sends = 1
            #expect(try await !page(2, sent).shows("came before it"))
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
                let body = try await world.get(target, cookie: cookie).body
                #expect(!body.contains("<script>alert") && !body.contains("<img src=x"), "\(target)")
            }
            #expect(try await world.get("/", cookie: cookie).shows("&lt;script&gt;alert(1)"))
        }
    }

    @Test("secret captures are not shown; of a document that can't be planned none is")
    func secrets() async throws {
        try await withWorld { world, cookie in
            let source = DashboardWorld.document.replacing(
                "\"capture\": { \"id\": \"$.id\" }",
                with: "\"capture\": { \"id\": \"$.id\", \"token\": { \"select\": \"$.key\", \"secret\": true } }")
            let values: JSONObject = ["id": "m-17", "token": "TOP-SECRET", "link": "/files?token=TOP-SECRET&page=22"]
            let job = try await world.make(1, captures: values, source: source)
            let unplanned = try await world.make(2, pipeline: "other", captures: values, source: "{}")
            for id in [job, unplanned] {
                #expect(try await !world.get("/jobs/\(id)", cookie: cookie).shows("TOP-SECRET"))
            }
            let page = try await world.get("/jobs/\(job)", cookie: cookie)
            #expect(page.shows("/files?token=‹secret:model.token›&amp;page=22"))
            #expect(try await !world.get("/jobs/\(unplanned)", cookie: cookie).shows("m-17"))
        }
    }

    /// The page said that a secret was missing, not which, and named a command that could not do.
    @Test("a job that waits for a secret says for which, and the whole command")
    func missingSecret() async throws {
        try await withWorld { world, cookie in
            let source = DashboardWorld.document.replacing(
                "\"inputs\": {", with: "\"inputs\": { \"pw\": { \"type\": \"string\", \"secret\": true },")
            let job = try await world.make(1, source: source)
            let sequence = try #require(try await world.journal.snapshot(of: job)).sequence
            let told = JobEvent(
                sequence: sequence + 1, time: SystemClock().now, kind: .jobSuspended, job: job, pipeline: "caption",
                data: ["detail": "the secret TOKEN is not set"])
            try await world.journal.commit(
                [.event(told), .released(.secret)], under: Lease(job: job, owner: world.owner, epoch: 1))
            let page = try await world.get("/jobs/\(job)", cookie: cookie)
            #expect(page.shows("The job is suspended: the secret TOKEN is not set."), "\(page.text)")
            #expect(page.shows("pipeline resume \(job) -i pw=…</code>"))
        }
    }

    /// The page said that more would cost more than may be spent.
    @Test("a batch of which no item says what it cost stands for that, on its page and in the list")
    func unpricedBatch() async throws {
        try await withWorld { world, cookie in
            let made = try await SampleJobs(world).makeUnpricedBatch()
            for target in ["/batches/\(made)", "/"] {
                let page = try await world.get(target, cookie: cookie)
                #expect(page.shows("no item has said what it cost, so that --spend bounds nothing"), "\(page.text)")
            }
        }
    }

    @Test("script and looks stay within 10 and 30 KB")
    func assets() async throws {
        try await withWorld { world, _ in
            let (script, style) = (try await world.get("/script.js").body, try await world.get("/style.css").body)
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
            #expect(await live.text(through: ": connected\n\n")?.contains("text/event-stream") == true)
            try await world.touch(first)
            let told = try #require(await live.text(through: "\"]\n\n"))
            #expect(told.hasSuffix("event: change\nid: \(mark + 1)\ndata: [\"\(first)\"]\n\n"))
            let second = try await world.make(2)
            #expect(await live.text(through: "\"]\n\n")?.contains(second.text) == true)
            // Another one goes on where this one was after the first event.
            let again = try stream("Last-Event-ID: \(mark + 1)\r\n")
            #expect(
                await again.text(through: "\"]\n\n")?.hasSuffix("id: \(mark + 2)\ndata: [\"\(second)\"]\n\n") == true)
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
            for connection in open { #expect(await connection.text(through: ": connected\n\n") != nil) }
            #expect(try await stream().text(through: "\r\n")?.contains("503") == true)
            open.removeLast()
            // Its end is heard of in the server's own time: the suite's limit is this loop's.
            while try await stream().text(through: "\r\n")?.contains("200") != true {}
        }
    }

    @Test("a page comes while a hundred connections trickle")
    func slow() async throws {
        try await withWorld { world, cookie in
            let slow = try (0..<100).map { _ in try RawConnection(port: world.service.port) }
            for connection in slow { connection.send("GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ") }
            #expect(try await world.get("/", cookie: cookie).status == 200)
            for connection in slow { connection.send("y") }
            #expect(try await world.get("/", cookie: cookie).status == 200)
            // More than there is room for: those that hold on longest without a word go.
            let more = try (0..<DashboardListener.connectionLimit).map { _ in
                try RawConnection(port: world.service.port)
            }
            #expect(try await world.get("/", cookie: cookie).status == 200)
            withExtendedLifetime((slow, more)) {}
        }
    }

    @Test("a request that is too long is answered once, also when its sender is gone before its end")
    func tooLong() async throws {
        try await withWorld { world, cookie in
            let head = "POST /actions HTTP/1.1\r\nHost: \(world.host)\r\nContent-Length: 9999999\r\n\r\naction"
            #expect(try await world.send(head).status == 413)
            // What is no HTTP any more is answered by another handler: the two must not both answer.
            for _ in 0..<200 {
                let connection = try RawConnection(port: world.service.port)
                connection.send(head)
                connection.endSending()
                #expect([0, 413].contains(RawResponse(await connection.rest()).status))
            }
            #expect(try await world.get("/", cookie: cookie).status == 200)
        }
    }

    @Test("five hundred broken requests as bytes are refused or ignored, and none of them harms")
    func fuzzedBytes() async throws {
        try await withWorld { world, cookie in
            let job = try await world.make(1)
            var random = SplitMix64(seed: 20_261_122)
            let own = "Host: \(world.host)\r\nCookie: \(cookie)\r\n"
            let seeds = [
                "GET / HTTP/1.1\r\n\(own)\r\n", "GET /jobs/\(job)?x=%00&q=%ff HTTP/1.1\r\n\(own)\r\n",
                "POST /actions HTTP/1.1\r\nHost: \(world.host)\r\nContent-Length: 9\r\n\r\naction=no",
            ]
            for number in 0..<500 {
                let bytes = random.mutated(Array(seeds[number % seeds.count].utf8))
                let connection = try RawConnection(port: world.service.port)
                connection.send(bytes)
                // A half of a request is not waited for.
                connection.endSending()
                _ = await connection.rest()
            }
            #expect(try await world.get("/jobs/\(job)", cookie: cookie).status == 200)
        }
    }

    @Test(
        "a hundred requests with anything in their addresses, fields and forms are answered without an error of ours"
    )
    func fuzzedRequests() async throws {
        try await withWorld { world, cookie in
            let job = try await world.make(1)
            var random = SplitMix64(seed: 20_261_123)
            let targets = [
                "/", "/jobs/\(job)?x=%00&q=%ff", "/?state=failed&q=a%25_&since=2d&before=\(job)",
                "/?since=2026-11-22T10:00:00Z&pipeline=caption&batch=\(job)", "/?since=99999d", "/batches/\(job)",
                "/batches/\(job)/results.csv", "/mistakes?x", "/pipelines", "/services", "/workers", "/sign-in?key=0",
            ]
            for number in 0..<100 {
                var headers = [("Host", world.host), ("Cookie", cookie), ("Sec-Fetch-Site", "same-origin")]
                let target = random.mutatedText(targets[number % targets.count])
                if random.below(8) == 0 { headers[random.below(3)].1 = random.mutatedText(headers[random.below(3)].1) }
                let body = random.below(4) == 0 ? random.mutated(Array("action=retry&all=1&q=%zz&since=1d".utf8)) : []
                let method = body.isEmpty ? "GET" : "POST"
                let request = IncomingRequest(method: method, target: target, headers: headers, body: body)
                let answer = await world.service.dashboard.answer(request).response
                #expect(answer.status < 500, "\(method) \(target) \(headers) \(answer)")
            }
            #expect(try await world.get("/jobs/\(job)", cookie: cookie).status == 200)
        }
    }

    @Test("a time before all times, or after them, selects what it says and harms nothing")
    func since() async throws {
        try await withWorld { world, cookie in
            try await world.make(1, key: "one")
            let all = ["99999d", "9999999999d", "0001-01-01", "1969-12-31T23:59:59Z"]
            for since in all {
                #expect(try await world.get("/?since=\(since)", cookie: cookie).status == 200, "\(since)")
            }
            #expect(try await world.get("/?since=0001-01-01", cookie: cookie).shows(">one<"))
            // No time is that long: it selected everything once, as any word did that can't be read.
            #expect(try await world.get("/?since=99999d", cookie: cookie).shows("is no time"))
            #expect(try await !world.get("/?since=9999-12-31", cookie: cookie).shows(">one<"))
        }
    }

    @Test("what a job and a batch cost stands on each page, with what may be spent")
    func cost() async throws {
        try await withWorld { world, cookie in
            let job = try await world.make(1, key: "dear", kind: .jobSucceeded, cost: 1.25)
            let made = try await SampleJobs(world).make()
            #expect(try await world.get("/", cookie: cookie).shows("data-label=\"cost\">1.25</td>"))
            #expect(try await world.get("/jobs/\(job)", cookie: cookie).shows("<dt>Cost</dt><dd>1.25</dd>"))
            let batch = try await world.get("/batches/\(made.batch)", cookie: cookie).body
            #expect(batch.contains("<dt>Cost</dt><dd>51.72<small>of 80</small></dd>"))
            #expect(try await !world.get("/jobs/\(made.waiting)", cookie: cookie).shows("<dt>Cost"))
        }
    }

    @Test("closed services stand where somebody asks why nothing goes on: since when, until when, and what then")
    func closed() async throws {
        try await withWorld { world, cookie in
            let now = SystemClock().now
            let job = try await world.make(
                1, model: .waiting(AttemptState(), .at(now + .seconds(90)), WaitReason(.closed)))
            let open = try await world.make(2)
            let service = ClosedService(
                id: ServiceID("s"), name: "render-farm", since: now, until: now + .seconds(600), closings: 3)
            try await world.journal.closeService(service)
            for target in ["/services", "/jobs/\(job)"] {
                let page = try await world.get(target, cookie: cookie).body
                #expect(
                    page.contains("render-farm") && page.contains("<time datetime=\"\(service.until)\""), "\(target)")
                #expect(page.contains("one request tries it, before the others go on"), "\(target)")
            }
            #expect(try await !world.get("/jobs/\(open)", cookie: cookie).shows("render-farm"))
            var tried = service
            (tried.since, tried.until, tried.trialUntil) = (now - .seconds(60), now - .seconds(1), now + .seconds(30))
            try await world.journal.closeService(tried)
            #expect(try await world.get("/services", cookie: cookie).shows("one request is trying it"))
            try await world.journal.openService(service.id)
            #expect(try await !world.get("/services", cookie: cookie).shows("render-farm"))
        }
    }

    @Test("requests and polls of a service are counted since the journal began, with how many it may work on at a time")
    func counted() async throws {
        try await withWorld { world, cookie in
            var measured = Measurements()
            for _ in 0..<1200 { measured.observe(.requestDuration, ["studio", "GET", "2xx"], 0.5) }
            measured.observe(.requestDuration, ["studio", "GET", "5xx"], 0.5)
            measured.count(.polls, ["studio", "single"], by: 37)
            measured.count(.polls, ["studio", "list"], by: 4)
            measured.count(.transferredBytes, ["studio", "sent"], by: Double(3 << 20))
            let source = DashboardWorld.document.replacing(
                "9/api\" }", with: "9/api\", \"limits\": { \"computations\": 20 } }")
            try await world.make(2, model: .succeeded([:]), kind: .jobSucceeded, source: source)
            let job = try await world.make(1, source: source)
            try await world.journal.commit(
                [.measured(measured), .released(.paused)], under: Lease(job: job, owner: world.owner, epoch: 1))
            var page = ""
            let end = ContinuousClock.now + .seconds(10)
            // Another job had ended a moment before; each look takes some time by itself.
            while !page.contains("<tr><td>studio</td>"), ContinuousClock.now < end {
                page = try await world.get("/services", cookie: cookie).body
            }
            #expect(page.contains("0<small>of 20</small>"))
            let row = try #require(page.firstRange(of: "<tr><td>studio</td>"))
            let cells = page[row.upperBound...].components(separatedBy: "</tr>")[0]
            for cell in [">1\u{202F}201<", ">37<", ">4<", ">3.0 MiB<", ">1<"] {
                #expect(cells.contains(cell), "\(cells)")
            }
        }
    }

    @Test("mistakes of the program stand on a page of their own, and each page counts them; strangers see no folder")
    func mistakes() async throws {
        try await withWorld { world, cookie in
            let job = try await world.make(1)
            #expect(try await world.get("/mistakes", cookie: cookie).shows("<h2>None</h2>"))
            #expect(try await world.get("/", cookie: cookie).shows("Mistakes of the program: none"))
            let files = AssertionFiles(settings: world.workspace.settings)
            for _ in 0..<2 {
                files.record(
                    AssertionFailure(
                        message: "a <step> ended twice", file: "PipelineEngine/X.swift", line: 7, job: job.text,
                        step: "a"))
            }
            let page = try await world.get("/mistakes", cookie: cookie).body
            for text in [
                "a &lt;step&gt; ended twice", "X.swift:7", "/jobs/\(job)", ">2</td>", "pipeline doctor --report",
            ] {
                #expect(page.contains(text), "\(text)")
            }
            #expect(try await world.get("/", cookie: cookie).shows("2 mistakes of the program"))
            #expect(try await !world.get("/").shows(world.folder))
        }
    }
}

extension SplitMix64 {
    /// The bytes with some of them changed, put in, taken out and repeated.
    mutating func mutated(_ seed: [UInt8]) -> [UInt8] {
        var bytes = seed
        for _ in 0...below(6) where !bytes.isEmpty {
            let place = below(bytes.count)
            switch below(4) {
            case 0: bytes[place] = UInt8(below(256))
            case 1: bytes.insert(UInt8(below(256)), at: place)
            case 2: bytes.remove(at: place)
            default: bytes.insert(contentsOf: bytes[place...].prefix(below(40)), at: place)
            }
        }
        return bytes
    }

    mutating func mutatedText(_ seed: String) -> String {
        String(decoding: mutated(Array(seed.utf8)), as: UTF8.self)
    }
}
