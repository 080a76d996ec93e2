import Crypto
import Foundation
import Testing

@testable import SelfieStudio

@Suite("Uploads")
struct UploadTests {
    @Test("A plain POST is kept, and the answer says its digest")
    func plain() async throws {
        try await withStudio { server, client in
            let selfie = try Selfie.bytes()
            let video = try await client.upload(selfie)
            #expect(video.bytes == selfie.count)
            #expect(video.sha256 == SHA256.hash(data: selfie).hex)
            let again: Video = try await client.send("GET", "/videos/\(video.id)").decode()
            #expect(again == video)
            #expect(server.counters.uploads == [.init(number: 1, requests: 1, bytes: selfie.count, video: video.id)])
        }
    }

    @Test("A PUT keeps the video under its name")
    func named() async throws {
        try await withStudio { _, client in
            let put = RawRequest(method: "PUT", path: "/videos/me.y4m", body: Array("abc".utf8))
            let video: Video = try await client.send(put).decode()
            #expect(video.id == "me.y4m")
            #expect(try await client.submit("me.y4m").status == 202)
        }
    }

    @Test("The same video that comes in many times at once is kept each time")
    func simultaneous() async throws {
        try await withFolder { folder in
            let library = try VideoLibrary(dataFolder: folder)
            let bytes = Array("abc".utf8)
            let kept = try await withThrowingTaskGroup(of: Video.self) { group in
                for number in 0..<200 {
                    group.addTask {
                        let path = "\(folder)/incoming/\(number)"
                        try DiskFile(creating: path).write(bytes)
                        return try library.accept(.init(path: path, bytes: 3, sha256: "0123"), name: nil)
                    }
                }
                return try await group.reduce(into: Set<String>()) { $0.insert($1.id) }
            }
            #expect(kept == ["v0123"])
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder + "/videos").count == 2)
        }
    }

    @Test("The same video sent again is the same video")
    func contentNamed() async throws {
        try await withStudio { _, client in
            let first = try await client.upload(Array("abc".utf8))
            let second = try await client.upload(Array("abc".utf8))
            let other = try await client.upload(Array("abd".utf8))
            #expect(first == second)
            #expect(first.id != other.id)
        }
    }

    @Test("A plain POST that breaks off leaves nothing behind")
    func brokenPlain() async throws {
        try await withFolder { folder in
            try await withStudio(in: folder) { server, client in
                let request = RawRequest(method: "POST", path: "/videos", body: try Selfie.bytes(), cutAfter: 1000)
                #expect(try await client.replies(to: request).isEmpty)
                #expect(server.counters.uploadBytesReceived == 1000)
                #expect(try await client.send("GET", "/videos").text == "{\"videos\":[]}\n")
            }
            #expect(try FileManager.default.contentsOfDirectory(atPath: "\(folder)/incoming") == [])
        }
    }

    @Test("A resumable upload goes on where the client broke off", arguments: ["3", "5", "6"])
    func resumed(version: String) async throws {
        try await withStudio { server, client in
            let selfie = try Selfie.bytes()
            let upload = ResumableUpload(client: client, version: version)
            let path = try await upload.create(length: selfie.count)
            let half = try await upload.append(selfie, from: 0, at: path, cutAfter: 400_000)
            #expect(half.isEmpty)
            #expect(try await upload.offset(at: path) == 400_000)
            let reply = try #require(try await upload.append(selfie, from: 400_000, at: path).last)
            #expect(reply.status == 201)
            #expect(version == "3" || reply.fields["upload-complete"] == "?1")
            let video: Video = try reply.decode()
            #expect(video.sha256 == SHA256.hash(data: selfie).hex)
            #expect(server.counters.uploadsCreated == 1)
            let expected = Counters.Upload(number: 1, requests: 3, bytes: selfie.count, video: video.id)
            #expect(server.counters.uploads == [expected])
        }
    }

    @Test("A creation with the whole body tells where to go on before it is cut")
    func optimistic() async throws {
        try await withStudio(.with { $0.cutAfter = 300_000 }) { server, client in
            let selfie = try Selfie.bytes()
            let upload = ResumableUpload(client: client)
            let request = RawRequest(
                method: "POST", path: "/videos", fields: upload.fields + [("Upload-Complete", "?1")], body: selfie
            )
            let replies = try await client.replies(to: request)
            #expect(replies.map(\.status) == [104])
            let path = try upload.path(in: replies)
            #expect(try await upload.offset(at: path) == 300_000)
            #expect(server.counters.cut == 1)
            let reply = try #require(try await upload.append(selfie, from: 300_000, at: path).last)
            #expect(reply.status == 201)
            #expect(server.counters.uploadBytesReceived == selfie.count)
        }
    }

    @Test("With a cut of every request each still gets further")
    func cutEveryTime() async throws {
        let settings = StudioSettings.with {
            $0.cutAfter = 400_000
            $0.cutsEveryTime = true
        }
        try await withStudio(settings) { server, client in
            let selfie = try Selfie.bytes()
            let upload = ResumableUpload(client: client)
            let path = try await upload.create(length: selfie.count)
            var offset = 0
            for _ in 0..<2 {
                #expect(try await upload.append(selfie, from: offset, at: path).isEmpty)
                offset = try await upload.offset(at: path)
            }
            #expect(offset == 800_000)
            #expect(try await upload.append(selfie, from: offset, at: path).last?.status == 201)
            #expect(server.counters.cut == 2)
            #expect(server.counters.uploadBytesReceived == selfie.count)
        }
    }

    @Test("Parts are put together in order")
    func parts() async throws {
        try await withStudio { _, client in
            let upload = ResumableUpload(client: client)
            let path = try await upload.create(length: nil)
            let text = Array("abcdef".utf8)
            let part = try await upload.append(Array(text[..<4]), from: 0, at: path, completes: false)
            #expect(part.last?.fields["upload-offset"] == "4")
            let video: Video = try #require(try await upload.append(text, from: 4, at: path).last).decode()
            #expect(video.sha256 == SHA256.hash(data: text).hex)
        }
    }

    @Test("An append at a wrong offset is refused, and ends the upload: the library's way")
    func wrongOffset() async throws {
        try await withStudio { server, client in
            let selfie = try Selfie.bytes()
            let upload = ResumableUpload(client: client)
            let path = try await upload.create(length: selfie.count)
            let reply = try #require(try await upload.append(selfie, from: 17, at: path).last)
            #expect(reply.status == 409)
            #expect(reply.fields["upload-offset"] == "0")
            let head = try await client.send(RawRequest(method: "HEAD", path: path, fields: upload.fields))
            #expect(head.status == 404)
            #expect(server.counters.uploads[0].bytes == server.counters.uploadBytesReceived)
        }
    }

    /// The library stops reading once it has answered; without the gate the next request would wait for ever.
    @Test("A body that is refused does not spoil its connection")
    func refusedBody() async throws {
        try await withStudio { _, client in
            let upload = ResumableUpload(client: client)
            let path = try await upload.create(length: 500_000)
            let body = [UInt8](repeating: 1, count: 400_000)
            let fields = upload.fields + [("Content-Type", "application/partial-upload"), ("Upload-Offset", "9")]
            let replies = try await client.replies(to: [
                RawRequest(method: "PATCH", path: path, fields: fields, body: body, closes: false),
                RawRequest(method: "POST", path: "/videos", body: body, token: "wrong", closes: false),
                RawRequest(method: "GET", path: "/videos"),
            ])
            #expect(replies.map(\.status) == [409, 401, 200])
        }
    }

    @Test("A finished or cancelled upload is not found")
    func gone() async throws {
        try await withStudio { _, client in
            let upload = ResumableUpload(client: client)
            let finished = try await upload.create(length: 3)
            #expect(try await upload.append(Array("abc".utf8), from: 0, at: finished).last?.status == 201)
            let cancelled = try await upload.create(length: 3)
            let delete = RawRequest(method: "DELETE", path: cancelled, fields: upload.fields)
            #expect(try await client.send(delete).status == 204)
            for path in [finished, cancelled] {
                let head = RawRequest(method: "HEAD", path: path, fields: upload.fields)
                #expect(try await client.send(head).status == 404)
            }
        }
    }

    @Test("Newer interop versions than the library's are refused", arguments: ["7", "8"])
    func newer(version: String) async throws {
        try await withStudio { server, client in
            let upload = ResumableUpload(client: client, version: version)
            let fields = upload.fields + [("Upload-Complete", "?0")]
            let reply = try await client.send(RawRequest(method: "POST", path: "/videos", fields: fields))
            #expect(reply.status == 400)
            #expect(server.counters.uploadsCreated == 0)
        }
    }

    @Test("A client that waits for 100 Continue gets it")
    func expectContinue() async throws {
        try await withStudio { _, client in
            let request = RawRequest(
                method: "POST", path: "/videos", fields: [("Expect", "100-continue")], body: [1, 2, 3]
            )
            let replies = try await client.replies(to: request)
            #expect(replies.map(\.status) == [100, 201])
        }
    }

    @Test("A rate makes an upload take its time")
    func rate() async throws {
        try await withStudio(.with { $0.rate = 500_000 }) { _, client in
            let start = ContinuousClock.now
            _ = try await client.upload([UInt8](repeating: 7, count: 150_000))
            #expect(ContinuousClock.now - start > .milliseconds(180))
        }
    }
}

