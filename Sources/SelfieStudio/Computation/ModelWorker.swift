/// Computes the models of a queue, several at a time, until it is cancelled.
///
/// A computation that a stop or a crash ends stays `working` in the ledger; the next start queues it again.
struct ModelWorker: Sendable {
    var ledger: ModelLedger
    var library: VideoLibrary
    var statistics: Statistics
    var settings: StudioSettings
    var clock = ContinuousClock()

    func run(_ queue: AsyncStream<String>) async {
        await withTaskGroup(of: Void.self) { group in
            var running = 0
            for await id in queue {
                if running >= max(settings.workers, 1) {
                    await group.next()
                    running -= 1
                }
                group.addTask { await compute(id) }
                running += 1
            }
            group.cancelAll()
        }
    }

    @concurrent
    private func compute(_ id: String) async {
        do {
            guard let record = try ledger.advance(id, { $0.state = .working }) else { return }
            statistics.count(\.computationsStarted)
            let files = try await sculpt(record)
            let kept = try ledger.advance(id) {
                $0.state = settings.failsModels ? .error : .done
                $0.message = settings.failsModels ? "every model fails on purpose" : nil
                $0.files = settings.failsModels ? [:] : files
            }
            if kept?.state != .done { ledger.removeFiles(id) }
        } catch is CancellationError {
            // Either the studio stops, and the record stays as it is, or the model was cancelled and is over.
            if ledger.record(id)?.isOver == true { ledger.removeFiles(id) }
        } catch {
            ledger.removeFiles(id)
            _ = try? ledger.advance(id) {
                $0.state = .error
                $0.message = "\(error)"
            }
        }
    }

    /// Each step waits until its share of the least time is over, and only then counts as done.
    private func sculpt(_ record: ModelRecord) async throws -> [ModelFile: Sculptor.WrittenFile] {
        let start = clock.now
        let least = Duration.seconds(settings.minimumSeconds)
        try ledger.note(.init(share: 0, end: settings.minimumSeconds > 0 ? start + least : nil), of: record.id)
        return try await Sculptor().sculpt(
            video: library.path(of: record.video), quality: record.quality,
            path: { ledger.path(of: $0, record.id) }
        ) { share in
            try Task.checkCancellation()
            let due = start + least * share
            if clock.now < due { try await clock.sleep(until: due, tolerance: .zero) }
            let total = max((clock.now - start) / share, least)
            try ledger.note(.init(share: share, end: start + total), of: record.id)
            await Task.yield()
        }
    }
}
