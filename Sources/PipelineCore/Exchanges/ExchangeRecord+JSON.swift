package import JSONPath

extension ExchangeRecord {
    /// The form in which it is kept, one object.
    package var json: JSON {
        var object: JSONObject = [
            "stage": .string(step.stage), "item": step.item.map { .number(JSONNumber($0)) } ?? .null,
            "attempt": .number(JSONNumber(attempt)), "started": .string(started.description),
            "method": .string(method), "url": .string(url), "headers": Self.json(headers),
            "body": body.map(Self.json) ?? .null, "answer": answer.map(Self.json) ?? .null, "failure": JSON(failure),
        ]
        if let role { object["role"] = .string(role) }
        return .object(object)
    }

    /// Reads what ``json`` wrote; nil for anything else.
    package init?(json: JSON) {
        guard let stage = json["stage"]?.string, let method = json["method"]?.string, let url = json["url"]?.string,
            let started = json["started"]?.string.flatMap({ try? Timestamp.parse($0) })
        else { return nil }
        self.init(
            step: StepKey(stage: stage, item: json["item"]?.number?.int), attempt: json["attempt"]?.number?.int ?? 1,
            started: started, method: method, url: url, headers: Self.fields(json["headers"]),
            body: Self.body(json["body"]))
        failure = json["failure"]?.string
        role = json["role"]?.string
        guard let answer = json["answer"], let status = answer["status"]?.number?.int else { return }
        let times = (answer["timings"]?.array ?? []).map { $0.number?.double ?? 0 }
        guard times.count == 6 else { return }
        self.answer = ServiceResponse(
            status: status, version: answer["version"]?.string ?? "", headers: Self.fields(answer["headers"]),
            body: Self.body(answer["body"]) ?? RecordedBody(size: 0, type: nil),
            timings: Timings(
                nameLookup: times[0], connect: times[1], tls: times[2], sent: times[3], firstByte: times[4],
                total: times[5]))
    }

    private static func json(_ answer: ServiceResponse) -> JSON {
        let times = answer.timings
        let seconds = [times.nameLookup, times.connect, times.tls, times.sent, times.firstByte, times.total]
        return [
            "status": .number(JSONNumber(answer.status)), "version": .string(answer.version),
            "headers": json(answer.headers), "body": json(answer.body),
            "timings": .array(seconds.map { .number(JSONNumber($0)) }),
        ]
    }

    private static func json(_ fields: [Field]) -> JSON {
        .array(fields.map { ["name": .string($0.name), "value": .string($0.value)] })
    }

    private static func fields(_ json: JSON?) -> [Field] {
        (json?.array ?? []).compactMap { entry in
            guard let name = entry["name"]?.string, let value = entry["value"]?.string else { return nil }
            return Field(name, value)
        }
    }

    private static func json(_ body: RecordedBody) -> JSON {
        [
            "size": .number(JSONNumber(Int(body.size))), "type": JSON(body.type), "text": JSON(body.text),
            "cut": body.isCut.map { .bool($0) } ?? .null, "base64": JSON(body.base64), "file": JSON(body.file),
        ]
    }

    private static func body(_ json: JSON?) -> RecordedBody? {
        guard let size = json?["size"]?.number?.int else { return nil }
        return RecordedBody(
            size: Int64(size), type: json?["type"]?.string, text: json?["text"]?.string,
            isCut: json?["cut"]?.bool, base64: json?["base64"]?.string, file: json?["file"]?.string)
    }
}
