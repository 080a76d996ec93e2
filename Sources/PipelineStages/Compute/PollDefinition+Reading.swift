import JSONPath
import PipelineCore

extension PollDefinition {
    /// One poll, or a list of which the first that finds the job decides.
    static func listType(_ decorators: DecoratorCatalogue) -> FieldType<[PollDefinition]> {
        let one = type(decorators)
        return .either(.array(of: one, atLeast: 1), when: { $0.isArray }, or: one.map { [$0] })
    }

    static func type(_ decorators: DecoratorCatalogue) -> FieldType<PollDefinition> {
        let fields = PollFields(decorators)
        let table = FieldTable(fields.all)
        return FieldType(schema: fields.request.schema(with: fields.all)) { place, findings in
            guard let reader = ObjectReader(place, table: table, findings: findings) else { return nil }
            let definition = fields.read(reader)
            return reader.finish() ? definition : nil
        }
    }
}

/// The table of a poll's fields: a request's, and how its answer is read.
private struct PollFields: Sendable {
    let request: RequestFields
    let status = Field("status", FieldType<Selector>.selector, "Where the job's state stands.")
    let lists: [(meaning: StatusLists.Meaning, field: Field<[Setting<JSON>]>)] = StatusLists.Meaning.allCases.map {
        meaning in
        (meaning, Field(meaning.rawValue, .states, "States that mean: \(meaning.rawValue)."))
    }
    let ignoreCase = Field(
        "ignoreCase", FieldType<Setting<Bool>>.flag(), default: false,
        "Whether states that differ by case are the same.")
    let unknownStatus = Field(
        "unknownStatus", FieldType<PollDefinition.UnknownStatus>.word("meaning of an unknown state"),
        default: "running",
        "What a state in none of the lists means.")
    let until = Field("until", FieldType<Expression>.expression(.judgement), "Holds when the job has succeeded.")
    let failWhen = Field("failWhen", FieldType<Expression>.expression(.judgement), "Holds when the job has failed.")
    let missing = Field(
        "missing", FieldType<Expression>.expression(.judgement),
        default: "response.status == 404 || response.status == 410",
        "Holds when there is no such job. Of 401, 403, 407, 408, 425, 429 and 5xx it is believed only if it reads response.status."
    )
    let settle = Field(
        "settle", FieldType<Setting<Duration>>.duration(), default: "10s",
        "How long \"missing\" is not believed after the submit, or without one after the stage's start.")
    let find = Field(
        "find", PollFind.type, examples: [["items": "$.runs[*]", "where": "item.name == self.key"]],
        "The poll is a list, of which one entry is the answer; none is running.")
    let list: Field<PollList>
    let progress = Field(
        "progress", FieldType<PollDefinition.Progress>.progress,
        "How far the job is: a percentage, a fraction from 0 to 1, or how much is done of how much.")
    let remaining = Field("remaining", FieldType<Selector>.selector, "Seconds that the job still takes.")
    let ended = Field(
        "ended", FieldType<Selector>.selector,
        "When the job ended, as the service says: RFC 3339 or seconds since 1970; estimates then learn the true duration."
    )
    let message = Field("message", FieldType<Selector>.selector, "What the service says about the job.")
    let pace = PollPaceFields()

    init(_ decorators: DecoratorCatalogue) {
        request = RequestFields(.request, decorators: decorators, options: .init())
        list = Field(
            "list", PollList.type(decorators),
            examples: [
                [
                    "GET": "/models", "query": ["ids": "${{ join(ids, ',') }}"], "items": "$.data[*]", "id": "$.id",
                    "atMost": 100,
                ]
            ],
            "One request for many jobs at a time, of all jobs of the process; each entry is read as this poll's answer."
        )
    }

    var all: [any AnyField] {
        let states: [any AnyField] = [status] + lists.map(\.field) + [ignoreCase, unknownStatus]
        let rules: [any AnyField] = [
            until, failWhen, missing, settle, find, list, PollEvents.field, progress, remaining, ended,
            message,
        ]
        return request.all + states + rules + pace.all
    }

