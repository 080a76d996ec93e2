import CLibrary
import Testing

@testable import PipelineStages

@Suite("The part of a file")
struct PartFileTests {
    private let folder = TransferFolder()
    private var path: String { folder.path + "/x.part" }

    // A job that was killed while it took the part's name away left both, and the next wrote into its result.
    @Test("is a new file where the one of its name is a result, be it empty")
    func emptyResult() throws {
        folder.write("x", [])
        #expect(link(folder.path + "/x", path) == 0)
        let part = try PartFile.open(path, isFresh: true)
        #expect(pwrite(part.descriptor, "bytes", 5, 0) == 5)
        #expect(folder.read("x") == [])
        #expect(folder.read("x.part") == Array("bytes".utf8))
    }

    // What the disk had refused was still in memory: a restart read it there, and took it for saved.
    @Test("forgets what the disk did not take, with the notes on it", arguments: [true, false])
    func lost(isRefused: Bool) throws {
        let part = try PartFile.open(path, isFresh: true)
        #expect(pwrite(part.descriptor, "saved and not", 13, 0) == 13)
        PartNotes(part, behind: 20, of: "me").add(PartNote(start: 0, end: 13, proof: "x"))
        if isRefused { try refuse(part) } else { try part.syncData() }
        part.forgetLost(behind: 5)
        #expect((part.size == 5) == isRefused)
        #expect(PartNotes.read(from: part, behind: 20, of: "me").isEmpty == isRefused)
    }

    /// Has it saved while its descriptor is that of a pipe, which can't be.
    private func refuse(_ part: PartFile) throws {
        var pipes: [Int32] = [0, 0]
        try #require(pipe(&pipes) == 0)
        let own = dup(part.descriptor)
        dup2(pipes[0], part.descriptor)
        #expect(throws: FileFailure.self) { try part.syncData() }
        dup2(own, part.descriptor)
        for descriptor in pipes + [own] { close(descriptor) }
    }

    @Test("is cut where the journal knows the last of it")
    func reach() {
        var checkpoint = DownloadCheckpoint(target: "/x")
        checkpoint.held = 7
        #expect(checkpoint.reach == 7)
        checkpoint.ranges = RangeMap(from: 7, to: 100)
        #expect(checkpoint.reach == 100)
    }
}
