import Foundation
import JSONPath
import JournalConformance
import PipelineCore
import SeededNumbers
import Testing

@testable import PipelineJournal

/// Random walks over the rows of a batch, the process dying between any two commits: `PIPELINE_WALKS=100,1000` says how many
/// seeds and items.
@Suite("A batch's rows over crashes")
struct BatchWalkTests {
    private static let size: (seeds: Int, items: Int) = {
        let parts = (ProcessInfo.processInfo.environment["PIPELINE_WALKS"] ?? "").split(separator: ",").compactMap {
            Int($0)
        }
        return parts.count == 2 ? (parts[0], parts[1]) : (4, 120)
    }()

    @Test("no item is lost, begun twice or counted wrong", arguments: 0..<BatchWalkTests.size.seeds)
    func walk(seed: Int) async throws {
        var random = SplitMix64(seed: UInt64(seed))
        let world = try SQLiteWorld()
        defer { world.remove() }
        let count = Self.size.items
        var job = JobSnapshot.example(1, key: "june")
        job.steps = [:]
        var journal = try world.openSQLite()
        let batch = BatchRecord(sources: ["x"], folder: "/", settings: BatchSettings(atOnce: 16))
        var lease = try await journal.create(batch, job: job, events: [], owner: OwnerID("owner-0"))
        var read = 0
        var begun: [String: Int] = [:]
        var succeeded: Set<String> = []
        var running: [(item: ItemRecord, lease: Lease)] = []
        var lives = 0
        while true {
            switch Int.random(in: 0..<10, using: &random) {
            case 0...1 where read < count:
                // Rows that were read before a crash come again: they change nothing.
                let first = max(0, read - Int.random(in: 0...5, using: &random))
                let last = min(count, read + Int.random(in: 1...40, using: &random))
                let items = (first..<last).map { number in
                    NewItem(key: "k\(number)", line: number, inputs: ["n": .number(JSONNumber(number))])
                }
                _ = try await journal.reread(
                    lease, as: try #require(try await journal.batch(lease.job)), of: job.record)
                _ = try await journal.add(
                    items, place: ReadingPlace(source: 0, offset: Int64(last)), isRead: last == count,
                    known: KnownItemRule(), to: lease)
                read = last
            case 2...4:
                let claimed = try await journal.beginItems(Int.random(in: 1...16, using: &random), of: lease)
                for (item, _) in claimed {
                    #expect(!running.contains { $0.item.number == item.number }, "begun twice: \(item.key)")
                    #expect(!succeeded.contains(item.key), "done again: \(item.key)")
                    begun[item.key, default: 0] += 1
                }
                running += claimed
            case 5...8 where !running.isEmpty:
                let begun = running.remove(at: Int.random(in: 0..<running.count, using: &random))
                var item = begun.item
                item.state = [.succeeded, .succeeded, .failed, .suspended, .unknown].randomElement(using: &random)!
                item.ended = item.state.isEnded ? .at(9) : nil
                item.cost = item.state == .succeeded ? 0.25 : nil
                if item.state == .failed { item.failure = ItemFailure(stage: "a", failure: StepFailure("no")) }
                if item.state == .succeeded { succeeded.insert(item.key) }
                try await journal.finish(item, under: begun.lease)
            case 9:
                // The process dies: what was running is begun again by the next.
                lives += 1
                running = []
                await journal.close()
                journal = try world.openSQLite()
                lease = try await journal.acquire(job.record.id, for: OwnerID("owner-\(lives)"))
                let states: Set<ItemRecord.State> = [.running, .suspended, .unknown]
                for item in try await journal.items(of: lease.job, in: states, after: 0, limit: .max) {
                    running.append((item, try await journal.begin(item, of: lease)))
                }
                if Bool.random(using: &random) { _ = try await journal.retryItems(nil, in: [.failed], of: lease) }
            default: break
            }
            let wrong = try await journal.reader.read { (reader) throws(JournalFailure) in try reader.wrongCounts() }
            #expect(wrong.isEmpty)
            if !wrong.isEmpty { return }
            if read == count, succeeded.count == count { break }
        }
        let end = try #require(try await journal.batch(lease.job))
        #expect(end.count(.succeeded) == count && end.itemCount == count && begun.count == count)
        #expect(end.cost == Double(count) / 4)
        await journal.close()
    }
}
