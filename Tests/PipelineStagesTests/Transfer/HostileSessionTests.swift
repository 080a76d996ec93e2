import HTTPTypes
import PipelineCore
import PipelineHTTP
import PipelineTestKit
import Testing

@testable import PipelineStages

/// Sessions of uploads against services that answer anything.
@Suite("A session of an upload at a service that answers anything")
struct HostileSessionTests {
    private static let total: Int64 = 100

    private static func sessions(_ random: SeededRandomness) -> [any UploadSession] {
        let chunk = UploadChunk(
            most: random.chance(0.5) ? Int64(random.number(in: 1...60)) : nil, part: 40,
            handedOver: Int64(random.number(in: 0...200)), isPaced: random.chance(0.5))
        let (url, confirmed) = ("http://h/u/1", Int64(random.number(in: 0...100)))
        let (isLate, isOptimistic) = (random.chance(0.5), random.chance(0.5))
        var offer = TusOffer()
        offer.createsWithUpload = random.chance(0.5)
        offer.checksum = random.chance(0.5) ? .sha1 : nil
        return [
            ResumableSession(total: total, isOptimistic: isOptimistic, chunk: chunk),
            ResumableSession(offering: total, chunk: chunk),
            ResumableSession(
                total: total, version: random.element(of: InteropVersion.allCases), url: url, confirmed: confirmed,
                mayBeComplete: isLate, chunk: chunk),
            TusSession(total: total, chunk: chunk),
            TusSession(total: total, chunk: chunk, isGiven: true),
            TusSession(total: total, chunk: chunk, url: url, confirmed: confirmed, mayBeComplete: isLate, offer: offer),
            GoogleSession(total: total, chunk: chunk, isGiven: isLate),
            GoogleSession(
                total: total, chunk: chunk, isGiven: false, url: url, confirmed: confirmed, mayBeComplete: isLate),
        ]
    }

    private static let numbers = [
        "0", "1", "39", "40", "60", "99", "100", "101", "-1", "+5", "9223372036854775807", "99999999999999999999",
        "999999999999999", "x", "", "1.5", "5, 5",
    ]

    private static func answer(_ random: SeededRandomness, isKind: Bool) -> HTTPExchangeResponse {
        let kind = [200, 201, 204, 308, 308, 409, 413, 307, 301, 460, 403, 416]
        let status = random.element(of: isKind ? kind : kind + [100, 400, 404, 410, 412, 423, 500, 501, 503, 999])
        var headers = HTTPFields()
        func put(_ name: String, _ values: [String], _ chance: Double = 0.5) {
            if random.chance(chance) { headers[HTTPField.Name(name)!] = random.element(of: values) }
        }
        put("Upload-Offset", numbers, 0.8)
        put("Upload-Complete", ["?0", "?1", "1", "?2"])
        put("Upload-Incomplete", ["?0", "?1"], 0.2)
        put("Upload-Length", ["100", "101", "x"], 0.1)
        put("Upload-Draft-Interop-Version", ["8", "6", "3", "x"], 0.3)
        let limits = numbers.map { "max-append-size=\($0), min-append-size=\(random.element(of: numbers))" }
        put("Upload-Limit", limits + numbers.map { "max-age=\($0)" } + ["max-size=\(random.element(of: numbers))"], 0.3)
        put("Location", ["/u/1", "/u/2", "http://other/u", "//", "x y", "ftp://h/x", ""], 0.6)
        put("Tus-Resumable", ["1.0.0"], 0.7)
        put("Tus-Version", ["1.0.0"], 0.2)
        put("Tus-Extension", ["creation,creation-with-upload,checksum"], 0.3)
        put("Tus-Checksum-Algorithm", ["sha1", "md5"], 0.3)
        put("Tus-Max-Size", numbers, 0.1)
        put("Upload-Expires", ["x", "Fri, 31 Dec 9999 23:59:59 GMT", "Thu, 01 Jan 1970 00:00:00 GMT"], 0.3)
        put("Range", numbers.map { "bytes=0-\($0)" } + ["0-1", "bytes=1-2"], 0.6)
        return HTTPExchangeResponse(status: status, headers: headers, url: "http://h/u/1")
    }

    /// One that never gives up is a service that never refuses: each answer may lead on.
    @Test("ends, sends nothing but bytes of the file, and keeps what can be kept", arguments: [true, false])
    func anything(isKind: Bool) {
        for seed in 0..<3000 {
            let random = SeededRandomness(seed: UInt64(seed))
            for session in Self.sessions(random) { drive(session, random, seed, isKind) }
        }
    }

    private func drive(_ first: any UploadSession, _ random: SeededRandomness, _ seed: Int, _ isKind: Bool) {
        var (session, checkpoint) = (first, UploadCheckpoint())
        var step = session.begin()
        for _ in 0..<2000 {
            guard case .send(let request) = step else { return }
            if case .file(let offset, let count) = request.body {
                let isInside = offset >= 0 && count > 0 && offset + count <= Self.total
                if !isInside { Issue.record("seed \(seed): \(count) bytes from \(offset)") }
                let named = request.headers[.uploadOffset].flatMap { Int64($0) }
                if let named, named != offset { Issue.record("seed \(seed): \(offset) is called \(named)") }
            }
            if random.chance(0.2) { session.position.takeBack() }
            if random.chance(0.2) {
                let informal = Self.answer(random, isKind: true)
                session.take(informational: 104, informal.headers, from: "http://h/v")
            }
            step = session.next(after: Self.answer(random, isKind: isKind))
            session.record(in: &checkpoint)
            _ = session.position.lifetime.take()?.end(at: Timestamp(milliseconds: 1_800_000_000_000))
            if !(0...Self.total).contains(checkpoint.progress.confirmed) {
                Issue.record("seed \(seed): it believes in \(checkpoint.progress.confirmed) bytes")
            }
        }
        Issue.record("seed \(seed): it goes on for ever")
    }
}
