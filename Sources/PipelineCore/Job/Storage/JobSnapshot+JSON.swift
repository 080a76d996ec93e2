public import JSONPath

extension JobSnapshot {
    /// The job in the form in which a journal may keep it, whole but for what is kept of batches; later versions of the
    /// program read it too. No secret can be read in it: secret inputs are left out, and secrets in captured values sealed.
    public var json: JSON {
        [
            "record": record.json, "mode": .string(mode.rawValue), "sequence": JSON(sequence), "ended": JSON(ended),
            "request": JSON(request?.rawValue), "release": release.map { ["cause": JSON($0.cause?.rawValue)] } ?? .null,
            "steps": .array(steps.sorted { $0.key < $1.key }.map { [JSON($0.key), $0.value.json] }),
            "submits": .array(submits.sorted { $0.key < $1.key }.map { [JSON($0.key), $0.value.json] }),
            "facts": .array(facts.map { [$0.key.json, $0.value] }),
            "files": .array(files.map(\.rowJSON)),
            "callbacks": .array(pushes.sorted { $0.key < $1.key }.map { [JSON($0.key), $0.value.json] }),
            "notifications": .array(notifications.values.sorted { $0.id < $1.id }.map(\.json)),
        ]
    }

    /// Reads what ``json`` wrote; nil for anything else, as from a damaged row.
    public init?(json: JSON) {
        guard let record = json["record"].flatMap(JobRecord.init(json:)), let mode: JobMode = json["mode"].word() else {
            return nil
        }
        var steps: [StepKey: StepRecord] = [:]
        for pair in json["steps"].elements {
            guard let key = StepKey(json: pair.array?.first),
                let step = pair.array?.last.flatMap(StepRecord.init(json:))
            else { return nil }
            steps[key] = step
        }
        self.init(record: record, steps: steps, mode: mode)
        sequence = json["sequence"].int
        ended = json["ended"].time
        request = json["request"].word()
        release = json["release"].present.map { Release(cause: $0["cause"].word()) }
        for pair in json["submits"].elements {
            guard let key = StepKey(json: pair.array?.first),
                let submit = pair.array?.last.flatMap(SubmitRecord.init(json:))
            else { return nil }
            submits[key] = submit
        }
        for pair in json["facts"].elements {
            guard let fact = pair.array?.first.flatMap(Fact.init(json:)), let value = pair.array?.last else {
                return nil
            }
            facts[fact] = value
        }
        files = json["files"].elements.map(WrittenFile.init(rowJSON:))
        for pair in json["callbacks"].elements {
            guard let key = StepKey(json: pair.array?.first), let count = pair.array?.last else { return nil }
            pushes[key] = CallbackCount(json: count)
        }
        for element in json["notifications"].elements {
            guard let record = NotificationRecord(json: element) else { return nil }
            notifications[record.id] = record
        }
    }
}

extension JobRecord {
    var json: JSON {
        [
            "id": .string(id.text), "pipeline": .string(pipeline), "key": .string(key), "started": JSON(started),
            "source": .string(source), "sourceName": .string(sourceName), "digest": .string(digest),
            "inputs": .object(inputs), "environment": .object(environment),
            "folders": ["document": .string(folders.document), "output": .string(folders.output)],
            "overwrites": .bool(overwrites), "foundSecrets": .array(beginning.foundSecrets.map(JSON.string)),
            "defaultedInputs": .array(beginning.defaultedInputs.map(JSON.string)),
            "inputDigest": JSON(beginning.inputDigest),
        ]
    }

    init?(json: JSON) {
        guard let id = json["id"]?.string, let started = json["started"].time, let source = json["source"]?.string,
            let inputs = json["inputs"]?.object, let environment = json["environment"]?.object
        else { return nil }
        self.init(
            id: JobID(id), pipeline: json["pipeline"].text, key: json["key"].text, started: started, source: source,
            sourceName: json["sourceName"].text, digest: json["digest"].text, inputs: inputs, environment: environment,
            folders: JobFolders(
                document: json["folders"]?["document"].text ?? "", output: json["folders"]?["output"].text ?? ""),
            overwrites: json["overwrites"]?.bool ?? false,
            beginning: JobBeginning(
                foundSecrets: json["foundSecrets"].elements.compactMap(\.string),
                defaultedInputs: json["defaultedInputs"].elements.compactMap(\.string),
                inputDigest: json["inputDigest"]?.string))
    }
}

extension CallbackCount {
    var json: JSON {
        [
            "waiting": JSON(waiting), "taken": JSON(taken), "captures": captures.map(JSON.object) ?? .null,
            "early": .array(early.map(\.json)),
        ]
    }

    init(json: JSON) {
        self.init(
            waiting: json["waiting"].int, taken: json["taken"].int, captures: json["captures"]?.object)
        early = json["early"].elements.compactMap(Callback.init(json:))
    }
}

extension Callback {
    /// A response in brackets, since null is one.
    var json: JSON {
        [
            "id": .string(id), "time": JSON(time), "captures": captures.map(JSON.object) ?? .null,
            "response": .array(response.map { [$0] } ?? []),
        ]
    }

    init?(json: JSON) {
        guard let id = json["id"]?.string, let time = json["time"].time else { return nil }
        self.init(id: id, time: time, captures: json["captures"]?.object, response: json["response"].elements.first)
    }
}
