package import JSONPath

/// The journal's form of a step's state: a name for the column that the schema checks, and the data of its case.
extension StepState {
    /// The data of the case; null where it has none.
    package var detail: JSON {
        switch self {
        case .pending, .cancelled, .skipped: .null
        case .running(let attempt): ["tries": attempt.json]
        case .waiting(let attempt, let wake, let reason):
            ["tries": attempt.json, "wake": wake.json, "reason": reason.json]
        case .unknown(let attempt, let submit): ["tries": attempt.json, "submit": submit.json]
        case .succeeded(let captures): .object(captures)
        case .failed(let failure): failure.json
        }
    }

    /// Reads what ``name`` and ``detail`` say; nil when they do not fit together, as in a damaged row.
    package init?(name: Name, detail: JSON) {
        switch name {
        case .pending: self = .pending
        case .cancelled: self = .cancelled
        case .skipped: self = .skipped
        case .running:
            guard let attempt = AttemptState(json: detail["tries"]) else { return nil }
            self = .running(attempt)
        case .waiting:
            guard let attempt = AttemptState(json: detail["tries"]), let wake = WakeCondition(json: detail["wake"]),
                let reason = WaitReason(json: detail["reason"])
            else { return nil }
            self = .waiting(attempt, wake, reason)
        case .unknown:
            guard let attempt = AttemptState(json: detail["tries"]), let submit = UnknownSubmit(json: detail["submit"])
            else { return nil }
            self = .unknown(attempt, submit)
        case .succeeded:
            guard let captures = detail.object else { return nil }
            self = .succeeded(captures)
        case .failed: self = .failed(StepFailure(json: detail))
        }
    }
}

extension Timestamp {
    /// The journal's form: milliseconds since 1970.
    var json: JSON { .number(JSONNumber(Int(milliseconds))) }
    init?(json: JSON?) {
        guard let milliseconds = json?.number?.int else { return nil }
        self.init(milliseconds: Int64(milliseconds))
    }
}

extension AttemptState {
    var json: JSON {
        [
            "number": .number(JSONNumber(number)), "failures": .number(JSONNumber(failures)),
            "silences": .number(JSONNumber(noResponseCount)), "failingSince": failingSince?.json ?? .null,
            "renewals": .number(JSONNumber(renewals)),
        ]
    }
    init?(json: JSON?) {
        guard let number = json?["number"]?.number?.int else { return nil }
        self.init(
            number: number, failures: json?["failures"]?.number?.int ?? 0,
            noResponseCount: json?["silences"]?.number?.int ?? 0, failingSince: Timestamp(json: json?["failingSince"]),
            renewals: json?["renewals"]?.number?.int ?? 0)
    }
}

extension WakeCondition {
    var json: JSON {
        switch self {
        case .at(let time): ["at": time.json]
        case .callback(let time): ["callback": time?.json ?? .null]
        case .resume: "resume"
        }
    }
    init?(json: JSON?) {
        if json?.string == "resume" {
            self = .resume
        } else if let time = Timestamp(json: json?["at"]) {
            self = .at(time)
        } else if let callback = json?["callback"] {
            self = .callback(orAt: Timestamp(json: callback))
        } else {
            return nil
        }
    }
}

extension WaitReason {
    var json: JSON {
        var json: JSONObject = ["kind": .string(kind.rawValue), "detail": JSON(detail)]
        if isTrouble { json["trouble"] = .bool(true) }
        if let foretold { json["foretold"] = ["end": foretold.end.json, "said": foretold.said.json] }
        return .object(json)
    }
    init?(json: JSON?) {
        guard let kind = json?["kind"]?.string.flatMap(Kind.init(rawValue:)) else { return nil }
        self.init(
            kind, detail: json?["detail"]?.string, isTrouble: json?["trouble"] == .bool(true),
            foretold: ForetoldEnd(json: json?["foretold"]))
    }
}

extension ForetoldEnd {
    fileprivate init?(json: JSON?) {
        guard let end = Timestamp(json: json?["end"]), let said = Timestamp(json: json?["said"]) else { return nil }
        self.init(end, said: said)
    }
}

extension UnknownSubmit {
    var json: JSON { ["key": .string(key), "since": since.json, "reason": .string(reason)] }
    init?(json: JSON?) {
        guard let key = json?["key"]?.string, let since = Timestamp(json: json?["since"]) else { return nil }
        self.init(key: key, since: since, reason: json?["reason"]?.string ?? "")
    }
}
