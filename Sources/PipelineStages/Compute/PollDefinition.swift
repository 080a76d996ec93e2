import JSONPath
import PipelineCore

/// A request that asks how a remote job is, and how its answer is read.
struct PollDefinition: Sendable {
    /// The time that `missing` is not believed where the document says nothing else.
    static let disbelief = Duration.seconds(10)

    /// The meaning of a value of `status` that stands in no list.
    enum UnknownStatus: String, Sendable, CaseIterable { case running, fail }

    /// The place of the progress.
    enum Progress: Sendable {
        /// A percentage from 0 to 100.
        case percentage(Selector)
        /// A share from 0 to 1.
        case fraction(Selector)
        case ratio(done: Selector, total: Selector)
    }

    @Indirect private(set) var request: RequestDefinition
    var status: Selector?
    /// The states that the document lists; ``lists`` once expressions among them have been put in.
    var states: [StatusLists.Meaning: [Setting<JSON>]] = [:]
    var lists = StatusLists()
    /// True if states that differ by case alone are the same.
    var ignoreCase = Setting.constant(false)
    var unknownStatus = UnknownStatus.running
    var until: Expression?
    var failWhen: Expression?
    /// The condition by which a response says that there is no such job; nil for status 404 and 410.
    var missing: Expression?
    /// The time that `missing` is not believed after the submit, or without one after the stage's start.
    var settle = Setting.constant(Self.disbelief)
    /// Finds the job in a list; nil when the answer is about it alone.
    var find: PollFind?
    /// The rule by which the events of a stream are read; nil when the answer is not one.
    var events: PollEvents?
    /// One request for many jobs; nil when each is asked for alone.
    @IndirectOptional var list: PollList?
    var progress: Progress?
    /// Seconds left.
    var remaining: Selector?
    /// The selector of the time when the job ended.
    var ended: Selector?
    var message: Selector?
    var pace = PollPaceDefinition()

    /// Returns the same with what expressions say of it put in.
    func settled<Checkpoint>(in context: StageContext<Checkpoint>) async throws(StageFailure) -> PollDefinition {
        var poll = self
        poll.lists = try await context.evaluate { scope throws(EvaluationFailure) in
            var lists = StatusLists()
            for (meaning, settings) in states {
                for setting in settings { lists.values[meaning, default: []].append(try setting.value(in: scope)) }
            }
            lists.ignoresCase = try ignoreCase.value(in: scope)
            return lists
        }
        return poll
    }

    /// True if it can tell that the job has succeeded.
    var knowsSuccess: Bool { until != nil || states[.succeeded]?.isEmpty == false || events?.knowsSuccess == true }
}

extension PollDefinition {
    /// Returns when the job ended, as the service says: RFC 3339, or seconds since 1970; nil when it says nothing of
    /// the kind.
    func endTime(in answer: ServiceResponse) -> Timestamp? {
        switch ended?.lenientValue(in: answer) {
        case .string(let text):
            if let time = try? Timestamp.parse(text) { return time }
            return Double(text).flatMap(Self.time)
        case .number(let number): return Self.time(number.double)
        default: return nil
        }
    }

    private static func time(_ seconds: Double) -> Timestamp? {
        // Until the year 9999.
        guard seconds > 0, seconds < 253_402_300_800 else { return nil }
        return Timestamp(milliseconds: Int64(seconds * 1000))
    }
}

/// The values of `status`, by what they mean.
struct StatusLists: Sendable {
    /// In the order in which they are looked through.
    enum Meaning: String, Sendable, CaseIterable { case running, failed, cancelled, succeeded }

    var values: [Meaning: [JSON]] = [:]
    var ignoresCase = false

    /// Returns what a status means; nil when it stands in no list. Of several states the first list that holds any
    /// decides, in the order running, failed, cancelled, succeeded: a job of which a part still runs is running.
    func meaning(of status: JSON) -> Meaning? {
        let states = status.array ?? [status]
        return Meaning.allCases.first { meaning in
            values[meaning]?.contains { value in states.contains { isSame(value, $0) } } == true
        }
    }

    private func isSame(_ value: JSON, _ state: JSON) -> Bool {
        if ignoresCase, let first = value.string, let second = state.string {
            return first.lowercased() == second.lowercased()
        }
        return value == state
    }
}
