import CLibrary
import JSONPath
import PipelineCore
import PipelineEngine
import PipelineKit
import Synchronization

/// Runs a job for real and writes its exchanges, secrets redacted, as an HTTP Archive that `pipeline test` replays. What
/// the job writes stays, as that of any run.
struct Recorder {
    private let workspace: Workspace
    private let console: Console
    private let file: String
    private let folder: String
    private let output: String
    private let overwrites: Bool

    /// - Parameters:
    ///   - folder: the folder of the archive.
    ///   - output: the absolute path of the folder of the results.
    init(
        _ workspace: Workspace, _ console: Console, file: String, folder: String, output: String, overwrites: Bool
    ) {
        self.workspace = workspace
        self.console = console
        self.file = file
        self.folder = folder
        self.output = output
        self.overwrites = overwrites
    }

    func run(_ given: GivenInputs) async throws -> ExitStatus {
        let draft = try JobDraft(
            path: file, catalogue: await workspace.catalogue(for: try JobDraft.source(at: file)), given: given,
            environment: workspace.settings.environment, standardInput: StandardInput.text)
        let record = draft.record(
            id: workspace.newJobID(), key: nil, started: SystemClock().now, outputFolder: output,
            overwrites: overwrites)
        if let missing = try await workspace.missingSecret(of: draft.plan, for: record) { throw missing }
        if let failure = await draft.preflight(to: record) { throw CommandError(.invalid, failure) }
        let journal = try workspace.openJournal()
        let records = Mutex<[ExchangeRecord]>([])
        let engine = try workspace.engine(
            journal: journal, secrets: try workspace.secrets(),
            watchExchange: { record in records.withLock { $0.append(record) } }, observe: { _ in })
        let drive = try await engine.start(
            record, plan: draft.plan, mode: .attached, secretInputs: draft.secretInputs)
        let signals = StopSignals { drive.suspend(.interrupted) }
        let end = try await drive.run()
        guard case .ended(let phase) = end else {
            let why = signals.count > 0 ? "the run was interrupted" : "the run did not come to its end"
            throw CommandError(
                .suspended, "\(why); nothing is recorded",
                hint: "the job itself goes on with: pipeline resume \(record.id)")
        }
        let kept = records.withLock { $0 }
        let snapshot = try await journal.snapshot(of: record.id)
        for file in snapshot?.orderedFiles ?? [] { console.data(file.path) }
        try await write(kept, draft, record, phase, snapshot)
        return phase == .succeeded ? .succeeded : .failed
    }

    private func write(
        _ records: [ExchangeRecord], _ draft: JobDraft, _ record: JobRecord, _ phase: JobPhase, _ snapshot: JobSnapshot?
    ) async throws {
        let base = record.folders.document
        let inputs = JSONObject(
            record.inputs.map { ($0.name, Self.closed($0.value, of: $0.name, in: draft.plan, base: base)) })
        let digests = Replay.digests(of: snapshot?.files ?? [], below: record.folders.output)
        let files = digests.sorted { $0.key < $1.key }.map { ($0.key, JSON.string($0.value)) }
        var log = HTTPArchive(records: records).json["log"]?.object ?? [:]
        log["entries"] = .array(
            try await whole(log["entries"]?.array ?? [], of: records, written: snapshot?.files ?? [], draft.plan))
        log["_pipeline"] = [
            "job": .string(record.id.text), "key": .string(record.key), "started": .string(record.started.description),
            "inputs": .object(inputs), "environment": .object(record.environment), "end": .string(phase.rawValue),
            "files": .object(JSONObject(files)),
        ]
        let target = "\(folder)/\(DocumentName.of(file)).har"
        mkdir(folder, 0o777)
        let bytes = Array((JSON.object(["log": .object(log)]).prettyText() + "\n").utf8)
        let descriptor = open(target, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
        let isWritten = descriptor >= 0 && FileContent.write(bytes, to: descriptor)
        guard isWritten, close(descriptor) == 0 else {
            throw CommandError(.failed, "cannot write \(target): \(FileContent.reason)")
        }
        console.note("\(records.count) exchanges are in \(target)")
    }

    /// The entries with bodies that were too long to be kept, where they are files by now.
    private func whole(
        _ entries: [JSON], of records: [ExchangeRecord], written: [WrittenFile], _ plan: Plan
    ) async throws -> [JSON] {
        let redactor = try await redactor(of: plan)
        return zip(entries, records).map { entry, record in
            guard let answer = record.answer, !answer.body.isWhole else { return entry }
            let file = written.first { $0.step == record.step && $0.bytes == answer.body.size }
            if let file, let bytes = FileContent.bytes(file.path, limit: Self.longest),
                redactor.redact(String(decoding: bytes, as: UTF8.self)) == String(decoding: bytes, as: UTF8.self),
                var object = entry.object, var response = object["response"]?.object,
                var content = response["content"]?.object
            {
                content["text"] = .string(Base64Bytes.encode(bytes))
                content["encoding"] = "base64"
                content["comment"] = nil
                response["content"] = .object(content)
                object["response"] = .object(response)
                return .object(object)
            }
            console.note(
                "warning: the response to \(record.method) \(record.url) is longer than \(RecordedBody.limit) bytes; "
                    + "zeros stand for its rest when it is replayed")
            return entry
        }
    }

    /// The longest file that goes into a recording.
    private static let longest = 16 << 20

    private func redactor(of plan: Plan) async throws -> Redactor {
        let sources = try workspace.secrets()
        var secrets: [String: String] = [:]
        for name in plan.secrets { secrets[name] = await sources.secret(name) }
        return Redactor(secrets)
    }

    /// A path below the document's folder as one relative to it, so that the recording is good elsewhere too.
    private static func closed(_ value: JSON, of name: String, in plan: Plan, base: String) -> JSON {
        guard isFile(name, plan) else { return value }
        return value.mapped { $0.hasPrefix(base + "/") ? .string(String($0.dropFirst(base.count + 1))) : .string($0) }
    }

    /// The path that was recorded, absolute again.
    static func opened(_ value: JSON, of name: String, in plan: Plan, base: String) -> JSON {
        isFile(name, plan) ? value.mapped { .string(AbsolutePath.of($0, in: base)) } : value
    }

    private static func isFile(_ name: String, _ plan: Plan) -> Bool {
        plan.definition.inputs.contains { $0.name == name && ($0.kind == .file || $0.kind == .files) }
    }
}

extension JSON {
    /// The value with the strings in it, or in its array, changed.
    fileprivate func mapped(_ change: (String) -> JSON) -> JSON {
        switch self {
        case .string(let text): change(text)
        case .array(let elements): .array(elements.map { $0.mapped(change) })
        default: self
        }
    }
}
