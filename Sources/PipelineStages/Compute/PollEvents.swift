import JSONPath
import PipelineCore

/// The rule by which the events of a stream tell the state of a job: `"events": { "succeeded": ["complete"], "failed":
/// ["error"] }`.
struct PollEvents: Sendable {
    enum Meaning: String, Sendable, CaseIterable { case succeeded, failed, progress }

    /// The meaning of an event of that name; other events are passed over.
    let meanings: [String: Meaning]
    /// The names with their meanings, as a text: where it is another the events of before may mean something by now.
    let names: String

    private static let fields: [Field<[String]>] = [
        Field(
            Meaning.succeeded.rawValue, .array(of: .string), examples: [["complete"]],
            "Events that mean that the job has succeeded; what they bring is the answer that captures read."),
        Field(
            Meaning.failed.rawValue, .array(of: .string), examples: [["error"]],
            "Events that mean that the job has failed."),
        Field(
            Meaning.progress.rawValue, .array(of: .string), examples: [["generating"]],
            "Events that the poll's \"progress\", \"remaining\" and \"message\" read."),
    ]

    /// The field of a poll whose answer is a stream.
    static let field = Field(
        "events", type, examples: [["succeeded": ["complete"], "failed": ["error"]]],
        "The answer is a stream of server-sent events; an event's name is the state, its data the body.")

    private static let type = FieldType<PollEvents>.object(fields) { reader in
        var meanings: [String: Meaning] = [:]
        for (meaning, field) in zip(Meaning.allCases, fields) {
            for name in reader.value(field, default: []) {
                guard let other = meanings.updateValue(meaning, forKey: name), other != meaning else { continue }
                reader.findings.report(
                    reader.place(of: field.name) ?? reader.place,
                    "the event \"\(name)\" stands in \"\(other.rawValue)\" too", hint: "keep it in one of them")
            }
        }
        return PollEvents(meanings: meanings)
    }

    private init(meanings: [String: Meaning]) {
        self.meanings = meanings
        names = meanings.map { "\($0.key)=\($0.value.rawValue)" }.sorted().joined(separator: ",")
    }

    /// Returns where the stream goes on: behind the last event, unless that was looked at with other names.
    func start(after kept: StreamPosition?) -> StreamPosition {
        guard var start = kept, start.names ?? names == names else { return StreamPosition(names: names) }
        start.names = names
        return start
    }

    /// True if an event can say that the job has succeeded.
    var knowsSuccess: Bool { meanings.values.contains(.succeeded) }

    /// Reports keys of a poll that mean nothing for a stream.
    static func check(_ reader: ObjectReader, against keys: [String]) {
        guard reader.has(field.name) else { return }
        for key in keys where reader.has(key) {
            guard let place = reader.place(of: key) else { continue }
            reader.findings.report(
                place, "'\(key)' has no meaning beside 'events': the name of an event is the job's state",
                hint: "name the events in \"succeeded\", \"failed\" and \"progress\" of \"events\"")
        }
    }
}
