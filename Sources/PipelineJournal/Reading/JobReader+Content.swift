import JSONPath
import PipelineCore

/// What belongs to a job, by the number of its row.
extension JobReader {
    func steps(_ job: Int64, isBrief: Bool = false) throws(JournalFailure) -> [StepKey: StepRecord] {
        let query = try statement(.readSteps)
        query.bind(1, job)
        defer { query.reset() }
        var steps: [StepKey: StepRecord] = [:]
        while try query.step() { steps[key(query)] = try step(query, isBrief: isBrief) }
        return steps
    }

    private func step(_ query: SQLiteStatement, isBrief: Bool) throws(JournalFailure) -> StepRecord {
        let name = query.text(2)
        let detail = try query.json(3)
        guard let state = StepState.Name(rawValue: name).flatMap({ StepState(name: $0, detail: detail) }) else {
            throw connection.damaged("the step \(key(query)) is \(name), and what belongs to it is missing")
        }
        var step = StepRecord(state: state, toleratesFailure: query.int(12) != 0)
        // Not in one expression: a nil literal beside a JSON value is JSON's null.
        if !isBrief, !query.isNull(13) { step.value = try query.json(13) }
        step.checkpoint = isBrief ? nil : query.blob(4)
        step.captures = isBrief ? [:] : try query.object(5)
        step.started = query.time(6)
        step.ended = query.time(7)
        step.attempts = query.int(8)
        step.resumes = query.int(9)
        step.bytesSent = query.integer(10)
        step.bytesReceived = query.integer(11)
        step.version = query.int(14)
        step.expires = query.time(15)
        return step
    }

    func submits(_ job: Int64) throws(JournalFailure) -> [StepKey: SubmitRecord] {
        let query = try statement(.readSubmits)
        query.bind(1, job)
        defer { query.reset() }
        var submits: [StepKey: SubmitRecord] = [:]
        while try query.step() {
            guard let phase = SubmitRecord.Phase(rawValue: query.text(5)) else {
                throw connection.damaged("the submit of \(key(query)) has no phase")
            }
            var submit = SubmitRecord(
                key: query.text(2), generation: query.int(3), digest: query.text(4), phase: phase)
            submit.sends = query.int(6)
            submit.firstSent = query.time(7)
            submit.lastSent = query.time(8)
            submit.misses = query.int(9)
            submits[key(query)] = submit
        }
        return submits
    }

    func facts(_ job: Int64) throws(JournalFailure) -> [Fact: JSON] {
        let query = try statement(.readFacts)
        query.bind(1, job)
        defer { query.reset() }
        var facts: [Fact: JSON] = [:]
        while try query.step() {
            guard let fact = Fact(kind: query.text(0), subject: query.text(1)) else {
                throw connection.damaged("a fact is of an unknown kind")
            }
            facts[fact] = try query.json(2)
        }
        return facts
    }

    func files(_ job: Int64) throws(JournalFailure) -> [WrittenFile] {
        let query = try statement(.readFiles)
        query.bind(1, job)
        defer { query.reset() }
        var files: [WrittenFile] = []
        while try query.step() {
            let step = query.optionalText(3).map { StepKey(stage: $0, item: query.optionalInt(4)) }
            files.append(
                WrittenFile(path: query.text(0), bytes: query.integer(1), sha256: query.text(2), step: step))
        }
        return files
    }

    func pushes(_ job: Int64) throws(JournalFailure) -> [StepKey: CallbackCount] {
        let query = try statement(.readPushes)
        query.bind(1, job)
        defer { query.reset() }
        var pushes: [StepKey: CallbackCount] = [:]
        while try query.step() { pushes[key(query)] = CallbackCount(waiting: query.int(2), taken: query.int(3)) }
        return pushes
    }

    func notifications(_ job: Int64) throws(JournalFailure) -> [String: NotificationRecord] {
        let query = try statement(.readNotifications)
        query.bind(1, job)
        defer { query.reset() }
        var records: [String: NotificationRecord] = [:]
        while try query.step() {
            guard let event = NotifyDefinition.Event(rawValue: query.text(2)),
                let state = NotificationRecord.State(rawValue: query.text(3))
            else { throw connection.damaged("a notification is of an unknown kind") }
            records[query.text(0)] = NotificationRecord(
                id: query.text(0), entry: query.int(1), event: event, state: state,
                due: Timestamp(milliseconds: query.integer(4)), time: Timestamp(milliseconds: query.integer(5)),
                title: query.text(6), data: try query.object(7), failures: query.int(8),
                failingSince: query.time(9), problem: query.optionalText(10))
        }
        return records
    }

    func sequence(_ job: Int64) throws(JournalFailure) -> Int {
        let query = try statement(.readSequence)
        query.bind(1, job)
        defer { query.reset() }
        return try query.step() ? query.int(0) : 0
    }

    private func key(_ query: SQLiteStatement) -> StepKey {
        let item = query.int(1)
        return StepKey(stage: query.text(0), item: item < 0 ? nil : item)
    }
}
