import PipelineCore
import PipelineTestKit
import Testing

@testable import PipelineStages

/// What the network does to a transfer.
enum NetworkTrouble: String, Sendable, CaseIterable {
    case closedInBody, resetInBody, stalledInBody, answersLost, refused

    /// What becomes of a connection, by its number from 1.
    func fate(_ number: Int, _ body: ConnectionFate.Direction, after bytes: Int64) -> ConnectionFate {
        let back: ConnectionFate.Direction = body == .toServer ? .toClient : .toServer
        switch self {
        case .closedInBody: return .fault(.close, body, after: bytes)
        case .resetInBody: return .fault(.reset, body, after: bytes)
        // One is enough: each costs its time-out.
        case .stalledInBody: return .fault(.stall, body, after: bytes)
        case .answersLost: return number <= 2 ? .fault(.close, back, after: 10) : .pass
        case .refused: return number <= 2 ? .refuse : .pass
        }
    }
}

/// A protocol with a service of its own behind a proxy.
struct TransferWay: Sendable, CustomTestStringConvertible {
    struct Peer: Sendable {
        let url: String
        /// Bytes of files that the service has received; nil where they go the other way.
        var received: (@Sendable () -> Int64)?
        /// The whole file at the other end.
        let content: @Sendable () -> [UInt8]?
    }

    let testDescription: String
    var size = 3_000_000
    /// The most that may go over the network after a break at two thirds, of the file's length.
    let most: Double
    /// The same when two answers were lost.
    var mostWithoutAnswers = 1.02
    /// The stage's own keys; `TIMEOUT` stands where a request's further keys do.
    let stage: String
    let peer: @Sendable (_ content: [UInt8], TransferFolder) throws -> Peer

    var isUpload: Bool { !testDescription.hasPrefix("download") }

