public import JSONPath

extension JournalChange {
    /// The change in the form in which a journal may keep it, to be folded again when the job is read; nil for one that
    /// changes nothing of the job (samples, resumes, measurements, items of batches). Later versions of the program read it
    /// too.
    public var json: JSON? {
        switch self {
        case .step(let key, let step): ["step": JSON(key), "row": step.json]
        case .submit(let key, let submit): ["submit": JSON(key), "row": submit.json]
        case .fact(let fact, let value): ["fact": fact.json, "value": value]
        case .event(let event): ["event": event.json]
        case .file(let file): ["file": file.rowJSON]
        case .taken(let mode): ["taken": .string(mode.rawValue)]
        case .requested(let request): ["requested": JSON(request?.rawValue)]
        case .answered(let request): ["answered": .string(request.rawValue)]
        case .released(let cause): ["released": JSON(cause?.rawValue)]
        case .ended(let time): ["ended": JSON(time)]
        case .callbacksTaken(let key, let count):
            // Entries of before took all that were there.
            count == .max
                ? ["callbacksTaken": JSON(key)] : ["callbacksTaken": JSON(key), "count": .number(JSONNumber(count))]
        case .callbackJudged(let key, let id, let isMatch):
            ["callbackJudged": JSON(key), "id": .string(id), "isMatch": .bool(isMatch)]
        case .callbacksVoided(let key): ["callbacksVoided": JSON(key)]
        case .reopened: ["reopened": true]
        case .notification(let record): ["notification": record.json]
        case .resume, .sample, .measured, .item: nil
        }
    }

    /// Reads what ``json`` wrote; nil for anything else, as from a damaged row.
    public init?(json: JSON) {
        guard let member = json.object?.members.first, let change = Self.read(member.name, member.value, json) else {
            return nil
        }
        self = change
    }

    private static func read(_ name: String, _ value: JSON, _ json: JSON) -> JournalChange? {
        switch name {
        case "fact": Fact(json: value).flatMap { fact in json["value"].map { .fact(fact, $0) } }
        case "event": JobEvent(json: value).map { .event($0) }
        case "file": .file(WrittenFile(rowJSON: value))
        case "taken": JobMode(rawValue: value.string ?? "").map { .taken($0) }
        case "requested": .requested(JSON?(value).word())
        case "answered": JobRequest(rawValue: value.string ?? "").map { .answered($0) }
        case "released": .released(JSON?(value).word())
        case "ended": Timestamp(json: value).map { .ended($0) }
        case "reopened": .reopened
        case "notification": NotificationRecord(json: value).map { .notification($0) }
        default: StepKey(json: value).flatMap { read(name, of: $0, json) }
        }
    }

    private static func read(_ name: String, of key: StepKey, _ json: JSON) -> JournalChange? {
        switch name {
        case "step": json["row"].flatMap(StepRecord.init(json:)).map { .step(key, $0) }
        case "submit": json["row"].flatMap(SubmitRecord.init(json:)).map { .submit(key, $0) }
        case "callbacksTaken": .callbacksTaken(key, count: json["count"]?.number?.int ?? .max)
        case "callbackJudged":
            .callbackJudged(key, id: json["id"].text, isMatch: json["isMatch"]?.bool ?? false)
        case "callbacksVoided": .callbacksVoided(key)
        default: nil
        }
    }
}
