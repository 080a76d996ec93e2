import CLibrary
import JSONPath
import PipelineCore
import Testing

@testable import PipelineStages

@Suite("What a part has noted of itself")
struct NotedDownloadTests {
    private static let mebibyte: Int64 = 1 << 20
    private static let owner = PartNotes.owner(["01job", "move", "\"v1\""])

    private let folder = TransferFolder()
    private let content = TransferFolder.bytes(10 << 20)

    /// What happens to a part with two notes, up to 5 and 9 MiB, beside a checkpoint that counts one.
    enum Fate: CaseIterable {
        case none, lastNoteTorn, bytesLost, someBytesLost, cutOff, nonsense, otherJob, otherVersion

        /// From which place on the rest is fetched, in MiB.
        var start: Int64 {
            switch self {
            case .none: 9
            case .lastNoteTorn: 5
            default: 1
            }
        }
    }

    @Test("is believed as far as it proves itself", arguments: Fate.allCases)
    func front(_ fate: Fate) async throws {
        let service = try FileService(content)
        let bench = try bench(service)
        try notes(fate).notedPart(folder, [0..<5, 0..<9], of: content)
        spoil(fate)
        bench.state.checkpoint = try checkpoint(ranges: nil)
        #expect(await bench.resume().finished?["sha256"]?.string == TransferFolder.sha256(content))
        #expect(service.ranges == ["bytes=\(fate.start * Self.mebibyte)-"])
        #expect(folder.read("m.obj") == content)
        #expect(folder.names == ["m.obj"])
        // What a killed try received is counted by the one that finds it.
        #expect(bench.state.moved.received == 9 << 20)
    }

