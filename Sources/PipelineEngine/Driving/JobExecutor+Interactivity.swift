import JSONPath
import PipelineCore

/// Whether a person waits for the job, and what it does when one comes.
extension JobExecutor {
    /// Whether the rules of the background hold for the job, unless somebody watches it. What a person cancelled is
    /// brought to its end, `finally` with it, and never held back.
    var isUnattended: Bool {
        !isFinishing && attendance.isHeld(by: plan.definition.background, mode: snapshot.mode)
    }

    /// A person may have begun to watch while the job was held back: then all of it may go on, and delays begin anew.
    func noteWatching() async throws(JournalFailure) {
        guard isUnattended, ports.isWatched(snapshot.record.id) else { return }
        resumes.heldUntil = nil
        resumes.moments = [:]
        let changes = await attend(isJournaled: false)
        if !changes.isEmpty { try await commit(changes) }
    }

    /// Tells the gate that a person attends to the job; what is to be journaled of it. Where no delay was in force that is
    /// nothing, unless it is journaled in any case.
    func attend(isJournaled: Bool) async -> [JournalChange] {
        let record = ResumeRecord.attendance(
            of: snapshot.record.id, pipeline: snapshot.record.pipeline, at: ports.clock.now)
        let wasDelayed = await ports.gate?.attend(record) ?? false
        return wasDelayed || isJournaled ? [.resume(record)] : []
    }
}

extension Interactivity {
    /// The data of the event by which a job begins or goes on.
    func data(_ mode: JobMode) -> JSONObject { ["attended": .bool(mode == .attached && self == .attended)] }
}
