import JSONPath

extension StepRecord {
    /// A value of `item` in brackets, since null is one.
    var json: JSON {
        [
            "state": .string(state.name.rawValue), "detail": state.detail,
            "checkpoint": JSON(checkpoint.map(Base64Bytes.encode)), "captures": .object(captures),
            "started": JSON(started), "ended": JSON(ended), "attempts": JSON(attempts), "resumes": JSON(resumes),
            "sent": JSON(Int(bytesSent)), "received": JSON(Int(bytesReceived)), "cost": JSON(cost),
            "toleratesFailure": .bool(toleratesFailure), "value": .array(value.map { [$0] } ?? []),
            "expires": JSON(expires), "version": JSON(version),
        ]
    }

    init?(json: JSON) {
        guard let name: StepState.Name = json["state"].word(),
            let state = StepState(name: name, detail: json["detail"] ?? .null),
            let version = json["version"]?.number?.int
        else { return nil }
        self.init(
            state: state, toleratesFailure: json["toleratesFailure"]?.bool ?? false,
            value: json["value"].elements.first)
        if let text = json["checkpoint"]?.string {
            guard let bytes = Base64Bytes.decode(text) else { return nil }
            checkpoint = bytes
        }
        captures = json["captures"]?.object ?? [:]
        (started, ended, expires) = (json["started"].time, json["ended"].time, json["expires"].time)
        (attempts, resumes) = (json["attempts"].int, json["resumes"].int)
        (bytesSent, bytesReceived) = (Int64(json["sent"].int), Int64(json["received"].int))
        cost = json["cost"]?.number?.double
        self.version = version
    }
}

extension SubmitRecord {
    var json: JSON {
        [
            "key": .string(key), "generation": JSON(generation), "digest": .string(digest),
            "phase": .string(phase.rawValue), "sends": JSON(sends), "firstSent": JSON(firstSent),
            "lastSent": JSON(lastSent), "misses": JSON(misses),
        ]
    }

    init?(json: JSON) {
        guard let key = json["key"]?.string, let generation = json["generation"]?.number?.int,
            let phase: Phase = json["phase"].word()
        else { return nil }
        self.init(key: key, generation: generation, digest: json["digest"].text, phase: phase)
        (sends, misses) = (json["sends"].int, json["misses"].int)
        (firstSent, lastSent) = (json["firstSent"].time, json["lastSent"].time)
    }
}

extension WrittenFile {
    /// Also with the step, which ``json`` leaves out.
    var rowJSON: JSON {
        [
            "path": .string(path), "bytes": JSON(Int(bytes)), "sha256": JSON(sha256),
            "step": step.map { JSON($0) } ?? .null,
        ]
    }

    init(rowJSON json: JSON) {
        self.init(
            path: json["path"].text, bytes: Int64(json["bytes"].int), sha256: json["sha256"]?.string,
            step: StepKey(json: json["step"]))
    }
}

extension NotificationRecord {
    var json: JSON {
        [
            "id": .string(id), "entry": JSON(entry), "event": .string(event.rawValue),
            "state": .string(state.rawValue), "due": JSON(due), "time": JSON(time), "title": .string(title),
            "data": .object(data), "failures": JSON(failures), "failingSince": JSON(failingSince),
            "problem": JSON(problem),
        ]
    }

    init?(json: JSON) {
        guard let id = json["id"]?.string, let event: NotifyDefinition.Event = json["event"].word(),
            let state: State = json["state"].word(), let due = json["due"].time, let time = json["time"].time
        else { return nil }
        self.init(
            id: id, entry: json["entry"].int, event: event, state: state, due: due, time: time,
            title: json["title"].text, data: json["data"]?.object ?? [:], failures: json["failures"].int,
            failingSince: json["failingSince"].time, problem: json["problem"]?.string)
    }
}

extension Fact {
    var json: JSON { [.string(parts.kind), .string(parts.text)] }

    init?(json: JSON) {
        guard let parts = json.array, parts.count == 2, let kind = parts[0].string, let text = parts[1].string else {
            return nil
        }
        switch kind {
        case "size": self = .size(text)
        case "text": self = .text(text)
        case "base64": self = .base64(text)
        case "jsonLines": self = .jsonLines(text)
        case "copy": self = .copy(url: text)
        case "now": self = .now(place: text)
        case "uuid": self = .uuid(place: text)
        default:
            if let what = Kept(rawValue: kind) {
                self = .kept(what, of: text)
            } else if let algorithm = DigestAlgorithm(rawValue: kind) {
                self = .digest(text, algorithm)
            } else {
                return nil
            }
        }
    }
}
