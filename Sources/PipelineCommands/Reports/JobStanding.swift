import PipelineCore
import PipelineKit

/// The state of a job in a few words, in its colour: with the reason where it waits, the cause where it is suspended, and
/// what failed where it succeeded all the same.
struct JobStanding {
    let job: OwnedJob
    /// The steps that the rules of the background hold back; nil when they hold nothing back, or nobody knows.
    let deferral: Deferral?
    let now: Timestamp

    var text: StyledText {
        let snapshot = job.snapshot
        let phase = job.phase
        let word: StyledText = "\(phase.rawValue, phase.style)"
        switch phase {
        case .waiting: return waiting(word)
        case .suspended: return job.suspensionWord.map { "\(word) (\($0))" } ?? word
        case .succeeded:
            let failed = snapshot.toleratedFailures.count
            return failed == 0 ? word : "\(word), \("\(failed) failed", .red)"
        case .running, .unknown, .failed, .cancelled: return word
        }
    }

    private func waiting(_ word: StyledText) -> StyledText {
        let clock = TimeText(now: now)
        if let deferral { return "\("held back", .yellow) until \(clock.clock(deferral.until))" }
        guard let (next, reason) = job.snapshot.nextWait else { return word }
        guard let time = next else {
            return reason.kind == .callback ? "\(word) for a push" : word
        }
        return "\(word), \(reason.kind.verb) \(clock.until(time))"
    }
}

extension OwnedJob {
    /// True if somebody takes it up without being told.
    var isToBeTaken: Bool {
        guard owner == nil, snapshot.batch?.lacksStandardInput != true else { return false }
        let hasCrashed = snapshot.mode == .background && snapshot.suspension(isOwned: false) == .crashed
        return hasCrashed || snapshot.isQueued
    }

    /// The advice about a job or a batch of the background that nobody has: nothing, where somebody takes it up without being
    /// told. Nil for others.
    func adviceUntilTaken(in journal: Workspace.Journal, resume: String) async throws -> String? {
        guard isToBeTaken else { return nil }
        // Whoever resumes it takes it out of the workers' hands.
        if let shared = journal.shared {
            guard let host = try await shared.host(of: snapshot.record.id) else {
                return "nothing: any 'pipeline worker' goes on with it"
            }
            return "nothing: a 'pipeline worker' on \(host) goes on with it; it has the files"
        }
        return "nobody has it: 'pipeline daemon' goes on with it, or \(resume)"
    }
}

extension JobPhase {
    var style: StyledText.Style? {
        switch self {
        case .running: .cyan
        case .waiting, .suspended, .unknown: .yellow
        case .succeeded: .green
        case .failed: .red
        case .cancelled: .dim
        }
    }
}

extension StepState.Name {
    var style: StyledText.Style? {
        switch self {
        case .running: .cyan
        case .waiting, .unknown: .yellow
        case .succeeded: .green
        case .failed: .red
        case .pending, .cancelled, .skipped: .dim
        }
    }
}
