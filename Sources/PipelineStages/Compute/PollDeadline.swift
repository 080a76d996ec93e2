import PipelineCore
import PipelineHTTP

/// The deadline of a stage that watches a remote job, as one poll meets it.
///
/// It cuts a poll short that gets no answer. Another one is made past it, at once, so that a job which ended in time is
/// not lost; when that one finds no end either, the stage ends.
struct PollDeadline {
    typealias Context = ComputeStage.Context

    /// How long an answer may take past the deadline where the author does not say.
    private static let usualAnswer = Duration.seconds(30)

    private let context: Context
    /// The time when the poll began.
    private let begun: Timestamp
    /// Nil where there is none.
    private let time: Timestamp?

    /// The stage's own deadline, for a poll that begins now.
    init(in context: Context) { self.init(in: context, at: context.facts.deadline) }

    /// A deadline for a poll that begins now: of one that many jobs share the earliest of theirs.
    init(in context: Context, at time: Timestamp?) {
        self.context = context
        self.time = time
        begun = context.now
    }

    /// True once it has come.
    var isPast: Bool { time.map { context.now >= $0 } ?? false }

    /// True from five seconds before it on: a list that many share is not cut so short for one of them.
    var isNear: Bool { time.map { context.now >= $0 - .seconds(5) } ?? false }

    /// Returns how long a poll may take from now: until the deadline, past which another one is made. Nil without a
    /// deadline.
    /// - Parameter answer: how long that one may; nil for the usual time.
    func timeLimit(answer: Duration? = nil) -> Duration? {
        time.map { $0 > context.now ? $0 - context.now : answer ?? Self.usualAnswer }
    }

    /// Limits the time of a request that polls.
    func limit(_ options: inout ExchangeOptions) {
        // What the author allows one answer holds past the deadline too.
        let own = options.totalTimeout
        guard let limit = timeLimit(answer: own) else { return }
        options.totalTimeout = min(own ?? limit, limit)
    }

    /// Returns the outcome by which another poll is made at once, when the deadline passed during one that found no
    /// end; nil otherwise.
    func pollAgain(after finding: PollFinding, _ checkpoint: ComputeCheckpoint) -> ComputeStage.Outcome? {
        guard let time, !finding.isEnd, begun < time, context.now >= time else { return nil }
        return .waiting(checkpoint, until: .at(context.now), WaitReason(.poll))
    }

    /// Ends the stage once the deadline is past, at the service too: what was cancelled there is not waited for again.
    func enforce(on stage: ComputeStage) async throws(StageFailure) {
        guard isPast else { return }
        var failure = GuardedSubmit.tooLate(context)
        failure.service = stage.requests.service?.name
        var isOver = false
        var word: String?
        do throws(StageFailure) {
            let status = try await stage.cancelRequest?.cancel(by: stage.requests, in: context)
            // 409 says that it had ended before, perhaps with its result.
            isOver = stage.submit != nil && status.map { $0 != 409 } == true
            if isOver { word = "the job was cancelled at the service" }
            if status == nil, stage.submit != nil {
                word = "the job goes on at the service, where \"cancel\" would end it"
            }
        } catch {
            guard case .failed(let failed) = error else { throw error }
            failure.hint = nil
            word = "the service could not be told to stop the job: \(failed.failure.title)"
        }
        let words = [word, failure.hint].compactMap(\.self)
        failure.hint = words.isEmpty ? nil : words.joined(separator: "; ")
        throw isOver ? .remoteJobEnded(failure) : .definite(failure)
    }
}

extension RequestDefinition {
    /// Has a service end a remote job, and gives the status of its response: one that is gone already is as good.
    func cancel(
        by requests: StageRequests, in context: StageContext<ComputeCheckpoint>
    ) async throws(StageFailure) -> Int {
        let gone = StatusSet([200...299, 404...404, 409...410])
        return try await requests.perform(self, in: context, role: "cancel", expecting: gone).status
    }
}
