import CLibrary
import JSONPath
import PipelineCore
import PipelineTestKit
import Testing

@testable import PipelineStages

/// Processes that die, services that change and parts that others spoil, in any order: what gets the name is one
/// version, whole, and nothing else.
@Suite("A download, whatever befalls it")
struct DownloadFateTests {
    @Test("is one version of the file, whole, or none", arguments: 0..<24)
    func fate(seed: Int) async throws {
        var fate = try Fate(seed)
        #expect(try await fate.run(), "seed \(seed): \(fate.story)")
    }

    /// One job and what befalls it.
    private struct Fate {
        var random: Mutation
        let folder = TransferFolder()
        let service: FileService
        let bench: TransferBench
        let versions: [[UInt8]]
        let isVerified: Bool
        var story: [String] = []

        init(_ seed: Int) throws {
            random = Mutation(seed: UInt64(seed))
            let size = Int.random(in: 1...(6 << 20), using: &random)
            let first = TransferFolder.bytes(size)
            // Later versions begin with the same bytes, and are often as long.
            versions = [
                first, Self.changed(first, &random), Self.changed(first, &random),
                TransferFolder.bytes(size / 2 + 1) + first,
            ]
            isVerified = Int.random(in: 0..<3, using: &random) == 0
            let streams = [1, 4, 16].randomElement(using: &random) ?? 1
            service = try FileService(first)
            bench = try .download(
                from: service,
                ", \"parallel\": \(streams)" + (isVerified ? TransferBench.verifying(versions[3]) : ""), to: "m.obj",
                in: folder)
            if seed % 2 == 0 { bench.state.namesRead = [] }
            story = ["\(size) bytes", "\(streams) streams", "verified \(isVerified)"]
        }

        private static func changed(_ bytes: [UInt8], _ random: inout Mutation) -> [UInt8] {
            var bytes = bytes
            bytes[Int.random(in: bytes.count / 2..<bytes.count, using: &random)] ^= 1
            return bytes
        }

        mutating func run() async throws -> Bool {
            for round in 0..<12 {
                change(isLast: round > 8)
                if round <= 8 { spoil() }
                let crash = round > 8 ? nil : chosenCrash()
                story.append("crash \(crash.map { "\($0)" } ?? "none")")
                let result = await bench.resume(crash: crash)
                guard let captures = result.finished else {
                    if folder.names.contains("m.obj"), !isWhole(nil) { return false }
                    continue
                }
                return isWhole(captures["sha256"]?.string) && folder.names == ["m.obj"]
            }
            story.append("not finished")
            return false
        }

        /// Returns whether the file is one of the versions, or the one that is wanted.
        private func isWhole(_ digest: String?) -> Bool {
            guard let bytes = folder.read("m.obj") else { return false }
            if let digest, digest != TransferFolder.sha256(bytes) { return false }
            return isVerified ? bytes == versions[3] : versions.contains(bytes)
        }

        private mutating func chosenCrash() -> (CrashPoint, Int)? {
            let points: [CrashPoint?] = [.downloadPart, .downloadPart, .downloadVerified, .downloadRenamed, nil]
            return (points.randomElement(using: &random) ?? nil).map { ($0, Int.random(in: 1...3, using: &random)) }
        }

        private mutating func change(isLast: Bool) {
            let version = isLast ? 3 : Int.random(in: 0..<versions.count, using: &random)
            let content = versions[version]
            let hasTag = Int.random(in: 0..<4, using: &random) > 0
            let hasDigest = Int.random(in: 0..<3, using: &random) == 0
            let cuts = isLast ? [] : (0..<3).map { _ in Int.random(in: 0..<content.count, using: &random) }
            let limit =
                Int.random(in: 0..<3, using: &random) == 0 ? Int.random(in: 300_000...1 << 20, using: &random) : nil
            let isChunked = Int.random(in: 0..<5, using: &random) == 0
            let ignores = Int.random(in: 0..<6, using: &random) == 0
            story.append(
                "version \(version), tag \(hasTag), digest \(hasDigest), cuts \(cuts), limit \(limit ?? 0), "
                    + "chunked \(isChunked), ignores \(ignores)")
            service.change { state in
                state.content = content
                state.tag = hasTag ? "\"v\(version)\"" : nil
                state.fields = hasDigest ? [TransferBench.digestField(content)] : []
                state.cuts = cuts
                state.rangeLimit = limit
                state.isChunked = isChunked
                state.ignoresRanges = ignores
            }
        }

        /// What somebody else does to the part, or a power cut.
        private mutating func spoil() {
            let path = folder.path + "/m.obj.part"
            guard let part = folder.read("m.obj.part"), !part.isEmpty else { return }
            let place = Int.random(in: 0..<part.count, using: &random)
            switch Int.random(in: 0..<6, using: &random) {
            case 0:
                truncate(path, off_t(place))
                story.append("cut at \(place)")
            case 1:
                folder.overwriteInSecret("m.obj.part", at: place, [part[place] ^ 1])
                story.append("changed at \(place)")
            case 2:
                folder.append("m.obj.part", Array(part[place...].prefix(5000)))
                story.append("longer")
            default: break
            }
        }
    }
}