/// The requests of draft-ietf-httpbis-resumable-upload, in the interop versions that the library speaks.
struct ResumableUpload {
    var client: RawClient
    var version = "6"

    var fields: [(String, String)] { [("Upload-Draft-Interop-Version", version)] }

    private func complete(_ isComplete: Bool) -> (String, String) {
        version == "3"
            ? ("Upload-Incomplete", isComplete ? "?0" : "?1") : ("Upload-Complete", isComplete ? "?1" : "?0")
    }

    func create(length: Int?) async throws -> String {
        let length = length.map { [("Upload-Length", String($0))] } ?? []
        let fields = fields + [complete(false)] + length
        let replies = try await client.replies(to: RawRequest(method: "POST", path: "/videos", fields: fields))
        #expect(replies.map(\.status) == [104, 201])
        return try path(in: replies)
    }

    func path(in replies: [RawReply]) throws -> String {
        let location = try #require(replies.first?.fields["location"])
        return try #require(URL(string: location)).path
    }

    func offset(at path: String) async throws -> Int {
        let reply = try await client.send(RawRequest(method: "HEAD", path: path, fields: fields))
        #expect(reply.status == 204)
        return try #require(reply.fields["upload-offset"].flatMap { Int($0) })
    }

    func append(
        _ bytes: [UInt8], from offset: Int, at path: String, completes: Bool = true, cutAfter: Int? = nil
    ) async throws -> [RawReply] {
        let own = [
            ("Content-Type", "application/partial-upload"), ("Upload-Offset", String(offset)), complete(completes),
        ]
        let body = Array(bytes[offset...])
        return try await client.replies(
            to: RawRequest(method: "PATCH", path: path, fields: fields + own, body: body, cutAfter: cutAfter)
        )
    }
}
