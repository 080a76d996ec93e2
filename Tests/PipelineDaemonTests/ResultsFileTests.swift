import Foundation
import JSONPath
import PipelineCore
import PipelineKit
import PipelineTestKit
import Testing

/// The rows that `--results` appends while a batch runs.
@Suite struct ResultsFileTests {
    /// A row that was cut stayed before the next one in its line, and no run of the batch took it away again.
    @Test(
        "a row for which there is no room leaves nothing, and those after it stand whole",
        .enabled(if: SmallDisk.isPossible, "needs the right to mount a file system"))
    func noRoom() throws {
        let disk = try SmallDisk(kilobytes: 4)
        let path = disk.path + "/rows.jsonl"
        let file = try ResultsFile(path, names: [])
        var count = 0
        func append() {
            count += 1
            file.append(ItemRecord(number: count, key: "item-\(count)", state: .succeeded))
        }
        while file.problem == nil, count < 1000 { append() }
        let fitted = count - 1
        append()
        try #require(disk.resize(kilobytes: 64))
        for _ in 1...3 { append() }
        let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
        let keys = try lines.map { try JSON.parse(Array($0.utf8))["item"]?.string }
        #expect(keys == (Array(1...fitted) + Array(fitted + 3...fitted + 5)).map { "item-\($0)" })
        #expect(file.problem?.contains("run the batch again to complete it") == true)
    }
}
