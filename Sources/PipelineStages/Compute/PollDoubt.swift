import JSONPath
import PipelineCore

/// Something about an answer to a poll that is likely a mistake of the document or of the service: told once, and the
/// polls go on.
struct PollDoubt: Sendable, Equatable {
    /// Names the doubt, so that it is told once.
    let key: String
    let message: String

    /// The number of doubts of one stage that are told.
    static let limit = 8

    /// Returns what is doubtful about an answer that says that the job runs.
    static func doubts(
        about poll: PollDefinition, _ answer: ServiceResponse, excerpt: (String) -> String
    ) -> [PollDoubt] {
        let status = poll.status.flatMap { state(of: $0, poll, answer, excerpt) }
        return [status ?? page(poll, answer, excerpt), share(of: poll, answer)].compactMap(\.self)
    }

    private static func state(
        of selector: Selector, _ poll: PollDefinition, _ answer: ServiceResponse, _ excerpt: (String) -> String
    ) -> PollDoubt? {
        let status = selector.lenientValue(in: answer)
        guard status.isNull || status.array?.isEmpty == true else {
            return poll.lists.meaning(of: status) == nil ? word(status, poll.lists, excerpt) : nil
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
        return PollDoubt(key: "no JSON", message: "the answer to the poll is not JSON\(type); \(start)")
    }

    /// A state in none of the lists. Where the document lists no running states, every such word is one; then only
    /// those are told that look like another list's.
    private static func word(_ status: JSON, _ lists: StatusLists, _ excerpt: (String) -> String) -> PollDoubt? {
        let listed = lists.values.filter { $0.key != .running }.values.joined().compactMap(\.string)
        let near = (status.array ?? [status]).compactMap(\.string).compactMap {
            Suggestion.nearest(to: $0, among: listed)
        }
        guard lists.values[.running]?.isEmpty == false || !near.isEmpty else { return nil }
        let shown = excerpt(status.text)
        let guess = near.first.map { "; did you mean \"\($0)\" to be \(shown)?" } ?? ""
        return PollDoubt(
            key: "state \(shown)",
            message: "the state \(shown) is in none of the lists of the poll, and counts as running\(guess)")
    }

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
