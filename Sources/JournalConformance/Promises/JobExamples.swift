import JSONPath
package import PipelineCore

extension Timestamp {
    package static func at(_ milliseconds: Int64) -> Timestamp {
        Timestamp(milliseconds: 1_763_640_000_000 + milliseconds)
    }
}

extension StepKey {
    package static let upload = StepKey(stage: "upload")
    package static let model = StepKey(stage: "model", item: 3)
}

extension JobSnapshot {
    /// A job with an upload and one item of a model, both pending.
    package static func example(
        _ number: Int, key: String? = nil, pipeline: String = "selfie",
        beginning: JobBeginning = JobBeginning(foundSecrets: ["TOKEN", "WORD"])
    ) -> JobSnapshot {
        let id = JobID(at: .at(Int64(number)), random: (7, UInt64(number)))
        let record = JobRecord(
            id: id, pipeline: pipeline, key: key ?? id.text, started: .at(Int64(number)),
            source: "{\"pipeline\": \"\(pipeline)\"}\n", sourceName: "selfie.json", digest: "d1ge57-\(pipeline)",
            inputs: ["video": "/videos/ä \"quoted\".mp4", "big": .number(JSONNumber(literal: "12345678901234567890"))],
            environment: ["HOME": "/home/a", "UNSET": .null],
            folders: JobFolders(document: "/pipelines", output: "/out"), overwrites: number % 2 == 0,
            beginning: beginning)
        let item = StepRecord(
            toleratesFailure: true, value: ["name": "three", "ratio": .number(JSONNumber(literal: "1.50"))])
        return JobSnapshot(record: record, steps: [.upload: StepRecord(), .model: item], mode: .attached)
    }

    package func event(_ sequence: Int?, _ kind: JobEvent.Kind = .stageStarted, step: StepKey? = .upload) -> JobEvent {
        JobEvent(
            sequence: sequence, time: .at(Int64(sequence ?? 0)), kind: kind, job: record.id,
            pipeline: record.pipeline, step: step, attempt: step == nil ? nil : 1,
            data: ["n": .number(JSONNumber(sequence ?? 0))])
    }

    /// The row of a step after one more transition.
    package func next(_ key: StepKey, _ state: StepState) -> JournalChange {
        var step = steps[key] ?? StepRecord()
        step.state = state
        step.version += 1
        return .step(key, step)
    }
}

/// The parts by which two snapshots are compared: all of them.
package struct SnapshotEssence: Equatable {
    let texts: [String]
    let objects: [JSONObject]
    let started: Timestamp
    let ended: Timestamp?
    let folders: JobFolders
    let overwrites: Bool
    let steps: [StepKey: StepRecord]
    let submits: [StepKey: SubmitRecord]
    let facts: [Fact: JSON]
    let files: [WrittenFile]
    let sequence: Int
    let mode: JobMode
    let notifications: [String: NotificationRecord]
    let request: JobRequest?
    let cause: SuspensionCause?

    init(_ job: JobSnapshot) {
        let record = job.record
        texts =
            [record.id.text, record.pipeline, record.key, record.source, record.sourceName, record.digest]
            + record.beginning.foundSecrets + record.beginning.defaultedInputs.map { "inputs.\($0)" }
            + [record.beginning.inputDigest ?? "none"]
        objects = [record.inputs, record.environment]
        started = record.started
        ended = job.ended
        folders = record.folders
        overwrites = record.overwrites
        steps = job.steps
        submits = job.submits
        facts = job.facts
        files = job.files
        sequence = job.sequence
        mode = job.mode
        notifications = job.notifications
        request = job.request
        cause = job.cause
    }
}

extension SnapshotEssence {
    /// The fields in which two snapshots differ, for messages that can be read.
    package static func differences(_ read: JobSnapshot?, _ expected: JobSnapshot) -> [String] {
        guard let read else { return ["there is no job"] }
        let pairs = zip(
            Mirror(reflecting: SnapshotEssence(read)).children, Mirror(reflecting: SnapshotEssence(expected)).children)
        if SnapshotEssence(read) == SnapshotEssence(expected) { return [] }
        return pairs.compactMap { read, expected in
            let (found, wanted) = ("\(read.value)", "\(expected.value)")
            return found == wanted && read.label != "steps" ? nil : "\(read.label ?? ""): \(found), not \(wanted)"
        }
    }
}