    @Test("tells what each of several streams received")
    func ranges() async throws {
        for isLost in [false, true] {
            let service = try FileService(content)
            let bench = try bench(service, ", \"parallel\": 4")
            try notes(.none).notedPart(folder, [4..<5, 4..<6, 8..<9], of: content)
            if isLost { overwrite(at: 8) }
            let rest = RangeMap(from: Self.mebibyte, to: 10 * Self.mebibyte)
            bench.state.checkpoint = try checkpoint(ranges: rest)
            #expect(await bench.resume().finished?["sha256"]?.string == TransferFolder.sha256(content))
            // A request without an end is stopped where the next stretch begins, and a little more is on its way by then:
            // where requests begin tells what was known, not what the service sent.
            let known = isLost ? [4..<6] : [4..<6, 8..<9]
            let starts = service.ranges.compactMap {
                $0.flatMap { Int64($0.dropFirst("bytes=".count).prefix { $0 != "-" }) }
            }
            #expect(
                !starts.isEmpty
                    && starts.allSatisfy { start in
                        !known.contains { (Int64($0.lowerBound) << 20..<Int64($0.upperBound) << 20).contains(start) }
                    }, "\(starts)")
            #expect(service.sent >= (isLost ? 7 : 6) * Self.mebibyte)
            #expect(folder.read("m.obj") == content)
            #expect(bench.state.moved.received == 9 << 20)
            unlink(folder.path + "/m.obj")
        }
    }

    @Test("is there for a process that dies between two checkpoints", arguments: [(1, 1), (4, 2)])
    func death(streams: Int, count: Int) async throws {
        let content = TransferFolder.bytes(20 << 20)
        let service = try FileService(content) { $0.cuts = streams == 1 ? [15 << 20] : [] }
        let bench = try bench(service, ", \"parallel\": \(streams)")
        // Of the journal's word on what came after the first mark nothing is left.
        #expect(await bench.resume(crash: (.downloadPart, count)).hasDied)
        let journaled = try CheckpointCoding<DownloadCheckpoint>.json.decode(try #require(bench.state.checkpoint))
        let before = service.sent
        #expect(await bench.run().finished?["sha256"]?.string == TransferFolder.sha256(content))
        if streams == 1 {
            let missed = service.sent - before - (Int64(content.count) - 15 * Self.mebibyte)
            #expect(missed <= 256 << 10)
        }
        #expect(journaled.covered >= 8 << 20)
        #expect(folder.read("m.obj") == content)
        #expect(folder.names == ["m.obj"])
    }

    @Test("stays small")
    func few() throws {
        let part = try part()
        let notes = PartNotes(part, behind: 0, of: Self.owner)
        #expect(part.size == 0, "to make a small file longer and short again costs many small jobs half their speed")
        for index in 0..<30_000 { notes.add(PartNote(start: 0, end: Int64(index), proof: Self.owner)) }
        #expect(part.size < 1 << 20 + 200)
        #expect(PartNotes.unit(for: 1 << 30) == 512 << 10)
    }

    // MARK: Making parts

    private func bench(_ service: FileService, _ more: String = "") throws -> TransferBench {
        try .download(from: service, more, to: "m.obj", in: folder)
    }

    /// A journal that knows of one mebibyte.
    private func checkpoint(ranges: RangeMap?) throws -> [UInt8] {
        var checkpoint = DownloadCheckpoint(target: folder.path + "/m.obj")
        checkpoint.held = Self.mebibyte
        checkpoint.heldDigest = TransferFolder.sha256(Array(content.prefix(1 << 20)))
        checkpoint.ranges = ranges
        checkpoint.streams = ranges.map { _ in 4 }
        checkpoint.validator = .entityTag("\"v1\"")
        checkpoint.total = Int64(content.count)
        return try CheckpointCoding.json.encode(checkpoint)
    }

    private func part() throws -> PartFile { try PartFile.open(folder.path + "/m.obj.part", isFresh: true) }

    private struct Noter {
        let owner: String

        /// A part with its first mebibyte, and the stretches in MiB of which there are notes.
        func notedPart(_ folder: TransferFolder, _ stretches: [Range<Int>], of content: [UInt8]) throws {
            folder.write("m.obj.part", [])
            let part = try PartFile.open(folder.path + "/m.obj.part", isFresh: false)
            let notes = PartNotes(part, behind: Int64(content.count), of: owner)
            for stretch in [0..<1] + stretches {
                let range = stretch.lowerBound << 20..<stretch.upperBound << 20
                let bytes = Array(content[range])
                let written = pwrite(part.descriptor, bytes, bytes.count, off_t(range.lowerBound))
                #expect(written == bytes.count)
                notes.add(
                    PartNote(
                        start: Int64(range.lowerBound), end: Int64(range.upperBound),
                        proof: TransferFolder.sha256(bytes)))
            }
        }
    }

    private func notes(_ fate: Fate) -> Noter {
        switch fate {
        case .otherJob: Noter(owner: PartNotes.owner(["02job", "move", "\"v1\""]))
        case .otherVersion: Noter(owner: PartNotes.owner(["01job", "move", "\"v2\""]))
        default: Noter(owner: Self.owner)
        }
    }

    private func spoil(_ fate: Fate) {
        let path = folder.path + "/m.obj.part"
        switch fate {
        case .none, .otherJob, .otherVersion: break
        case .lastNoteTorn:
            let count = folder.read("m.obj.part")?.count ?? 0
            truncate(path, off_t(count - 9))
        case .bytesLost: for place in 1..<9 { overwrite(at: place) }
        case .someBytesLost: overwrite(at: 3)
        case .cutOff: truncate(path, 3 << 20)
        case .nonsense:
            truncate(path, 10 << 20)
            let lines = "\(Self.owner)\n0 99999999999999999999 x\n0 5 6 7\n-1 5 x\n0 10485761 x\n0 9437184 x\n\n"
            folder.append("m.obj.part", Array(lines.utf8))
        }
    }

    private func overwrite(at place: Int) {
        let descriptor = open(folder.path + "/m.obj.part", O_WRONLY)
        let zeros = [UInt8](repeating: 0, count: 1 << 20)
        pwrite(descriptor, zeros, zeros.count, off_t(place << 20))
        close(descriptor)
    }
}
