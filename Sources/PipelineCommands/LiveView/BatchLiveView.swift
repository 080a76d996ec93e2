import PipelineCore
import PipelineKit

/// The live view of a batch on a terminal, redrawn in place: a bar for the batch and for each stage, the items at work as room
/// allows, the last failures.
final class BatchLiveView: Sendable {
    private let picture: LivePicture<BatchLiveModel>

    /// - Parameter clock: the clock by which the batch runs.
    init(console: Console, key: String, stages: [String], batch: BatchRecord, clock: any WallClock) {
        picture = LivePicture(
            of: BatchLiveModel(key: key, stages: stages, batch: batch, started: clock.now), on: console, every: 200
        ) { model, columns, rows in model.rows(width: columns, height: rows, now: clock.now) }
    }

    func show(_ event: JobEvent) { picture.update { $0.apply(event) } }
    func take(_ news: BatchNews) { picture.update { $0.apply(news) } }
    /// Writes a line of data above the picture.
    func data(_ line: String) { picture.write(.data(line)) }
    /// Writes lines for people above the picture.
    func note(_ message: String) {
        for line in message.split(separator: "\n", omittingEmptySubsequences: false) {
            picture.write(.note(StyledText(message: String(line))))
        }
    }

    func finish() { picture.finish(vanishes: true) }
}
