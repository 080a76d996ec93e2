import JSONPath

/// One entry of `notify`: of which events somebody is told, and how.
public struct NotifyDefinition: Sendable {
    /// The events of a job that somebody can be told of.
    public enum Event: String, Sendable, CaseIterable {
        case started
        /// The estimated end is reached; ``NotifyDefinition/quantile`` says which.
        case estimated
        /// The job takes longer than 99 of 100 such jobs.
        case late
        case succeeded, failed, unknown
        /// A resume was put off for the budget's sake.
        case deferred
    }

    package let events: [Event]
    /// Which quantile of the job's estimated end `estimated` stands for, above 0 and below 1; nil for the usual one.
    package let quantile: Setting<Double>?
    package let sink: NotificationSinkDefinition
    /// The place where it stands in the document.
    package let place: SourceLocation

    static let eventsField = Field(
        "on", FieldType<[Event]>.array(of: FieldType<Event>.word("event"), atLeast: 1), required: true,
        examples: [["succeeded", "failed"]], "The events.")
    static let quantileField = Field(
        "at", .quantity(0.01...0.99, roots: .known), examples: [0.9],
        "The quantile of the job's estimated end that 'estimated' stands for.")

    static var fields: [any AnyField] { [eventsField, quantileField] + NotificationSinkDefinition.fields }

    static var type: FieldType<NotifyDefinition> {
        FieldType(schema: schema(with: [])) { place, findings in
            let others = findings.sinks
            let known = FieldTable(fields + others.map(\.field))
            guard let reader = ObjectReader(place, table: known, findings: findings) else { return nil }
            let events = reader.required(eventsField)
            let quantile = reader.optional(quantileField)
            let sink = NotificationSinkDefinition.read(reader, others)
            if let place = reader.place(of: "at"), let events, !events.contains(.estimated) {
                findings.report(
                    place, "'at' has a meaning only for the event 'estimated'",
                    hint: "add \"estimated\" to \"on\", or take \"at\" out")
            }
            guard reader.finish(), let events, let sink else { return nil }
            return NotifyDefinition(events: events, quantile: quantile, sink: sink, place: place)
        }
    }

    /// The schema of an entry, with the sinks that a catalogue has beyond those of the format.
    static func schema(with others: [NotificationSinkKind]) -> JSON {
        let sinks: [any AnyField] = NotificationSinkDefinition.fields + others.map(\.field)
        var schema = ([eventsField, quantileField] + sinks).objectSchema.object ?? [:]
        schema["title"] = "notification"
        schema["oneOf"] = .array(sinks.map { ["required": [.string($0.name)]] })
        return .object(schema)
    }
}
