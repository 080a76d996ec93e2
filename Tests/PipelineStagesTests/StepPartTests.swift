import JSONPath
import PipelineCore
import Testing

@testable import PipelineStages

@Suite("The part that a step has on the disk")
struct StepPartTests {
    private let folder = TransferFolder()

    private func part<Checkpoint: Codable & Sendable>(
        _ checkpoint: Checkpoint, item: String? = nil
    ) throws -> StepPart? {
        var step = StepRecord(state: .cancelled)
        step.checkpoint = try CheckpointCoding<Checkpoint>.json.encode(checkpoint)
        var record = JobRecord(
            id: JobID("01job"), pipeline: "test", key: item.map { "june.\($0)" } ?? "key",
            started: Timestamp(milliseconds: 0), source: "", sourceName: "", digest: "", inputs: [:], environment: [:],
            folders: JobFolders(document: "/", output: folder.path), overwrites: false)
        if item != nil { record.item = BatchItem(batch: JobID("01batch"), key: "a") }
        let key = StepKey(stage: "download")
        return StepPart(of: key, in: JobSnapshot(record: record, steps: [key: step], mode: .attached))
    }

    private func download(verified bytes: Int64?) -> DownloadCheckpoint {
        var checkpoint = DownloadCheckpoint(target: folder.path + "/m.obj")
        checkpoint.verified = bytes.map { DownloadCheckpoint.Verified(bytes: $0) }
        return checkpoint
    }

    @Test("is whole once a download is checked, and no other's that stands under the name")
    func download() throws {
        #expect(try part(download(verified: 3)) == nil, "nothing is there")
        folder.write("m.obj.part", [1, 2, 3])
        let whole = try #require(try part(download(verified: 3)))
        #expect(whole.path == folder.path + "/m.obj.part" && whole.target == folder.path + "/m.obj" && whole.isWhole)
        #expect(try part(download(verified: nil))?.isWhole == false)
        #expect(try part(download(verified: 4)) == nil, "somebody else has begun the file since")
    }

    @Test("of an item has its number and its batch's id in its name, unless the item has the usual one")
    func item() throws {
        folder.write("m.obj.part", [1, 2, 3])
        #expect(try part(download(verified: 3), item: "7")?.path == folder.path + "/m.obj.part")
        folder.write("m.obj.7-01batch-download.part", [1, 2, 3])
        #expect(try part(download(verified: 3), item: "7")?.path == folder.path + "/m.obj.7-01batch-download.part")
        #expect(try part(download(verified: 3))?.path == folder.path + "/m.obj.part")
    }

    @Test("of pages is whole after the last; a step that writes nothing has none")
    func pages() throws {
        folder.write("rows.jsonl.part", [1, 2])
        var pages = PagingCheckpoint(target: folder.path + "/rows.jsonl")
        #expect(try part(RequestStage.Checkpoint(paging: pages))?.isWhole == false)
        pages.isWhole = true
        pages.length = 2
        #expect(try part(RequestStage.Checkpoint(paging: pages))?.isWhole == true)
        #expect(try part(RequestStage.Checkpoint()) == nil)
        #expect(try part(ComputeCheckpoint()) == nil)
    }
}
