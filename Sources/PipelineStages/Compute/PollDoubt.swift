import JSONPath
import PipelineCore

/// Something about an answer to a poll that is likely a mistake of the document or of the service: told once, and the
/// polls go on.
struct PollDoubt: Sendable, Equatable {
    /// Names the doubt, so that it is told once.
    let key: String
    let message: String

    /// True if the answer says nothing of the job, so that the person who waits is told each time.
    var isTrouble: Bool { key == Self.pageKey }

    private static let pageKey = "no JSON"
    /// The number of doubts of one stage that are told.
    static let limit = 8
    /// The key of the doubt that says nothing against the answer, only that the job takes long.
    static let lateKey = "late state"

    /// A rule of the poll that can't be put to the answer.
    static func rule(_ failure: StepFailure) -> PollDoubt {
        let hint = failure.hint.map { "; \($0)" } ?? ""
        return PollDoubt(
            key: "rule \(failure.title)",
            message: "a rule of the poll can't be put to the answer, which counts as running: \(failure.title)\(hint)")
    }

    /// Tells each doubt once.
    static func tell(
        _ doubts: [PollDoubt], _ checkpoint: inout ComputeCheckpoint, in context: ComputeStage.Context
    ) async throws(StageFailure) {
        for doubt in doubts {
            let told = checkpoint.told ?? []
            guard told.count < limit, !told.contains(doubt.key) else { continue }
            checkpoint.told = told + [doubt.key]
            try await context.warn(doubt.message)
        }
    }

    /// Returns what is doubtful about an answer that says that the job runs.
    ///
    /// - Parameter isLate: true if the job takes longer than was to be expected.
    static func doubts(
        about poll: PollDefinition, _ answer: ServiceResponse, isLate: Bool, excerpt: (String) -> String
    ) -> [PollDoubt] {
        let status = poll.status.flatMap { state(of: $0, poll, answer, isLate, excerpt) }
        return [status ?? page(poll, answer, excerpt), share(of: poll, answer)].compactMap(\.self)
    }

    /// The last event of a stream that ended, if its name may be one that the document means by another; nil for one that
    /// only keeps a connection open.
    static func lastEvent(_ name: String, _ events: PollEvents, excerpt: (String) -> String) -> PollDoubt? {
        let plain = name.lowercased()
        if ["ping", "beat", "alive"].contains(where: plain.contains) { return nil }
        let ends = events.meanings.filter { $0.value != .progress }.map(\.key).sorted()
        let guess = Suggestion.nearest(to: name, among: ends).map { "; did you mean \"\($0)\" to be it?" }
        return PollDoubt(
            key: "event \(name)",
            message:
                "the stream ended after the event \"\(excerpt(name))\", which is in none of the lists of \"events\", and "
                + "the job counts as running\(guess ?? "")")
    }

    private static func state(
        of selector: Selector, _ poll: PollDefinition, _ answer: ServiceResponse, _ isLate: Bool,
        _ excerpt: (String) -> String
    ) -> PollDoubt? {
        let status = selector.lenientValue(in: answer)
        guard status.isNull || status.array?.isEmpty == true else {
            return poll.lists.meaning(of: status) == nil ? word(status, poll.lists, isLate, excerpt) : nil
        }
        // A filter that finds nothing yet is a way to say that the job runs.
        if let query = try? JSONPathQuery(selector.text), !query.isSingular, (try? answer.json()) != nil { return nil }
        let start = answer.body.isEmpty ? "it is empty" : "it begins: \(excerpt(answer.text))"
        if selector.text.hasPrefix("$") || selector.text.hasPrefix("/"), !answer.body.isEmpty,
            (try? answer.json()) == nil
        {
            return noJSON(answer, excerpt)
        }
        return PollDoubt(
            key: "no state",
            message: "the status \(selector.text) finds nothing in the answer to the poll, which counts as running; "
                + start)
    }

    /// A page that is not the JSON of which a condition asks for members: all that such a condition finds is null.
    private static func page(
        _ poll: PollDefinition, _ answer: ServiceResponse, _ excerpt: (String) -> String
    ) -> PollDoubt? {
        let rules = poll.request.fail.map(\.condition)
        let conditions = [poll.missing, poll.failWhen, poll.until].compactMap(\.self) + rules
        guard conditions.contains(where: \.readsMembersOfBody), (try? answer.json()) == nil else { return nil }
        return noJSON(answer, excerpt)
    }

    private static func noJSON(_ answer: ServiceResponse, _ excerpt: (String) -> String) -> PollDoubt {
        let type = answer.header("Content-Type").first.map { " (\(excerpt($0)))" } ?? ""
        let start = answer.body.isEmpty ? "it is empty" : "it begins: \(excerpt(answer.text))"
        return PollDoubt(key: pageKey, message: "the answer to the poll is not JSON\(type); \(start)")
    }

    /// A state in none of the lists. Where the document lists no running states, every other word is one: then those are
    /// told at once that look like another list's, and the first of the others when the job is late.
    private static func word(
        _ status: JSON, _ lists: StatusLists, _ isLate: Bool, _ excerpt: (String) -> String
    ) -> PollDoubt? {
        let ends = StatusLists.Meaning.allCases.filter { $0 != .running }.flatMap { lists.values[$0] ?? [] }
        let states = status.array ?? [status]
        let shown = excerpt(status.text)
        let guess = states.compactMap { Self.guess(of: $0, among: ends, shown) }.first
        let hasRunning = lists.values[.running]?.isEmpty == false
        // What is not yet true is a way to say that the job runs.
        let isOpposite = states.allSatisfy(\.isBoolean) && ends.contains(where: \.isBoolean)
        guard hasRunning || guess != nil || isLate && !isOpposite else { return nil }
        return PollDoubt(
            key: hasRunning || guess != nil ? "state \(shown)" : lateKey,
            message: "the state \(shown) is in none of the lists of the poll, and counts as running\(guess ?? "")")
    }

    /// The words on the listed state that may be meant: one of another type with the same text, as 3 and "3", or one that is
    /// spelled much the same.
    private static func guess(of state: JSON, among listed: [JSON], _ shown: String) -> String? {
        if let same = listed.first(where: { plain($0) == plain(state) && $0.kindName != state.kindName }) {
            return "; \(same.text) in the lists is \(same.kindName), and this is \(state.kindName)"
        }
        return state.string.flatMap { Suggestion.nearest(to: $0, among: listed.compactMap(\.string)) }
            .map { "; did you mean \"\($0)\" to be \(shown)?" }
    }

    private static func plain(_ state: JSON) -> String { (state.string ?? state.text).lowercased() }

    private static func share(of poll: PollDefinition, _ answer: ServiceResponse) -> PollDoubt? {
        guard case .percentage(let selector) = poll.progress,
            let number = PollReport.number(selector.lenientValue(in: answer)), number > 0, number < 1
        else { return nil }
        return PollDoubt(
            key: "share",
            message: "the progress \(number) counts as a percentage; one that goes from 0 to 1 is written "
                + "\"progress\": { \"fraction\": \"\(selector.text)\" }")
    }
}

extension JSON {
    fileprivate var isBoolean: Bool { if case .bool = self { true } else { false } }
}
