import CLibrary
import JSONPath
import PipelineCore

/// The step as a download sees it that fetches an input: the folder to write to is another, and its checkpoint stands
/// in a file there, since the step's own belongs to the stage. The rest is the step's.
struct FetchHost: StageHost {
    private let base: any StageHost
    private let folder: String

    init(_ base: any StageHost, folder: String) {
        self.base = base
        self.folder = folder
    }

    private var path: String { "\(folder)/checkpoint" }

    /// As the last call left it; nil before the first.
    var checkpoint: [UInt8]? { FileContent.bytes(path, limit: 16 << 20) }

    var facts: StageFacts {
        let facts = base.facts
        return StageFacts(
            job: facts.job, submitName: facts.submitName, pipeline: facts.pipeline, attempt: facts.attempt,
            started: facts.started, deadline: facts.deadline,
            folders: JobFolders(document: facts.folders.document, output: folder), overwrites: true,
            retry: facts.retry, isAttended: facts.isAttended, place: facts.place)
    }

    func commit(checkpoint: [UInt8], captures: JSONObject?, progressed: Bool) async throws(StageFailure) {
        guard FileContent.replace(path, with: checkpoint) else {
            throw .definite(
                StepFailure("cannot write \(path): \(FileContent.reason)", hint: "make room in the state folder"))
        }
    }

    func submitRecord() async -> SubmitRecord? { nil }
    func commit(submit: SubmitRecord, captures: JSONObject?) async throws(StageFailure) {}
    func commit(file: WrittenFile) async throws(StageFailure) {}
    func pushes() async -> Int { 0 }
    func callbackCaptures() async -> JSONObject? { nil }
    func ended(at time: Timestamp) {}
    func conclude(with response: JSON) {}
    func noteServed() {}
    func mustAct(before time: Timestamp?) {}

    var now: Timestamp { base.now }
    var isOwner: Bool { base.isOwner }
    var services: any ServiceGate { base.services }
    func scope() async throws(StageFailure) -> Scope { try await base.scope() }
    func obtain(_ fact: Fact) async throws(StageFailure) -> JSON { try await base.obtain(fact) }
    func warn(_ message: String) async throws(StageFailure) { try await base.warn(message) }
    func report(_ progress: StageProgress) { base.report(progress) }
    func count(_ moved: BytesMoved) { base.count(moved) }
    func measure(_ measured: Measurements) { base.measure(measured) }
    func record(_ exchange: ExchangeRecord) { base.record(exchange) }
    func pass(_ point: CrashPoint) { base.pass(point) }
    func digest(_ bytes: [UInt8]) -> String { base.digest(bytes) }
    func redact(_ text: String) -> String { base.redact(text) }
    func sealed(_ text: String) async -> String { await base.sealed(text) }
    func opened(_ text: String) async -> String { await base.opened(text) }
    func conceal(_ secret: String, as name: String) { base.conceal(secret, as: name) }
    func authenticates() { base.authenticates() }
    func renewSecrets(since used: [String: String]) async -> Bool { await base.renewSecrets(since: used) }
}
