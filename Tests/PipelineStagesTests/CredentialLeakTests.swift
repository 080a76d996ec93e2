import HTTPTypes
import JSONPath
import PipelineCore
import PipelineHTTP
import PipelineTestKit
import Testing

@testable import PipelineStages

/// A way by which a service could lead credentials to another origin.
struct LeakAttempt: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let stage: String
    /// True if the other origin is asked at all, without credentials; else the stage refuses to.
    var isFollowed = true
    /// The service's answer; `there` is a URL of the other origin.
    let answer: @Sendable (_ request: ReceivedRequest, _ there: String) -> ScriptedAnswer

    private static func to(_ there: String, _ status: Int, _ more: [(String, String)] = []) -> ScriptedAnswer {
        .status(status, headers: [("Location", there)] + more)
    }

    private static let upload = #""kind": "upload", "file": "FILE", "protocol""#
    private static let sealedBody = #""json": { "key": "${{ secrets.T }}" }"#
    private static let sealedFields = #""fields": { "key": "${{ secrets.T }}" }"#
    private static let sealed = #""headers": { "X-Sealed": "${{ secrets.T }}" }"#

    static let all: [LeakAttempt] = [
        LeakAttempt(
            testDescription: "a redirect of a GET",
            stage: #""kind": "request", "request": { "GET": "/x", \#(sealed) }"#
        ) { _, there in to(there, 302) },
        LeakAttempt(
            testDescription: "a redirect to a URL with the first host as its user",
            stage: #""kind": "request", "request": { "GET": "/x", \#(sealed) }"#
        ) { request, there in
            to(there.replacing("://", with: "://\(request.header("Host")?.split(separator: ":")[0] ?? "")@"), 302)
        },
        LeakAttempt(
            testDescription: "a redirect without a scheme",
            stage: #""kind": "request", "request": { "GET": "/x", \#(sealed) }"#
        ) { _, there in to(String(there.dropFirst("http:".count)), 307) },
        LeakAttempt(
            testDescription: "a redirect of a POST that the author allows",
            stage: #""kind": "request", "request": { "POST": "/x", "json": {}, "redirects": 3, \#(sealed) }"#
        ) { _, there in to(there, 308) },
        LeakAttempt(
            testDescription: "a redirect of a download",
            stage: #""kind": "download", "to": "FILE.got", "request": { "GET": "/x", \#(sealed) }"#
        ) { _, there in to(there, 301) },
        LeakAttempt(
            testDescription: "a captured URL",
            stage: #""kind": "request", "request": { "GET": "${{ stages.first.url }}" }"#
        ) { _, _ in .status(500) },
        LeakAttempt(
            testDescription: "a captured URL of a download",
            stage: #""kind": "download", "to": "FILE.got", "request": { "GET": "${{ stages.first.url }}" }"#
        ) { _, _ in .status(500) },
        LeakAttempt(
            testDescription: "a captured URL of a body that is made from a secret",
            stage: #""kind": "request", "request": { "POST": "${{ stages.first.url }}", \#(sealedBody) }"#,
            isFollowed: false
        ) { _, _ in .status(500) },
        LeakAttempt(
            testDescription: "a captured URL of a form with a file",
            stage: #"\#(upload): "multipart", \#(sealedFields), "request": { "POST": "${{ stages.first.url }}" }"#,
            isFollowed: false
        ) { _, _ in .status(500) },
        LeakAttempt(
            testDescription: "a redirect of a body that is made from a secret",
            stage: #""kind": "request", "request": { "POST": "/x", "redirects": 3, \#(sealedBody) }"#,
            isFollowed: false
        ) { _, there in to(there, 307) },
        LeakAttempt(
            testDescription: "a redirect of a form with a file",
            stage: #"\#(upload): "multipart", \#(sealedFields), "request": { "POST": "/x", "redirects": 3 }"#,
            isFollowed: false
        ) { _, there in to(there, 308) },
        LeakAttempt(
            testDescription: "a Link to the next page",
            stage: """
                "kind": "request", "request": { "GET": "/x" }, "paginate": { "items": "$.data[*]", "next": { "link": "next" } }
                """, isFollowed: false
        ) { _, there in
            .status(200, headers: [("Link", "<\(there)>; rel=\"next\"")], body: #"{"data": [1]}"#)
        },
        LeakAttempt(
            testDescription: "the monitor of a job",
            stage: #""kind": "compute", "submit": { "POST": "/x", "json": {}, "once": { "resend": true } }"#
        ) { _, there in to(there, 202) },
        LeakAttempt(
            testDescription: "the Location of a tus upload",
            stage: #"\#(upload): "tus", "request": { "POST": "/x", \#(sealed) }"#
        ) { request, there in
            to(there, request.method == "OPTIONS" ? 405 : 201, [("Tus-Resumable", "1.0.0")])
        },
        LeakAttempt(
            testDescription: "the Location of a resumable upload",
            stage: #"\#(upload): "resumable", "request": { "POST": "/x", \#(sealed) }"#
        ) { _, there in to(there, 201, [("Upload-Complete", "?0"), ("Upload-Offset", "0")]) },
        LeakAttempt(
            testDescription: "a redirect of a resumable upload's bytes",
            stage: #"\#(upload): "resumable", "request": { "POST": "/x", \#(sealed) }"#
        ) { request, there in
            request.method == "POST"
                ? to("/here", 201, [("Upload-Complete", "?0"), ("Upload-Offset", "0")]) : to(there, 307)
        },
        LeakAttempt(
            testDescription: "the session of a gcs upload",
            stage: #"\#(upload): "gcs", "request": { "POST": "/x", \#(sealed) }"#
        ) { _, there in to(there, 200) },
        LeakAttempt(
            testDescription: "a redirect of an upload in one request",
            stage: #"\#(upload): "put", "request": { "PUT": "/x", "redirects": 2, \#(sealed) }"#
        ) { _, there in to(there, 307) },
    ]
}

