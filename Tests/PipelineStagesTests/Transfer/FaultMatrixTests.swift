import PipelineCore
import PipelineTestKit
import Testing

@testable import PipelineStages

/// What the network, or the service, does to a transfer.
enum NetworkTrouble: String, Sendable, CaseIterable {
    case closedInBody, resetInBody, stalledInBody, answersLost, refused, serverErrors

    /// Returns what becomes of a connection, by its number from 1.
    func fate(_ number: Int, _ body: ConnectionFate.Direction, after bytes: Int64) -> ConnectionFate {
        let back: ConnectionFate.Direction = body == .toServer ? .toClient : .toServer
        switch self {
        case .closedInBody: return .fault(.close, body, after: bytes)
        case .resetInBody: return .fault(.reset, body, after: bytes)
        // One is enough: each costs its time-out.
        case .stalledInBody: return .fault(.stall, body, after: bytes)
        case .answersLost: return number <= 2 ? .fault(.close, back, after: 10) : .pass
        case .refused: return number <= 2 ? .refuse : .pass
        case .serverErrors: return .pass
        }
    }

    /// True if it comes once, in the middle of the body.
    var isInBody: Bool { [.closedInBody, .resetInBody, .stalledInBody].contains(self) }

    /// What requests are answered instead of what they ask for, by their numbers from 1: the first ones, then one
    /// between others, which with some protocols carries the file, and with some asks how far it is.
    var errors: [Int: Int] { self == .serverErrors ? [1: 503, 2: 500, 4: 502, 5: 504, 7: 503] : [:] }
}

@Suite("Each trouble of the network on each protocol", .serialized, .timeLimit(.minutes(3)))
struct FaultMatrixTests {
    private let folder = TransferFolder()

    /// A transfer whose way leads over a proxy.
    private func bench(_ way: TransferWay, _ url: String, keys: String = "", more: String = "") throws -> TransferBench
    {
        let stage = way.stage.replacing("TIMEOUT", with: keys) + more
        return try TransferBench(#"{ "id": "move", "service": "api", \#(stage) }"#, url: url, folder: folder.path)
    }

    private func proxy(_ peer: TransferWay.Peer) throws -> FaultProxy {
        let proxy = try FaultProxy()
        proxy.forward(to: try #require(peer.server.url.split(separator: ":").last.flatMap { UInt16($0) }))
        return proxy
    }

    @Test(
        "the file arrives whole, and no more is sent again than the protocol must", arguments: TransferWay.all,
        NetworkTrouble.allCases)
    func survives(way: TransferWay, trouble: NetworkTrouble) async throws {
        let content = TransferFolder.bytes(way.size)
        folder.write("a.bin", content)
        let peer = try way.peer(content, folder)
        peer.server.change { $0.errors = trouble.errors }
        let proxy = try proxy(peer)
        defer { proxy.stop() }
        let body: ConnectionFate.Direction = way.isUpload ? .toServer : .toClient
        // Once something broke the network is well again: a second break would hide what the first one cost.
        proxy.choose { [weak proxy] number in
            trouble.isInBody && proxy?.faultCount != 0
                ? .pass : trouble.fate(number, body, after: Int64(way.size) * 2 / 3)
        }
        let bench = try bench(way, proxy.url, keys: trouble == .stalledInBody ? #", "timeout": "2s""# : "")
        let first = await bench.resume()
        let end = first.finished == nil ? await bench.run(limit: 20) : first
        #expect(end.finished != nil, "\(end)")
        #expect(peer.content() == content)
        // What was answered with an error came to nothing, and is the service's doing.
        let all = (peer.received?() ?? proxy.passed(.toClient)) - peer.server.refused
        #expect(Double(all) <= Double(way.size) * most(way, trouble), "\(all) of \(way.size): \(peer.server.story)")
        if trouble == .serverErrors { #expect(first.failedTry?.kind == .answered) }
    }

    /// Returns how much may go over the network, of the file's length.
    private func most(_ way: TransferWay, _ trouble: NetworkTrouble) -> Double {
        switch trouble {
        case .serverErrors: return 1.02
        case .answersLost: return way.mostWithoutAnswers
        case .refused: return 1.02
        // An end in order loses nothing on its way down; a reset throws away what had arrived and was not yet read.
        case .closedInBody, .stalledInBody, .resetInBody:
            guard way.isUpload else { return trouble == .resetInBody ? way.most : 1.02 }
            // The request that was broken may reach a busy service behind the question how far it is. Its bytes are
            // then taken until the next request ends it, which is refused.
            return max(way.most, 2 + 2.0 / 3 + 0.02)
        }
    }

    @Test("a byte that is another one is noticed by a digest, and sent again", arguments: TransferWay.all)
    func corrupted(way: TransferWay) async throws {
        let content = TransferFolder.bytes(way.size)
        folder.write("a.bin", content)
        let peer = try way.peer(content, folder)
        peer.server.change { $0.checksDigests = way.check == .contentDigest }
        let proxy = try proxy(peer)
        defer { proxy.stop() }
        proxy.choose { [weak proxy] _ in
            proxy?.faultCount != 0 ? .pass : .fault(.corrupt, way.isUpload ? .toServer : .toClient, after: 400_000)
        }
        let digest = #""with": [ { "digest": { "algorithm": "sha-256" } } ]"#
        let refusal = #""fail": [ { "when": "response.status == 422", "message": "damaged", "retry": true } ]"#
        let verify = ", \"verify\": { \"sha256\": \"\(TransferFolder.sha256(content))\" }"
        let bench = try bench(
            way, proxy.url, keys: way.check == .contentDigest ? ", \(digest), \(refusal)" : "",
            more: way.check == .verify ? verify : "")
        let first = await bench.resume()
        #expect(first.failedTry?.kind == .answered, "\(first)")
        #expect(proxy.faultCount == 1)
        #expect(await bench.run().finished != nil)
        #expect(peer.content() == content)
        let all = peer.received?() ?? proxy.passed(.toClient)
        #expect(Double(all) <= Double(way.size) * way.mostCorrupted, "\(all) of \(way.size)")
    }
}
