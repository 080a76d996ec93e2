package import JSONPath

/// The part of a journal that keeps batches. A batch is a job: it is made, acquired, asked to stop and let go as one; here is what it
/// has besides. Every write names the lease of the batch's job, and `.stale` says that another process has it by now.
///
/// An item is begun by the making of its job (``Journal/create(_:events:owner:)``), which is `.stale` unless the item is
/// pending, and moves on with ``JournalChange/item(_:)`` in the commits of that job, wherever it runs. The counts of the
/// batch change in the same transactions.
package protocol BatchJournal: Sendable {
    /// Keeps a new batch with its job.
    func create(
        _ batch: BatchRecord, job: JobSnapshot, events: [JobEvent], owner: OwnerID
    ) async throws(JournalFailure) -> Lease
    /// The batch of a job; nil for a job that is none.
    func batch(_ job: JobID) async throws(JournalFailure) -> BatchRecord?
    /// Adds rows that were read, in one transaction with the place that reading has reached, and numbers them. A row whose
    /// key is known from before this reading changes nothing; one whose key came in this reading is a duplicate.
    /// A row whose key is known with other inputs is named, and takes the place of an item of which nothing was done; one that
    /// was to begin again does not. What else becomes of known items the rule says.
    func add(
        _ items: [NewItem], place: ReadingPlace, isRead: Bool, known: KnownItemRule, to batch: Lease
    ) async throws(JournalFailure) -> AddedItems
    /// Begins a new reading: of the sources that the record names, within its settings, for the document and the inputs
    /// of the job's record, from the place of the record on. Rows that could not be begun and duplicates are forgotten; the reading tells them again.
    func reread(_ batch: Lease, as record: BatchRecord, of job: JobRecord) async throws(JournalFailure)
    /// Has a pending item fail that can't be begun.
    func fail(
        _ item: Int, because failure: StepFailure, at time: Timestamp, of batch: Lease
    ) async throws(JournalFailure)
    /// Has an item end that a person does not want and nobody has begun; false for one that is not pending. It needs no
    /// lease: who owns the batch finds the item gone when it would begin it.
    func cancelItem(_ item: Int, at time: Timestamp, of batch: JobID) async throws(JournalFailure) -> Bool
    /// Makes items that ended in one of the states pending again, but rows that could not be begun; of all keys when none
    /// is named. Returns how many.
    func retryItems(
        _ keys: [String]?, in states: Set<ItemRecord.State>, of batch: Lease
    ) async throws(JournalFailure) -> Int
    /// Makes items that were to begin again, and have not, what they were before.
    func withdrawRetries(of batch: Lease) async throws(JournalFailure)
    /// Makes a file that of the item whose job the lease is for; a folder is one for all that is in it. Returns the key
    /// of the other item of its batch whose file it is, and changes nothing then; nil for none, and for a job of its
    /// own. An item keeps its files over retries, and as a new one of its key.
    func claimFile(_ path: String, isFolder: Bool, under lease: Lease) async throws(JournalFailure) -> String?
    /// Changes what bounds the batch.
    func configure(_ settings: BatchSettings, of batch: Lease) async throws(JournalFailure)
    /// Says why no more items begin; nil when they may again.
    func stop(_ cause: SuspensionCause?, _ batch: Lease) async throws(JournalFailure)
    /// Items in the order of their numbers, after a number; of all states when none is named.
    func items(
        of batch: JobID, in states: Set<ItemRecord.State>?, after number: Int, limit: Int
    ) async throws(JournalFailure) -> [ItemRecord]
    /// The items that are to begin, first those that were read first; but none that no row of the latest reading names.
    func pendingItems(of batch: JobID, limit: Int) async throws(JournalFailure) -> [ItemRecord]
    /// The item of a key, or of a number written in digits; nil when there is none.
    func item(_ key: String, of batch: JobID) async throws(JournalFailure) -> ItemRecord?
    /// The failures in groups, the largest first, each with the first item that failed so.
    func failures(of batch: JobID, limit: Int) async throws(JournalFailure) -> [FailureGroup]
}

/// A row that was read and checked.
package struct NewItem: Sendable, Hashable {
    /// The most bytes that a key may have in UTF-8, and the path of a file that the item writes. Both stand in an index, and
    /// one of PostgreSQL takes no more than 2,704 bytes a row (PostgreSQL manual, B-Tree: a third of a page).
    package static let longestName = 2_400

    package let key: String
    package let line: Int?
    package let inputs: JSONObject
    /// The reason why it can't be begun; nil for a good row.
    package var failure: StepFailure?
    /// The place where its row stands, `FILE:LINE`; nil for files that a pattern found.
    package var place: String?
    /// The absolute paths of the files that it writes, as far as its inputs tell. Only one item of a batch writes a file.
    package var targets: [String] = []

    package init(key: String, line: Int?, inputs: JSONObject, failure: StepFailure? = nil, place: String? = nil) {
        self.place = place
        self.key = key
        self.line = line
        self.inputs = inputs
        self.failure = failure
    }

    /// The row as one that is not begun, for the reason given.
    package func refused(_ reason: String) -> NewItem {
        var item = self
        item.failure = StepFailure(reason)
        return item
    }
}

/// What becomes of an item that was there before this reading, once a row names it.
package struct KnownItemRule: Sendable, Hashable {
    /// One whose row says other inputs by now becomes a new item of its key, unless it is under way.
    package var replacesChanged: Bool
    /// One that ended in such a state, and whose row says what it said, is pending again; but not one of a row that could
    /// not be begun.
    package var retries: Set<ItemRecord.State>

    package init(replacesChanged: Bool = false, retries: Set<ItemRecord.State> = []) {
        self.replacesChanged = replacesChanged
        self.retries = retries
    }
}

/// The result of adding rows.
package struct AddedItems: Sendable, Hashable {
    package var added = 0
    package var duplicates = 0
    package var known = 0
    /// Rows whose key is known with other inputs.
    package var changed: [String] = []
    /// Those of them whose items would have been replaced, were they not under way: nothing was changed for them, and they can
    /// be added again once these have ended.
    package var underWay: [NewItem] = []
    /// Rows that can't be begun.
    package var bad: [NewItem] = []

    package init() {}
}

/// Items that failed alike.
package struct FailureGroup: Sendable, Hashable {
    package let stage: String?
    /// The status of a refusal, or else what the sentences of all of them have in common.
    package let code: String
    package let count: Int
    /// The first item that failed so, and its error's title.
    package let example: String
    package let message: String
    /// The place where the row of the first stands, `FILE:LINE`; nil for items whose rows are right.
    package var place: String?
    /// True if any of them was begun, so that it can be begun again.
    package var wasBegun = true

    /// The status of a refusal; nil where there is none, and the message says more than the code.
    package var status: Int? { Int(code) }

    package init(stage: String?, code: String, count: Int, example: String, message: String) {
        self.stage = stage
        self.code = code
        self.count = count
        self.example = example
        self.message = message
    }
}

extension [FailureGroup] {
    /// True if nothing failed but rows that were never begun: there is nothing to begin again.
    package var areRows: Bool { !isEmpty && allSatisfy { !$0.wasBegun } }
}
