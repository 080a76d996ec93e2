import HTTPTypes
import PipelineCore
import PipelineHTTP
import PipelineTestKit
import Testing

@testable import PipelineStages

@Suite("A session of a resumable upload")
struct ResumableSessionTests {
    private static let upload = "http://h/uploads/1"

    private func answer(_ status: Int, _ fields: [String: String] = [:], from url: String = "http://h/videos")
        -> HTTPExchangeResponse
    {
        var headers = HTTPFields()
        for (name, value) in fields { headers[HTTPField.Name(name)!] = value }
        return HTTPExchangeResponse(status: status, headers: headers, url: url)
    }

    private func created(_ session: inout ResumableSession, _ more: [String: String] = [:]) -> UploadStep {
        _ = session.begin()
        let fields = ["Location": "/uploads/1", "Upload-Offset": "0"].merging(more) { $1 }
        return session.next(after: answer(201, fields))
    }

    private func resumed(confirmed: Int64 = 0, mayBeComplete: Bool = false) -> ResumableSession {
        var session = ResumableSession(
            total: 100, version: .v8, url: Self.upload, confirmed: confirmed, mayBeComplete: mayBeComplete)
        _ = session.begin()
        return session
    }

    private func request(_ step: UploadStep) -> UploadRequest? {
        if case .send(let request) = step { request } else { nil }
    }

    @Test(
        "creates with the fields of its version",
        arguments: [
            (InteropVersion.v8, "Upload-Complete", "?0"), (.v6, "Upload-Complete", "?0"),
            (.v5, "Upload-Complete", "?0"),
            (.v3, "Upload-Incomplete", "?1"),
        ])
    func creation(version: InteropVersion, name: String, flag: String) {
        var session = ResumableSession(total: 100, version: version, isVersionSettled: true)
        let first = request(session.begin())
        #expect(first?.headers[HTTPField.Name(name)!] == flag)
        #expect(first?.headers[.uploadDraftInteropVersion] == "\(version.rawValue)")
        #expect(first?.headers[.uploadLength] == "100")
        #expect(first?.body == .empty)
        let second = request(session.next(after: answer(201, ["Location": "/uploads/1", "Upload-Offset": "0"])))
        #expect(second?.url == Self.upload)
        #expect(second?.headers[HTTPField.Name(name)!] == (flag == "?0" ? "?1" : "?0"))
        #expect(second?.headers[.contentType] == (version >= .v6 ? "application/partial-upload" : nil))
        #expect(second?.body == .file(offset: 0, count: 100))
    }

