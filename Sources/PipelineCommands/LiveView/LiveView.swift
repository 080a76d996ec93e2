import PipelineCore
import PipelineKit

/// The live view of a job on a terminal: a line for each step, redrawn in place at most ten times a second.
final class LiveView: EventView {
    private struct Turning {
        var model: LiveModel
        /// The number of pictures before this one.
        var turn = 0
    }

    private let picture: LivePicture<Turning>

    /// - Parameters:
    ///   - title: a line that stands above from the first picture on.
    ///   - clock: the clock by which the job runs.
    init(console: Console, stages: [String], below title: StyledText? = nil, clock: any WallClock) {
        picture = LivePicture(
            of: Turning(model: LiveModel(stages: stages)), on: console, every: 100,
            above: [title].compactMap(\.self).map { .note($0) }
        ) { turning, columns, rows in
            defer { turning.turn += 1 }
            return LiveFrame(
                model: turning.model, now: clock.now, turn: turning.turn, width: columns, height: rows
            ).rows
        }
    }

    func show(_ event: JobEvent) { picture.update { $0.model.apply(event) } }

    func seed(_ job: JobSnapshot) { picture.update { $0.model.seed(job) } }

    func expect(_ count: Int, itemsOf stage: String) { picture.update { $0.model.expect(count, of: stage) } }

    func note(_ line: StyledText) { picture.write(.note(line)) }

    func finish() { picture.finish() }
}
