import JSONPath
import PipelineCore
import PipelineSQL

/// Rows whose keys are known from before their reading, and what becomes of their items.
extension BatchRows {
    /// The item that has a key by now, and whether its row came before in this reading; nil when there is none.
    func known(
        _ key: String, _ reading: Int, _ batch: Int64
    ) throws(JournalFailure) -> KnownRow? {
        try first(
            "SELECT number, inputs, reading, state, job, cost FROM items WHERE batch = :batch AND key = :key",
            ["batch": batch, "key": key]
        ) { (row) throws(JournalFailure) in
            let number = row.int("number")
            // Rows of before the column were new in the reading that began with their number or an earlier one.
            let isOfThisReading = row.optionalInt("reading").map { $0 == reading } ?? (number >= reading)
            return KnownRow(
                number: number, inputs: try row.object("inputs"), state: ItemRecord.State(rawValue: row.text("state")),
                isOfThisReading: isOfThisReading, isAside: row.isAside, job: row.optionalText("job"),
                cost: row.isNull("cost") ? nil : row.double("cost"))
        }
    }

    /// What becomes of an item that was there before this reading, now that a row names it.
    enum Fate {
        case stays
        case isUnderWay
        /// As a new item of its key.
        case isReplaced(ItemRecord)
        case isRetried(ItemRecord.State)
        /// It was to begin again, and does not.
        case isAsItWas
        /// It is not begun, for a reason that the row has.
        case isLeft(NewItem)
    }

    func fate(
        of known: KnownRow, _ item: NewItem, _ rule: KnownItemRule, _ batch: Int64
    ) throws(JournalFailure) -> Fate {
        let isMended = known.isMended(by: item)
        let retried = isMended ? nil : known.state.flatMap { rule.retries.contains($0) ? $0 : nil }
        let begins = retried != nil || known.state == .pending
        let isOutdated = rule.replacesChanged && !isMended && begins ? try isOutdated(known, item, batch) : false
        // Of what was never begun nothing is done: it is what its row says now.
        if isMended && (rule.replacesChanged || !known.wasBegun) || isOutdated,
            let before = try self.item(known.number, of: batch)
        {
            guard before.state == .pending || before.state.isEnded else { return .isUnderWay }
            guard try mayBeAtService(before) else { return .isReplaced(before) }
            return .isLeft(item.refused("a submit of it may be at the service, and it is left alone"))
        }
        if isMended, known.state == .pending { return .isAsItWas }
        guard let retried else { return .stays }
        return item.failure == nil ? .isRetried(retried) : .isLeft(item)
    }

    /// What a row is compared with whose key is known.
    struct KnownRow {
        let number: Int
        let inputs: JSONObject
        let state: ItemRecord.State?
        let isOfThisReading: Bool
        let isAside: Bool
        let job: String?
        let cost: Double?

        /// False for one that is to begin for the first time.
        var wasBegun: Bool { state != .pending || job != nil }

        /// True if the row says other inputs than the item has.
        func isMended(by row: NewItem) -> Bool { inputs != row.inputs && row.failure == nil }
    }

    /// True if an item that is to begin would do so as it was read, and not as its row is by now: with files that it does not
    /// have, or as a job of another document or other shared inputs.
    private func isOutdated(_ known: KnownRow, _ item: NewItem, _ batch: Int64) throws(JournalFailure) -> Bool {
        if item.failure != nil { return false }
        guard let job = known.job else { return try !owns(item, known, batch) }
        return try first(
            """
            SELECT own.document AS document, whole.document AS latest, own.inputs AS inputs, whole.inputs AS shared
            FROM jobs AS own JOIN jobs AS whole ON whole.number = :batch WHERE own.id = :job
            """, ["batch": batch, "job": job]
        ) { (row) throws(JournalFailure) in
            func shared(_ inputs: JSONObject) -> [String: JSON] {
                let members = inputs.filter { item.inputs[$0.name] == nil }.map { ($0.name, $0.value) }
                return Dictionary(members, uniquingKeysWith: { first, _ in first })
            }
            let (before, now) = (shared(try row.object("inputs")), shared(try row.object("shared")))
            return row.integer("document") != row.integer("latest") || before != now
        } ?? false
    }

    /// True if an item has ended, and nobody knows of a submit of its job whether the service took it: as a new item it would be
    /// submitted a second time.
    private func mayBeAtService(_ item: ItemRecord) throws(JournalFailure) -> Bool {
        guard let job = item.job, item.state != .succeeded else { return false }
        return try first(
            """
            SELECT 1 AS one FROM jobs JOIN submits ON submits.job = jobs.number
            WHERE jobs.id = :job AND (phase = 'sending' OR phase = 'unknown') LIMIT 1
            """, ["job": job.text]
        ) { _ in true } ?? false
    }

    private func owns(_ item: NewItem, _ known: KnownRow, _ batch: Int64) throws(JournalFailure) -> Bool {
        for path in item.targets {
            let owner = try first(
                "SELECT number FROM targets WHERE batch = :batch AND path = :path", ["batch": batch, "path": path]
            ) { $0.int("number") }
            guard owner == known.number else { return false }
        }
        return true
    }
}