@Suite("Credentials stay with their origin", .timeLimit(.minutes(1)))
struct CredentialLeakTests {
    private let folder = TransferFolder()

    @Test("whatever the service says", arguments: LeakAttempt.all)
    func attempt(_ attempt: LeakAttempt) async throws {
        let thief = try LoopbackServer { _ in .json(#"{"state": "done", "data": []}"#) }
        let there = thief.url + "/there"
        let service = try LoopbackServer { attempt.answer($0, there) }
        defer {
            thief.stop()
            service.stop()
        }
        let file = folder.write("a.bin", TransferFolder.bytes(1000))
        let first =
            #"{ "id": "first", "kind": "request", "service": "api", "request": { "GET": "/", "capture": { "url": "$.url" } } }"#
        let stage = attempt.stage.replacing("FILE", with: file)
        let bench = try StageBench(
            "\(first), { \"id\": \"last\", \"service\": \"api\", \(stage) }",
            network: Network(transport: CurlTransport()), secrets: ["T": "sesame-12345"],
            captures: ["first": ["url": .string(there)]], url: service.url,
            with:
                #"[ { "bearer": "${{ secrets.T }}" }, { "apiKey": { "header": "X-Key", "value": "${{ secrets.T }}" } } ]"#,
            folders: JobFolders(document: folder.path, output: folder.path))
        for _ in 0..<4 { if await bench.resume().isFinished { break } }
        let isOwn = attempt.testDescription.hasPrefix("a captured URL")
        #expect(isOwn || service.requests.contains { $0.header("Authorization") == "Bearer sesame-12345" })
        #expect(thief.requests.isEmpty != attempt.isFollowed)
        for request in thief.requests {
            let shown = request.target + request.text + request.headers.map { "\($0.name): \($0.value)\n" }.joined()
            #expect(!shown.contains("sesame") && !shown.contains("Authorization"), "\(shown)")
        }
    }
}