    func read(_ reader: ObjectReader) -> PollDefinition? {
        let definition = request.read(reader)
        let statusSelector = reader.optional(status)
        let states = readStates(reader)
        let paceDefinition = pace.read(reader)
        var poll = PollDefinition(request: definition ?? RequestDefinition(captured: ""))
        poll.status = statusSelector
        poll.states = states
        poll.ignoreCase = reader.value(ignoreCase, default: .constant(false))
        poll.unknownStatus = reader.value(unknownStatus, default: .running)
        poll.until = reader.optional(until)
        poll.failWhen = reader.optional(failWhen)
        poll.missing = reader.optional(missing)
        poll.settle = reader.value(settle, default: poll.settle)
        poll.find = reader.optional(find)
        poll.events = reader.optional(PollEvents.field)
        PollEvents.check(
            reader,
            against: [status.name, unknownStatus.name, ignoreCase.name, until.name, failWhen.name, find.name]
                + lists.map(\.field.name) + pace.all.map(\.name))
        poll.list = reader.optional(list)
        poll.progress = reader.optional(progress)
        poll.remaining = reader.optional(remaining)
        poll.ended = reader.optional(ended)
        poll.message = reader.optional(message)
        poll.pace = paceDefinition
        return definition == nil ? nil : poll
    }

    private func readStates(_ reader: ObjectReader) -> [StatusLists.Meaning: [Setting<JSON>]] {
        var result: [StatusLists.Meaning: [Setting<JSON>]] = [:]
        for (meaning, field) in lists {
            result[meaning] = reader.value(field, default: [])
            if reader.has(field.name), !reader.has("status"), let place = reader.place(of: field.name) {
                reader.findings.report(
                    place, "'\(field.name)' lists states, and 'status' does not say where the state stands",
                    hint: "add \"status\": \"$.state\"")
            }
        }
        checkMeanings(reader)
        return result
    }

    /// Warns of states that stand in two lists: the first of these would decide in silence.
    private func checkMeanings(_ reader: ObjectReader) {
        var meanings: [JSON: StatusLists.Meaning] = [:]
        for (meaning, field) in lists {
            for place in reader.place(of: field.name)?.elements ?? [] {
                let state = place.node.json
                if let other = meanings[state], other != meaning {
                    reader.findings.warn(
                        place, "the state \(state.text) stands in \"\(other.rawValue)\" too",
                        hint: "a state means one thing: keep it in one of the lists")
                } else {
                    meanings[state] = meaning
                }
            }
        }
    }
}

extension FieldType where Value == [Setting<JSON>] {
    /// States of a job: strings, numbers and booleans.
    fileprivate static var states: FieldType {
        let state = FieldType<Setting<JSON>>.setting(
            schema: ["type": ["string", "number", "boolean"]], roots: .request
        ) { json throws(ValueSyntaxError) in
            switch json {
            case .string, .number, .bool: return json
            case .null, .array, .object:
                throw ValueSyntaxError("a state is a string, a number, true or false, not \(json.kindName)")
            }
        }
        return .array(of: state)
    }
}

extension FieldType where Value == PollDefinition.Progress {
    /// A selector of a percentage, `{ "fraction": S }`, or `{ "done": S, "total": S }`.
    fileprivate static var progress: FieldType {
        let done = Field("done", FieldType<Selector>.selector, required: true, "How much is done.")
        let total = Field("total", FieldType<Selector>.selector, required: true, "How much there is.")
        let ratio = FieldType.object([done, total]) { reader in
            let done = reader.required(done)
            let total = reader.required(total)
            guard let done, let total else { return nil }
            return .ratio(done: done, total: total)
        }
        let share = Field("fraction", FieldType<Selector>.selector, required: true, "A share from 0 to 1.")
        let fraction = FieldType.object([share]) { reader in
            reader.required(share).map { PollDefinition.Progress.fraction($0) }
        }
        let percentage = FieldType<Selector>.selector.map { PollDefinition.Progress.percentage($0) }
        return FieldType(schema: ["anyOf": [percentage.schema, fraction.schema, ratio.schema]]) { place, findings in
            guard place.node.content.isObject, place.node["select"] == nil else {
                return percentage.read(place, findings)
            }
            return place.node["fraction"] == nil ? ratio.read(place, findings) : fraction.read(place, findings)
        }
    }
}
