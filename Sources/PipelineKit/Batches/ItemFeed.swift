import Dispatch
import PipelineCore
import Synchronization

/// Reads what is left of a batch's sources on a thread of its own, for a pipe may keep its reader waiting; never more than
/// one chunk ahead of who takes them.
final class ItemFeed: Sendable {
    /// Rows that were read, and the place after them.
    struct Chunk: Sendable {
        var items: [NewItem] = []
        var place: ReadingPlace
        var isLast = false
        /// True if what comes next is standard input that another process was given.
        var isCut = false
    }

    private static let size = 1000

    /// The chunks in order; ends after the last, or with an ``ItemSourceError``.
    let chunks: AsyncThrowingStream<Chunk, any Error>
    private let continuation: AsyncThrowingStream<Chunk, any Error>.Continuation
    private let isTaken = DispatchSemaphore(value: 0)
    private let isStopped = Atomic<Bool>(false)

    private let readsStandardInput: Bool

    init(_ batch: BatchRecord, draft: JobDraft, folders: JobFolders, readsStandardInput: Bool) {
        self.readsStandardInput = readsStandardInput
        (chunks, continuation) = AsyncThrowingStream.makeStream()
        DispatchQueue(label: "batch.reading").async { [self] in
            do throws(ItemSourceError) {
                try read(batch, draft, folders)
                continuation.finish()
            } catch {
                continuation.finish(throwing: error)
            }
        }
    }

    /// Lets the reader go on to the next chunk.
    func goOn() { isTaken.signal() }

    /// Ends the reading as soon as the reader has nothing to wait for.
    func stop() {
        isStopped.store(true, ordering: .relaxed)
        isTaken.signal()
    }

    private func give(_ chunk: Chunk) {
        continuation.yield(chunk)
        isTaken.wait()
    }

    private func read(_ batch: BatchRecord, _ draft: JobDraft, _ folders: JobFolders) throws(ItemSourceError) {
        let names = draft.plan.definition.inputs.map(\.name)
        for (number, text) in batch.sources.enumerated() where number >= batch.place?.source ?? 0 {
            let place = batch.place?.source == number ? batch.place : nil
            let source = try ItemSource(text, inputs: names)
            if source.isStandardInput, !readsStandardInput {
                return give(Chunk(place: ReadingPlace(source: number), isCut: true))
            }
            let rows = try SourceItems(source, draft: draft, working: batch.folder, folders: folders, from: place)
            var items: [NewItem] = []
            // The end of the last of them: while more is waited for, reading may stand in the middle of a row.
            var end = rows.place(number)
            func giveItems() {
                if items.isEmpty { return }
                give(Chunk(items: items, place: end))
                items.removeAll(keepingCapacity: true)
            }
            rows.willWait(giveItems)
            while !isStopped.load(ordering: .relaxed) {
                guard let item = try rows.next() else {
                    giveItems()
                    break
                }
                items.append(item)
                end = rows.place(number)
                if items.count >= Self.size { giveItems() }
            }
        }
        if isStopped.load(ordering: .relaxed) { return }
        give(Chunk(place: ReadingPlace(source: batch.sources.count), isLast: true))
    }
}