    static let all: [TransferWay] = [
        // What has no offset is sent again, whole.
        TransferWay(
            testDescription: "put", most: 1.68, mostWithoutAnswers: 3.01,
            stage: #""kind": "upload", "file": "a.bin", "protocol": "put", "request": { "PUT": "/a" TIMEOUT }"#
        ) { _, _ in try whole() },
        // What was still on its way in the broken connection when the next request came is sent again; that nothing else
        // is, the tests of each protocol show with services that cut.
        TransferWay(
            testDescription: "resumable", most: 1.68,
            stage: #""kind": "upload", "file": "a.bin", "protocol": "resumable", "request": { "POST": "/v" TIMEOUT }"#
        ) { _, _ in
            let service = try ResumableService()
            return Peer(url: service.url, received: { service.received }) {
                service.uploads.values.first { $0.isComplete }?.bytes
            }
        },
        TransferWay(
            testDescription: "tus", most: 1.68,
            stage: #""kind": "upload", "file": "a.bin", "protocol": "tus", "request": { "POST": "/files/" TIMEOUT }"#
        ) { _, _ in
            let service = try TusService()
            return Peer(url: service.url, received: { service.received }) {
                service.uploads.values.first { $0.bytes.count == $0.length }?.bytes
            }
        },
        // This service keeps nothing of what breaks off.
        TransferWay(
            testDescription: "gcs", most: 1.68,
            stage: #""kind": "upload", "file": "a.bin", "protocol": "gcs", "request": { "POST": "/v" TIMEOUT }"#
        ) { _, _ in
            let service = try GoogleService()
            return Peer(url: service.url, received: { service.received }) {
                service.sessions.values.first { $0.isComplete }?.bytes
            }
        },
        // A part is sent again.
        TransferWay(
            testDescription: "s3", size: 12_000_000, most: 1.685,
            stage: """
                "kind": "upload", "file": "a.bin", "protocol": "s3", "partSize": "5MiB", "parallel": 1,
                "request": { "PUT": "/bucket/a", "with": [ { "sigv4": { "region": "r", "service": "s3",
                             "accessKey": "AK", "secretKey": "SK" } } ] TIMEOUT }
                """
        ) { _, _ in
            let service = try StorageService()
            return Peer(url: service.url, received: { service.received }) { service.object }
        },
        TransferWay(
            testDescription: "parts", most: 1.2,
            stage: """
                "kind": "upload", "file": "a.bin", "protocol": "parts", "partSize": "512KiB",
                "request": { "POST": "/uploads", "capture": { "id": "$.id" } },
                "part": { "PUT": "/uploads/${{ self.id }}/${{ part.number }}", "part": true,
                          "capture": { "id": "$.id" } TIMEOUT },
                "complete": { "POST": "/uploads/${{ self.id }}/complete", "json": { "parts": "${{ self.parts.id }}" } }
                """
        ) { _, _ in
            let service = try PartsUploadTests.Service()
            return Peer(url: service.url, received: { service.received }) { service.bytes }
        },
        // A reset throws away what had arrived and was not yet read.
        TransferWay(
            testDescription: "download", most: 1.68, mostWithoutAnswers: 1.02,
            stage: #""kind": "download", "to": "b.bin", "request": { "GET": "/a" TIMEOUT }"#, peer: file),
        TransferWay(
            testDescription: "download in ranges", most: 1.68,
            stage: #""kind": "download", "to": "b.bin", "parallel": 4, "request": { "GET": "/a" TIMEOUT }"#,
            peer: file),
    ]

    private static func whole() throws -> Peer {
        let server = try LoopbackServer(keptBodyBytes: 16 << 20) { _ in .json("{}", status: 201) }
        return Peer(url: server.url, received: { server.requests.reduce(0) { $0 + $1.bodyCount } }) {
            server.requests.last?.body
        }
    }

    private static let file: @Sendable ([UInt8], TransferFolder) throws -> Peer = { content, folder in
        let service = try FileService(content)
        // The service lives as long as what it is asked for.
        return Peer(url: service.url) { service.requests.isEmpty ? nil : folder.read("b.bin") }
    }
}

@Suite("Each trouble of the network on each protocol", .serialized, .timeLimit(.minutes(3)))
struct FaultMatrixTests {
    private func bench(_ way: TransferWay, _ url: String, _ folder: TransferFolder, stalls: Bool = false) throws
        -> TransferBench
    {
        let stage = way.stage.replacing("TIMEOUT", with: stalls ? #", "timeout": "2s""# : "")
        return try TransferBench(#"{ "id": "move", "service": "api", \#(stage) }"#, url: url, folder: folder.path)
    }

    @Test(
        "the file arrives whole, and no more is sent again than the protocol must", arguments: TransferWay.all,
        NetworkTrouble.allCases)
    func survives(way: TransferWay, trouble: NetworkTrouble) async throws {
        let folder = TransferFolder()
        let content = TransferFolder.bytes(way.size)
        folder.write("a.bin", content)
        let peer = try way.peer(content, folder)
        let proxy = try FaultProxy()
        defer { proxy.stop() }
        proxy.forward(to: try #require(peer.url.split(separator: ":").last.flatMap { UInt16($0) }))
        let (body, place): (ConnectionFate.Direction, Int64) =
            way.isUpload ? (.toServer, Int64(way.size) * 2 / 3) : (.toClient, Int64(way.size) * 2 / 3)
        proxy.choose { trouble.fate($0, body, after: place) }
        let bench = try bench(way, proxy.url, folder, stalls: trouble == .stalledInBody)
        // Once something broke the network is well again: a second break would hide what the first one cost.
        let first = await bench.resume()
        if trouble != .answersLost, trouble != .refused {
            if first.finished == nil { proxy.choose { _ in .pass } }
        }
        let end = first.finished == nil ? await bench.run(limit: 20) : first
        #expect(end.finished != nil, "\(end)")
        #expect(peer.content() == content)
        let all = peer.received?() ?? proxy.passed(.toClient)
        // An end in order loses nothing on its way down.
        let isOrderly = !way.isUpload && trouble != .resetInBody
        let most = trouble == .answersLost ? way.mostWithoutAnswers : isOrderly ? 1.02 : way.most
        // A try that asks how far it is, and goes on at once, may meet the same reset a second time.
        let twice = trouble == .resetInBody ? 1 + 2 * 2.0 / 3 + 0.02 : 0
        #expect(Double(all) <= Double(way.size) * max(most, twice), "\(all) of \(way.size)")
    }

    @Test("a byte that is another one is noticed where there is a digest, and sent again")
    func corrupted() async throws {
        for way in TransferWay.all where way.testDescription == "s3" || way.testDescription == "download" {
            let folder = TransferFolder()
            let content = TransferFolder.bytes(way.size)
            folder.write("a.bin", content)
            let peer = try way.peer(content, folder)
            let proxy = try FaultProxy()
            defer { proxy.stop() }
            proxy.forward(to: try #require(peer.url.split(separator: ":").last.flatMap { UInt16($0) }))
            proxy.choose { number in
                // An upload in parts is made on a connection of its own.
                number > (way.isUpload ? 2 : 1)
                    ? .pass : .fault(.corrupt, way.isUpload ? .toServer : .toClient, after: 1_000_000)
            }
            let verify = way.isUpload ? "" : ", \"verify\": { \"sha256\": \"\(TransferFolder.sha256(content))\" }"
            let stage = way.stage.replacing("TIMEOUT", with: "") + verify
            let bench = try TransferBench(
                #"{ "id": "move", "service": "api", \#(stage) }"#, url: proxy.url, folder: folder.path)
            let first = await bench.resume()
            #expect(first.failedTry?.kind == .answered, "\(way): \(first)")
            #expect(await bench.run().finished != nil)
            #expect(peer.content() == content)
            let all = peer.received?() ?? proxy.passed(.toClient)
            #expect(Double(all) <= Double(way.size) * (way.isUpload ? 1.45 : 2.02))
        }
    }
}
