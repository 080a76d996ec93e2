import Foundation
import PipelineCore
import Testing

@testable import PipelineStages

@Suite("The checkpoint of an upload")
struct UploadCheckpointTests {
    private static let source = SourceFingerprint(size: 2_500_000, modified: 1_763_000_000_000_000_000, inode: 42)
    private static let text = #""source":{"size":2500000,"modified":1763000000000000000,"inode":42}"#

    private func read(_ json: String) throws -> UploadCheckpoint {
        try JSONDecoder().decode(UploadCheckpoint.self, from: Data(json.utf8))
    }

    @Test("lets an upload go on without the link that it began with once it has a place at the service")
    func place() throws {
        let stage = try #require(
            try TransferBench.plan(
                """
                { "id": "move", "kind": "upload", "service": "api", "file": "x", "protocol": "put",
                  "request": { "PUT": "/x" } }
                """
            ).stages.last
        ).stage
        let phases: [(UploadPhase, Bool)] = [
            (.pending, false), (.open(OpenUpload(url: "http://h/u/1")), true), (.filled(url: nil), true),
        ]
        for (phase, isAlone) in phases {
            let bytes = try JSONEncoder().encode(UploadCheckpoint(source: Self.source, phase: phase))
            #expect(stage.standsAlone?(Array(bytes)) == isAlone, "\(phase)")
        }
    }

    /// As version 0.1.0 wrote them.
    @Test("of version 0.1.0 that has begun nothing is pending")
    func pending() throws {
        let read = try read(
            #"{\#(Self.text),"chosen":"tus","confirmed":0,"uncounted":0,"mayBeComplete":false,"isFilled":false,"losses":0,"misses":0}"#
        )
        var expected = UploadCheckpoint(source: Self.source)
        expected.terms.chosen = .tus
        #expect(read == expected)
    }

    @Test("of version 0.1.0 goes on at its offset")
    func open() throws {
        let read = try read(
            #"""
            {\#(Self.text),"version":8,"url":"http://h/u/1","confirmed":1000000,"mayBeComplete":true,"uncounted":70000,
             "chunk":524288,"keptUntil":1763000060000,"held":2,"doubts":1,"losses":3,"misses":1,"isFilled":false,
             "digest":{"changed":7,"marks":[{"position":64,"words":[1,2,3,4,5,6,7,8]}]}}
            """#)
        #expect(read.terms == UploadTerms(version: .v8, chunk: 524_288))
        #expect(read.progress.confirmed == 1_000_000 && read.progress.handedOver == 70_000)
        #expect(read.progress.keptUntil == Timestamp(milliseconds: 1_763_000_060_000))
        #expect((read.progress.held, read.progress.doubts) == (2, 1))
        #expect((read.progress.losses, read.progress.misses) == (3, 1))
        let digest = UploadDigest.Checkpoint(
            changed: 7, marks: [ResumableSHA256.Mark(position: 64, words: [1, 2, 3, 4, 5, 6, 7, 8])])
        #expect(read.phase == .open(OpenUpload(url: "http://h/u/1", mayBeComplete: true, digest: digest)))
    }

    @Test("of version 0.1.0 knows of a creation whose response was lost, and of a session that was given")
    func withoutAddress() throws {
        let rest = #""uncounted":9,"isFilled":false,"losses":0,"misses":0"#
        let lost = try read(#"{\#(Self.text),"confirmed":0,"mayBeComplete":true,\#(rest)}"#)
        #expect(lost.phase == .open(OpenUpload(mayBeComplete: true)))
        let given = try read(#"{\#(Self.text),"confirmed":262144,"mayBeComplete":false,\#(rest)}"#)
        #expect(given.phase == .open(OpenUpload()))
        #expect(given.progress.confirmed == 262_144)
    }

    @Test("of version 0.1.0 keeps the parts that the service has")
    func parts() throws {
        func text(_ isCreated: Bool) -> String {
            #"""
            {\#(Self.text),"confirmed":5242880,"mayBeComplete":false,"uncounted":0,"isFilled":false,"losses":0,"misses":0,
             "parts":{"partSize":5242880,"isCreated":\#(isCreated),"uploadID":"up1","receipts":{"1":"\"e1\""},
                      "checksum":"CRC32C","checksums":{"1":"AAAA"},"streams":3,"begun":1763000000000,"isCompleting":true}}
            """#
        }
        let read = try read(text(true))
        guard case .parts(let parts) = read.phase else {
            Issue.record("\(read.phase)")
            return
        }
        #expect(parts.partSize == 5_242_880 && parts.uploadID == "up1" && parts.receipts == [1: "\"e1\""])
        #expect(parts.checksum == .crc32c && parts.checksums == [1: "AAAA"] && parts.streams == 3)
        #expect(parts.begun == Timestamp(milliseconds: 1_763_000_000_000) && parts.isCompleting)
        #expect(try self.read(text(false)).phase == .pending)
    }

    @Test("of version 0.1.0 is filled, or overtaken by another file")
    func others() throws {
        let rest = #""confirmed":9,"mayBeComplete":true,"uncounted":0,"losses":0,"misses":0"#
        #expect(
            try read(#"{\#(Self.text),"url":"http://h/1","isFilled":true,\#(rest)}"#).phase
                == .filled(url: "http://h/1"))
        #expect(try read(#"{"isOvertaken":true,"isFilled":false,\#(rest)}"#).phase == .overtaken)
    }

    @Test("is read as it was written, in each phase")
    func roundTrip() throws {
        var parts = PartsCheckpoint(partSize: 5)
        (parts.receipts, parts.ends, parts.unanswered) = ([1: "{}", 2: "{}"], [5, 9], [3])
        let phases: [UploadPhase] = [
            .pending, .open(OpenUpload(url: "u", mayBeComplete: true, hasCaptures: true)), .parts(parts),
            .filled(url: nil), .filled(url: "u"), .overtaken,
        ]
        for phase in phases {
            var checkpoint = UploadCheckpoint(source: Self.source, phase: phase)
            checkpoint.terms = UploadTerms(chosen: .resumable, version: .v6, safeChunk: 7, refusesBytes: true)
            (checkpoint.progress.confirmed, checkpoint.progress.keptUntil) = (3, .epoch)
            checkpoint.origin = "digest"
            let bytes = try JSONEncoder().encode(checkpoint)
            #expect(try JSONDecoder().decode(UploadCheckpoint.self, from: bytes) == checkpoint)
        }
    }
}
