import PipelineTestKit
import Testing

@testable import PipelineStages

/// A protocol with a service of its own behind a proxy.
struct TransferWay: Sendable, CustomTestStringConvertible {
    struct Peer: Sendable {
        let server: ServiceServer
        /// Bytes of files that the service has received; nil where they go the other way.
        var received: (@Sendable () -> Int64)?
        /// The whole file at the other end.
        let content: @Sendable () -> [UInt8]?

        init(
            _ service: some LoopbackService, received: (@Sendable () -> Int64)? = nil,
            content: @escaping @Sendable () -> [UInt8]?
        ) {
            server = service.server
            self.received = received
            self.content = content
        }
    }

    /// How a byte that another took the place of is noticed.
    enum Check: Sendable {
        /// The service compares each body with a field of its request.
        case contentDigest
        /// Each request carries its own digest in any case.
        case always
        /// The author says what the file is.
        case verify
    }

    let testDescription: String
    var size = 3_000_000
    /// The most that may go over the network after a break at two thirds, of the file's length.
    let most: Double
    /// The same when two answers were lost.
    var mostWithoutAnswers = 1.02
    var check = Check.contentDigest
    /// The most that may go over the network when a byte was another one.
    var mostCorrupted = 2.02
    /// The stage's own keys; `TIMEOUT` stands where a request's further keys do.
    let stage: String
    let peer: @Sendable (_ content: [UInt8], TransferFolder) throws -> Peer

    var isUpload: Bool { !testDescription.hasPrefix("download") }

    static let all: [TransferWay] = [
        // What has no offset is sent again, whole.
        TransferWay(
            testDescription: "put", most: 1.68, mostWithoutAnswers: 3.01,
            stage: #""kind": "upload", "file": "a.bin", "protocol": "put", "request": { "PUT": "/a" TIMEOUT }"#
        ) { _, _ in try whole { $0 } },
        TransferWay(
            testDescription: "multipart", most: 1.68, mostWithoutAnswers: 3.01,
            stage: """
                "kind": "upload", "file": "a.bin", "protocol": "multipart", "fields": { "title": "a" },
                "request": { "POST": "/a" TIMEOUT }
                """
        ) { content, _ in
            try whole { body in
                // Behind the file stands the end of the form, whose boundary the service does not know beforehand.
                let end = body.dropLast(4).lastIndex(of: UInt8(ascii: "\n")).map { $0 - 1 } ?? 0
                return Array(body[..<end].suffix(content.count))
            }
        },
        // What was still on its way in the broken connection when the next request came is sent again; that nothing else
        // is, the tests of each protocol show with services that cut.
        TransferWay(
            testDescription: "resumable", most: 1.68,
            stage: #""kind": "upload", "file": "a.bin", "protocol": "resumable", "request": { "POST": "/v" TIMEOUT }"#
        ) { _, _ in
            let service = try ResumableService()
            return Peer(service, received: { service.received }) {
                service.uploads.values.first { $0.isComplete }?.bytes
            }
        },
        TransferWay(
            testDescription: "tus", most: 1.68,
            stage: #""kind": "upload", "file": "a.bin", "protocol": "tus", "request": { "POST": "/files/" TIMEOUT }"#
        ) { _, _ in
            let service = try TusService()
            return Peer(service, received: { service.received }) {
                service.uploads.values.first { $0.bytes.count == $0.length }?.bytes
            }
        },
        // This service keeps nothing of what breaks off.
        TransferWay(
            testDescription: "gcs", most: 1.68,
            stage: #""kind": "upload", "file": "a.bin", "protocol": "gcs", "request": { "POST": "/v" TIMEOUT }"#
        ) { _, _ in
            let service = try GoogleService()
            return Peer(service, received: { service.received }) {
                service.sessions.values.first { $0.isComplete }?.bytes
            }
        },
        // A part is sent again.
        TransferWay(
            testDescription: "s3", size: 12_000_000, most: 1.685, check: .always, mostCorrupted: 1.45,
            stage: """
                "kind": "upload", "file": "a.bin", "protocol": "s3", "partSize": "5MiB", "parallel": 1,
                "request": { "PUT": "/bucket/a", "with": [ { "sigv4": { "region": "r", "service": "s3",
                             "accessKey": "AK", "secretKey": "SK" } } ] TIMEOUT }
                """
        ) { _, _ in
            let service = try StorageService()
            return Peer(service, received: { service.received }) { service.object }
        },
        TransferWay(
            testDescription: "parts", most: 1.2, mostCorrupted: 1.2,
            stage: """
                "kind": "upload", "file": "a.bin", "protocol": "parts", "partSize": "512KiB",
                "request": { "POST": "/uploads", "capture": { "id": "$.id" } },
                "part": { "PUT": "/uploads/${{ self.id }}/${{ part.number }}", "part": true,
                          "capture": { "id": "$.id" } TIMEOUT },
                "complete": { "POST": "/uploads/${{ self.id }}/complete", "json": { "parts": "${{ self.parts.id }}" } },
                "once": { "resend": true }
                """
        ) { _, _ in
            let service = try PartsUploadTests.Service()
            return Peer(service, received: { service.received }) { service.bytes }
        },
        // A reset throws away what had arrived and was not yet read.
        TransferWay(
            testDescription: "download", most: 1.68, check: .verify,
            stage: #""kind": "download", "to": "b.bin", "request": { "GET": "/a" TIMEOUT }"#, peer: file),
        TransferWay(
            testDescription: "download in ranges", most: 1.68, check: .verify,
            stage: #""kind": "download", "to": "b.bin", "parallel": 4, "request": { "GET": "/a" TIMEOUT }"#,
            peer: file),
    ]

    private static func whole(_ file: @escaping @Sendable ([UInt8]) -> [UInt8]) throws -> Peer {
        let service = try WholeService()
        return Peer(service, received: { service.requests.reduce(0) { $0 + $1.bodyCount } }) {
            // The last whole one: what broke off may be read to its end after the request that repeats it.
            service.requests.reversed().max { $0.bodyCount < $1.bodyCount }.map { file($0.body) }
        }
    }

    private static let file: @Sendable ([UInt8], TransferFolder) throws -> Peer = { content, folder in
        let service = try FileService(content)
        // The service lives as long as what it is asked for.
        return Peer(service) { service.requests.isEmpty ? nil : folder.read("b.bin") }
    }
}

/// Takes whatever comes.
private final class WholeService: LoopbackService {
    let server = ServiceServer()

    init() throws { try server.start(for: self) }

    func answer(_ request: ReceivedRequest) -> ScriptedAnswer { .json("{}", status: 201) }
}
