import JSONPath
package import PipelineCore

/// Steps of a runner of batches, as their rows see them.
extension Journal where Self: BatchJournal {
    /// Begins the next pending items, each by the making of its job; gives them as they are then, with their leases.
    package func beginItems(_ limit: Int, of batch: Lease) async throws -> [(item: ItemRecord, lease: Lease)] {
        var begun: [(item: ItemRecord, lease: Lease)] = []
        for item in try await items(of: batch.job, in: [.pending], after: 0, limit: limit) {
            begun.append((item, try await begin(item, of: batch)))
        }
        return try await begun.asyncMap { (try await self.item($0.item.key, of: batch.job) ?? $0.item, $0.lease) }
    }

    /// Begins one item: its first job, or again the one that it has.
    package func begin(_ item: ItemRecord, of batch: Lease) async throws -> Lease {
        if let job = item.job {
            let lease = try await acquire(job, for: batch.owner)
            try await commit([.reopened, .taken(.attached), .item(ItemOutcome(.running))], under: lease)
            return lease
        }
        var record = JobSnapshot.example(1_000 + item.number, key: "\(batch.job.text).\(item.number)").record
        record.item = BatchItem(batch: batch.job, key: item.key)
        return try await create(
            JobSnapshot(record: record, steps: [:], mode: .attached), events: [], owner: batch.owner)
    }

    /// Has the job of an item come to rest, as the item says.
    package func finish(_ item: ItemRecord, under lease: Lease) async throws {
        var outcome = ItemOutcome(item.state)
        (outcome.ended, outcome.seconds, outcome.failure) = (item.ended, item.seconds, item.failure)
        (outcome.cost, outcome.moved) = (item.cost, item.moved)
        (outcome.results, outcome.files) = (item.results, item.files)
        let end: JournalChange =
            if let ended = item.ended { .ended(ended) } else { .released(item.state == .unknown ? nil : .paused) }
        try await commit([.item(outcome), end], under: lease)
    }
}

extension Array {
    fileprivate func asyncMap<Value>(_ body: (Element) async throws -> Value) async throws -> [Value] {
        var values: [Value] = []
        for element in self { values.append(try await body(element)) }
        return values
    }
}