    /// The version that the service named was not read, nor was the upload that it made kept as a resumable one.
    @Test("an offer that is refused in another version goes on in that")
    func refusedOffer() {
        var session = ResumableSession(offering: 100, chunk: UploadChunk(part: .max))
        #expect(request(session.begin())?.purpose == .whole)
        let second = request(session.next(after: answer(400, ["Upload-Draft-Interop-Version": "5"])))
        #expect(second?.purpose == .create && second?.body == .empty)
        #expect(second?.headers[.uploadDraftInteropVersion] == "5")
        var checkpoint = UploadCheckpoint()
        session.record(in: &checkpoint)
        #expect(checkpoint.terms.chosen == .resumable && checkpoint.terms.version == .v5)
        #expect(!session.position.mayBeComplete)
        var taken = ResumableSession(offering: 100, chunk: UploadChunk(part: .max))
        _ = taken.begin()
        _ = taken.next(after: answer(201, ["Location": "/uploads/1", "Upload-Complete": "?0"]))
        checkpoint = UploadCheckpoint()
        taken.record(in: &checkpoint)
        #expect(
            checkpoint.terms.chosen == .resumable
                && checkpoint.phase == .open(OpenUpload(url: Self.upload, mayBeComplete: true)))
        var refused = ResumableSession(offering: 100, chunk: UploadChunk(part: .max))
        _ = refused.begin()
        #expect(refused.next(after: answer(400, ["Upload-Draft-Interop-Version": "8"])) == .done)
    }

    /// The offset in the answer to a creation was not compared with the file's length.
    @Test("a service that says it has more than there is contradicts itself")
    func tooMuch() {
        var session = ResumableSession(total: 100)
        let wrong = UploadStep.fail(.wrong("the service says it has 101 bytes of a file that has 100"))
        #expect(created(&session, ["Upload-Offset": "101"]) == wrong)
        var other = resumed()
        #expect(other.next(after: answer(204, ["Upload-Offset": "101"], from: Self.upload)) == wrong)
    }

    /// A late append of an owner that was killed ended the upload between our question and our append; its conflict
    /// was taken for the target's refusal.
    @Test("asks for the last answer again when a conflict says that the upload is complete")
    func completedByAnother() {
        var session = resumed()
        let offset = answer(204, ["Upload-Offset": "40"], from: Self.upload)
        #expect(request(session.next(after: offset))?.purpose == .append)
        let conflict = answer(409, ["Upload-Offset": "100", "Upload-Complete": "?1"], from: Self.upload)
        #expect(request(session.next(after: conflict))?.purpose == .replay)
        #expect(session.next(after: answer(201, ["Upload-Complete": "?1"], from: Self.upload)) == .done)
    }

    @Test("tries older versions one after the other, and keeps the one that is answered")
    func negotiation() {
        var session = ResumableSession(total: 100)
        _ = session.begin()
        var tried = [session.version]
        for status in [400, 412, 501] {
            _ = session.next(after: answer(status))
            tried.append(session.version)
        }
        #expect(tried == [.v8, .v6, .v5, .v3])
        #expect(session.next(after: answer(400)) == .fail(.refused))
    }

    @Test("goes to the version that a refusal names, and believes one that names its own")
    func namedVersion() {
        var session = ResumableSession(total: 100)
        _ = session.begin()
        _ = session.next(after: answer(400, ["Upload-Draft-Interop-Version": "5"]))
        #expect(session.version == .v5)
        #expect(session.next(after: answer(400, ["Upload-Draft-Interop-Version": "5"])) == .fail(.refused))
    }

    @Test("never changes its version in the middle")
    func settled() {
        var session = ResumableSession(total: 100)
        _ = created(&session)
        #expect(session.next(after: answer(400, from: Self.upload)) == .fail(.refused))
        #expect(session.version == .v8)
    }

    @Test("asks before it sends to a Location of which nothing says that it is an upload")
    func noEvidence() {
        var session = ResumableSession(total: 100)
        _ = session.begin()
        let step = request(session.next(after: answer(201, ["Location": "/videos/1"])))
        #expect(step?.method == .head)
        #expect(session.next(after: answer(200, from: "http://h/videos/1")) == .fail(.unsupported))
    }

    @Test("takes the address from a 104 when the answer is lost, and two addresses are a contradiction")
    func informed() {
        var session = ResumableSession(total: 100)
        _ = session.begin()
        session.take(
            informational: 104, [.uploadDraftInteropVersion: "6", .location: "/other"], from: "http://h/videos")
        #expect(session.position.url == nil)
        session.take(
            informational: 104, [.uploadDraftInteropVersion: "8", .location: "/uploads/1"], from: "http://h/videos")
        #expect(session.position.url == Self.upload)
        guard case .fail(.contradiction) = session.next(after: answer(201, ["Location": "/uploads/2"])) else {
            Issue.record("two addresses were accepted")
            return
        }
        #expect(session.cancellation?.url == Self.upload)
    }

    @Test(
        "begins with the offset where an upload exists, and goes on from what the service has",
        arguments: [0, 40, 100] as [Int64])
    func offset(held: Int64) {
        var session = resumed(confirmed: 10)
        let step = request(session.next(after: answer(204, ["Upload-Offset": "\(held)", "Upload-Complete": "?0"])))
        #expect(step?.purpose == .append)
        #expect(step?.headers[.uploadOffset] == "\(held)")
        #expect(step?.body == (held == 100 ? .empty : .file(offset: held, count: 100 - held)))
        #expect(session.position.confirmed == held)
    }

    @Test("does not take an upload for complete of which bytes are missing")
    func cutShort() {
        let wrong = UploadStep.fail(.wrong("the service calls an upload complete of which it has 60 of 100 bytes"))
        let fields = ["Upload-Offset": "60", "Upload-Complete": "?1"]
        var asking = resumed(mayBeComplete: true)
        #expect(asking.next(after: answer(204, fields)) == wrong)
        for status in [201, 409] {
            var appending = resumed()
            _ = appending.next(after: answer(204, ["Upload-Offset": "0"]))
            #expect(appending.next(after: answer(status, fields)) == wrong)
        }
        // A target may refuse what it has seen the beginning of.
        var refusing = resumed()
        _ = refusing.next(after: answer(204, ["Upload-Offset": "0"]))
        #expect(refusing.next(after: answer(422, fields)) == .done)
    }

    @Test("asks for the last answer again when the upload is complete")
    func replay() {
        var session = resumed(mayBeComplete: true)
        let step = request(session.next(after: answer(204, ["Upload-Offset": "100", "Upload-Complete": "?1"])))
        #expect(step?.purpose == .replay)
        #expect(session.isReplaying)
        #expect(session.next(after: answer(201, ["Upload-Complete": "?1"])) == .done)
    }

    @Test("is gone when nothing is left to ask", arguments: [404, 410])
    func gone(status: Int) {
        var asking = resumed()
        #expect(asking.next(after: answer(status)) == .fail(.gone))
        var replaying = resumed()
        _ = replaying.next(after: answer(204, ["Upload-Offset": "100", "Upload-Complete": "?1"]))
        #expect(replaying.next(after: answer(status)) == .fail(.gone))
        var appending = resumed()
        _ = appending.next(after: answer(204, ["Upload-Offset": "10"]))
        #expect(appending.next(after: answer(status)) == .fail(.gone))
    }

    @Test(
        "takes the target's answer as its end, whatever its status and the spelling",
        arguments: [
            (201, ["Upload-Complete": "?1"]), (201, [:]), (201, ["Upload-Incomplete": "?0"]),
            (507, ["Upload-Incomplete": "?0"]),
            (422, ["Upload-Complete": "?1"]),
        ] as [(Int, [String: String])])
    func end(status: Int, fields: [String: String]) {
        var session = resumed()
        _ = session.next(after: answer(204, ["Upload-Offset": "0"]))
        #expect(session.position.mayBeComplete)
        #expect(session.next(after: answer(status, fields)) == .done)
    }

    @Test("asks again when all was taken and the upload is not complete")
    func incomplete() {
        var session = resumed()
        _ = session.next(after: answer(204, ["Upload-Offset": "0"]))
        let step = request(session.next(after: answer(200, ["Upload-Complete": "?0"])))
        #expect(step?.method == .head)
    }

    /// A last answer that names no completeness was the end, whatever offset it named.
    @Test("believes the offset of an answer that does not say whether the upload is complete", arguments: [99, 100])
    func offsetAtEnd(offset: Int) {
        var session = resumed()
        _ = session.next(after: answer(204, ["Upload-Offset": "0"]))
        let step = session.next(after: answer(204, ["Upload-Offset": "\(offset)"]))
        if offset == 100 { #expect(step == .done) } else { #expect(request(step)?.method == .head) }
    }

    @Test("goes on at the offset of a 409")
    func conflict() {
        var session = resumed()
        _ = session.next(after: answer(204, ["Upload-Offset": "50"]))
        let step = request(session.next(after: answer(409, ["Upload-Offset": "30"])))
        #expect(step?.body == .file(offset: 30, count: 70))
        #expect(request(session.next(after: answer(409)))?.method == .head)
    }

    @Test("ends where a service sends it round in circles")
    func circles() {
        var session = resumed()
        var step = session.next(after: answer(204, ["Upload-Offset": "50"]))
        for _ in 0..<20 {
            guard case .send = step else { break }
            step = session.next(after: answer(409, ["Upload-Offset": "50"]))
        }
        guard case .fail(.wrong) = step else {
            Issue.record("it goes on for ever")
            return
        }
    }

    /// Each time the bytes were kept again, the answers before were forgotten.
    @Test("ends where bytes are kept, lost and kept again")
    func lostAndKept() {
        var session = resumed()
        _ = session.next(after: answer(204, ["Upload-Offset": "0", "Upload-Limit": "max-append-size=50"]))
        var step = UploadStep.done
        for _ in 0..<40 {
            step = session.next(after: answer(201, ["Upload-Offset": "50", "Upload-Complete": "?0"]))
            guard case .send = step else { break }
            step = session.next(after: answer(409, ["Upload-Offset": "0"]))
            guard case .send = step else { break }
        }
        guard case .fail(.wrong) = step else {
            Issue.record("it goes on for ever")
            return
        }
    }

    @Test("asks for the offset before it believes that more is there than was sent")
    func moreThanSent() {
        var session = resumed()
        _ = session.next(after: answer(204, ["Upload-Offset": "0", "Upload-Limit": "max-append-size=50"]))
        let step = request(session.next(after: answer(201, ["Upload-Offset": "100", "Upload-Complete": "?0"])))
        #expect(step?.method == .head)
        var tus = TusSession(
            total: 100, chunk: UploadChunk(most: 50, part: 50), url: Self.upload, confirmed: 0, mayBeComplete: false)
        _ = tus.begin()
        _ = tus.next(after: answer(200, ["Upload-Offset": "0"]))
        #expect(request(tus.next(after: answer(204, ["Upload-Offset": "100"])))?.method == .head)
        #expect(request(tus.next(after: answer(200, ["Upload-Offset": "50"])))?.body == .file(offset: 50, count: 50))
    }

    /// The bytes were sent again from where the refused ones had begun, for a conflict.
    @Test("asks for the offset after credentials ended in the midst of an append, and is refused where they stay so")
    func endedCredentials() {
        var session = resumed()
        var tus = TusSession(
            total: 100, chunk: UploadChunk(part: 50), url: Self.upload, confirmed: 0, mayBeComplete: false)
        _ = tus.begin()
        for offset in stride(from: Int64(0), to: 50, by: 10) {
            let kept = answer(200, ["Upload-Offset": "\(offset)", "Tus-Resumable": "1.0.0"])
            #expect(request(session.next(after: kept))?.body == .file(offset: offset, count: 100 - offset))
            #expect(request(session.next(after: answer(401)))?.method == .head)
            #expect(request(tus.next(after: kept))?.purpose == .append)
            #expect(request(tus.next(after: answer(401)))?.method == .head)
        }
        #expect(session.next(after: answer(401)) == .fail(.refused))
        #expect(tus.next(after: answer(401)) == .fail(.refused))
    }

    @Test("follows an upload to where it is redirected", arguments: [301, 302, 307, 308])
    func redirected(status: Int) {
        let moved = answer(status, ["Location": "https://h/uploads/1"], from: Self.upload)
        let target = "https://h/uploads/1"
        var session = resumed()
        #expect(request(session.next(after: moved))?.url == target)
        #expect(request(session.next(after: answer(204, ["Upload-Offset": "50"])))?.url == target)
        var tus = TusSession(
            total: 100, chunk: UploadChunk(part: 50), url: Self.upload, confirmed: 10, mayBeComplete: false)
        _ = tus.begin()
        let question = request(tus.next(after: moved))
        #expect(question?.method == .head && question?.url == target)
        let bytes = request(tus.next(after: answer(200, ["Upload-Offset": "50"])))
        #expect(bytes?.url == target && bytes?.body == .file(offset: 50, count: 50))
        let elsewhere = answer(status, ["Location": "/elsewhere"], from: target)
        #expect(request(tus.next(after: elsewhere))?.url == "https://h/elsewhere")
    }

    /// A network that wants a person to log in redirects all; the address of the upload was gone with that.
    @Test("keeps its address where a redirect leads to a stranger", arguments: [200, 404, 405])
    func redirectedToStranger(status: Int) {
        let portal = answer(302, ["Location": "http://portal/login"], from: Self.upload)
        let page = answer(status, ["Content-Type": "text/html"], from: "http://portal/login")
        for mayBeComplete in [true, false] {
            var session = resumed(confirmed: 10, mayBeComplete: mayBeComplete)
            #expect(request(session.next(after: portal))?.url == "http://portal/login")
            #expect(session.next(after: page) == .fail(.unclear))
            #expect(session.position.url == Self.upload)
            var tus = TusSession(
                total: 100, chunk: UploadChunk(part: 50), url: Self.upload, confirmed: 10, mayBeComplete: mayBeComplete)
            _ = tus.begin()
            #expect(request(tus.next(after: portal))?.url == "http://portal/login")
            #expect(tus.next(after: page) == .fail(.unclear))
            #expect(tus.position.url == Self.upload)
        }
        var appending = resumed()
        _ = appending.next(after: answer(204, ["Upload-Offset": "0"]))
        _ = appending.next(after: portal)
        #expect(appending.next(after: page) == .fail(.unclear))
    }

    /// Behind a proxy that redirects an upload that had expired was asked for until there were no tries left.
    @Test("that a program behind a redirect calls gone is gone, and one that it holds is held")
    func goneBehindRedirect() {
        let moved = answer(308, ["Location": "/moved"], from: Self.upload)
        var session = resumed(confirmed: 10)
        _ = session.next(after: moved)
        #expect(session.next(after: answer(404, [:], from: "https://h/moved")) == .fail(.gone))
        for (status, failure) in [(404, UploadFailure.gone), (423, .busy)] {
            var tus = TusSession(
                total: 100, chunk: UploadChunk(part: 50), url: Self.upload, confirmed: 10, mayBeComplete: false)
            _ = tus.begin()
            _ = tus.next(after: moved)
            let own = answer(status, ["Tus-Resumable": "1.0.0"], from: "https://h/moved")
            #expect(tus.next(after: own) == .fail(failure))
        }
    }

    @Test("has patience with a service that still holds the upload", arguments: [409, 423])
    func busy(status: Int) {
        var session = resumed()
        #expect(session.next(after: answer(status)) == .fail(.busy))
    }

    @Test("that is under way is not given up for an answer that says nothing of it")
    func unclear() {
        var fresh = resumed()
        #expect(fresh.next(after: answer(200)) == .fail(.unsupported))
        var known = resumed(confirmed: 10)
        #expect(known.next(after: answer(200)) == .fail(.unclear))
        var tus = TusSession(
            total: 100, chunk: UploadChunk(part: 50), url: Self.upload, confirmed: 10, mayBeComplete: false)
        _ = tus.begin()
        #expect(tus.next(after: answer(200)) == .fail(.unclear))
    }

    /// After eight parts the upload was given up for good, though it came on with each.
    @Test("goes on with a service that says only when it is asked how much it has")
    func silentAppends() {
        let offer = TusOffer(answer(204, ["Tus-Extension": "checksum", "Tus-Checksum-Algorithm": "sha1"]).headers)
        var tus = TusSession(
            total: 200, chunk: UploadChunk(part: 10), url: Self.upload, confirmed: 0, mayBeComplete: false,
            offer: offer)
        #expect(request(tus.begin())?.method == .head)
        for offset in stride(from: Int64(0), to: 200, by: 10) {
            let bytes = request(tus.next(after: answer(200, ["Upload-Offset": "\(offset)"])))
            #expect(bytes?.body == .file(offset: offset, count: 10))
            #expect(request(tus.next(after: answer(204)))?.method == .head)
        }
        #expect(tus.next(after: answer(200, ["Upload-Offset": "200"])) == .done)
    }

    @Test("does not take a page for people for the end of an upload")
    func page() {
        let page = answer(200, ["Content-Type": "text/html; charset=utf-8"])
        var session = resumed()
        _ = session.next(after: answer(204, ["Upload-Offset": "0"]))
        #expect(session.next(after: page) == .fail(.unclear))
        for isKnown in [true, false] {
            var google = GoogleSession(
                total: 100, chunk: UploadChunk(part: 1 << 20), isGiven: false, url: Self.upload, mayBeComplete: true)
            _ = google.begin()
            if isKnown { _ = google.next(after: answer(308, ["Range": "bytes=0-9"])) }
            #expect(google.next(after: page) == .fail(.unclear))
        }
    }

    @Test("makes a redirected creation with the query of its new address alone")
    func redirectedCreation() async throws {
        let server = try LoopbackServer { request in
            switch (request.method, request.target) {
            case ("POST", "/old?a=1"): .status(308, headers: [("Location", "/new?b=2")])
            case ("POST", _): .status(201, headers: [("Location", "/up"), ("Upload-Offset", "0")])
            default: .status(201, headers: [("Upload-Complete", "?1")])
            }
        }
        defer { server.stop() }
        let folder = TransferFolder()
        folder.write("a.bin", [1, 2, 3])
        let bench = try TransferBench(
            """
            { "id": "move", "kind": "upload", "service": "api", "file": "a.bin", "protocol": "resumable",
              "request": { "POST": "/old", "query": { "a": 1 } } }
            """, url: server.url, folder: folder.path)
        #expect(await bench.resume().finished != nil)
        #expect(server.requests.map(\.target) == ["/old?a=1", "/new?b=2", "/up"])
    }

    @Test("tells how long the service keeps it, once for each answer that says so", arguments: ["max-age", "expires"])
    func lifetime(name: String) {
        var session = ResumableSession(total: 100)
        _ = session.begin()
        #expect(session.position.lifetime.take() == nil)
        _ = session.next(after: answer(201, ["Location": "/uploads/1", "Upload-Limit": "\(name)=60"]))
        #expect(session.position.lifetime.take() == .lasting(.seconds(60)))
        #expect(session.position.lifetime.take() == nil)
        _ = session.next(after: answer(204, ["Upload-Offset": "50", "Upload-Limit": "\(name)=-1"]))
        #expect(session.position.lifetime.take() == nil)
        session.take(
            informational: 104,
            ["Upload-Draft-Interop-Version": "8", "Upload-Limit": "\(name)=90"].reduce(into: HTTPFields()) {
                $0[HTTPField.Name($1.key)!] = $1.value
            }, from: Self.upload)
        #expect(session.position.lifetime.take() == .lasting(.seconds(90)))
    }

    @Test("a session of a store is kept for a week, and dates are counted from the answer's own")
    func otherLifetimes() {
        let chunk = UploadChunk(part: 1 << 20, granularity: GoogleSession.granularity, handedOver: 0)
        var google = GoogleSession(total: 100, chunk: chunk, isGiven: false)
        _ = google.begin()
        _ = google.next(after: answer(200, ["Location": "/uploads/1"]))
        #expect(google.position.lifetime.take()?.end(at: .epoch) == .epoch + .seconds(604_800))
        let date = Timestamp(milliseconds: 1_000_000_000_000)
        let dated: HTTPFields = [.date: date.httpDate]
        let text = (date + .seconds(30)).httpDate
        #expect(UploadLifetime(date: text, in: dated) == .lasting(.seconds(30)))
        #expect(UploadLifetime(date: text, in: [:]) == .until(date + .seconds(30)))
        #expect(UploadLifetime(date: "soon", in: [:]) == nil && UploadLifetime(date: nil, in: dated) == nil)
    }

    @Test("keeps to the limits of the service")
    func limits() {
        var session = ResumableSession(total: 100)
        let first = request(created(&session, ["Upload-Limit": "max-append-size=40, max-age=60"]))
        #expect(first?.body == .file(offset: 0, count: 40))
        #expect(first?.headers[.uploadComplete] == "?0")
        #expect(!session.position.mayBeComplete)
        let second = request(session.next(after: answer(201, ["Upload-Offset": "40"])))
        #expect(second?.body == .file(offset: 40, count: 40))
        let third = request(session.next(after: answer(201)))
        #expect(third?.body == .file(offset: 80, count: 20))
        #expect(third?.headers[.uploadComplete] == "?1")
        var small = ResumableSession(total: 100)
        #expect(created(&small, ["Upload-Limit": "max-size=99"]) == .fail(.tooLarge(99)))
        var ignored = ResumableSession(total: 100)
        #expect(request(created(&ignored, ["Upload-Limit": "max-size=?1"])) != nil)
    }

    @Test("sends less after 413, and follows 307 and 308 to a new address")
    func smallerAndElsewhere() {
        var session = ResumableSession(total: 1 << 20)
        _ = created(&session)
        #expect(request(session.next(after: answer(413)))?.method == .head)
        let step = request(session.next(after: answer(204, ["Upload-Offset": "0"])))
        #expect(step?.body == .file(offset: 0, count: 1 << 19))
        var checkpoint = UploadCheckpoint()
        session.record(in: &checkpoint)
        #expect(checkpoint.terms.chunk == 1 << 19, "the next try begins with it")
        let moved = request(session.next(after: answer(308, ["Location": "http://other/u/9"], from: Self.upload)))
        #expect(moved?.url == "http://other/u/9")
        #expect(moved?.body == .file(offset: 0, count: 1 << 19))
        #expect(session.position.url == Self.upload, "until something there knows of the upload")
        _ = session.next(after: answer(201, ["Upload-Offset": "\(1 << 19)"], from: "http://other/u/9"))
        #expect(session.position.url == "http://other/u/9")
    }

    @Test("sends no less than the service takes, but for the end of the file")
    func leastAppend() {
        var session = ResumableSession(total: 10_000)
        let limits = ["Upload-Limit": "min-append-size=4000, max-append-size=6000"]
        #expect(request(created(&session, limits))?.body == .file(offset: 0, count: 6000))
        // Half of it would be less than the service takes.
        #expect(request(session.next(after: answer(413)))?.method == .head)
        let first = request(session.next(after: answer(204, ["Upload-Offset": "0"])))
        #expect(first?.body == .file(offset: 0, count: 4000))
        #expect(request(session.next(after: answer(204)))?.body == .file(offset: 4000, count: 4000))
        let last = request(session.next(after: answer(204)))
        #expect(last?.body == .file(offset: 8000, count: 2000))
        #expect(last?.headers[.uploadComplete] == "?1")
        var strict = ResumableSession(total: 10_000)
        _ = created(&strict, ["Upload-Limit": "min-append-size=10000"])
        #expect(strict.next(after: answer(413)) == .fail(.refused))
    }

    @Test("believes no offset beyond the end of the file")
    func beyond() {
        var session = resumed()
        guard case .fail(.wrong) = session.next(after: answer(204, ["Upload-Offset": "101"])) else {
            Issue.record("an impossible offset was accepted")
            return
        }
    }
}
