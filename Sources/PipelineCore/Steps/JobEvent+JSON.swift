public import JSONPath

extension JobEvent {
    /// What was asked in vain before the step waits, as a sentence; nil for a wait that takes its course.
    package var trouble: String? {
        kind == .stageWaiting && data["trouble"] == .bool(true) ? data["detail"]?.string : nil
    }

    /// The event as one JSON value: a line of `--json`, and the form in which a journal may keep it.
    public var json: JSON {
        var object = JSONObject()
        if let sequence { object["seq"] = .number(JSONNumber(sequence)) }
        object["time"] = .string(time.description)
        object["type"] = .string(kind.rawValue)
        object["job"] = .string(job.text)
        object["pipeline"] = .string(pipeline)
        if let step {
            object["stage"] = .string(step.stage)
            if let item = step.item { object["item"] = .number(JSONNumber(item)) }
        }
        if let attempt { object["attempt"] = .number(JSONNumber(attempt)) }
        object["data"] = .object(data)
        return .object(object)
    }

    /// Reads what ``json`` wrote; nil for anything else.
    public init?(json: JSON) {
        guard let kind = json["type"]?.string.flatMap(Kind.init(rawValue:)), let job = json["job"]?.string,
            let time = json["time"]?.string.flatMap({ try? Timestamp.parse($0) }),
            let pipeline = json["pipeline"]?.string, let data = json["data"]?.object
        else { return nil }
        self.init(
            sequence: json["seq"]?.number?.int, time: time, kind: kind, job: JobID(job), pipeline: pipeline,
            step: json["stage"]?.string.map { StepKey(stage: $0, item: json["item"]?.number?.int) },
            attempt: json["attempt"]?.number?.int, data: data)
    }
}
