import JSONPath
import PipelineCore
import PipelineKit

/// The lines for what a job was warned of: who looks at it later saw none of them go by.
struct JobWarnings {
    /// So many of the last events are looked through.
    private static let reach = 2000
    /// So many warnings are shown, the last ones.
    private static let most = 5

    let lines: [StyledText]

    /// - Parameter steps: those whose warnings are shown; nil for all.
    init(
        of job: JobSnapshot, steps: Set<StepKey>? = nil, in journal: Workspace.Journal
    ) async throws(JournalFailure) {
        if steps?.isEmpty == true {
            lines = []
            return
        }
        let events = try await journal.events(of: job.record.id, after: max(0, job.sequence - Self.reach))
        var said: [String] = []
        // A poll may warn of the same each time.
        for event in events where event.kind == .stageWarned {
            if let steps, event.step.map(steps.contains) != true { continue }
            let step = event.step.map { "\($0): " } ?? ""
            let line = SafeText.line(step + (event.data["message"]?.string ?? ""))
            if let place = said.firstIndex(of: line) { said.remove(at: place) }
            said.append(line)
        }
        var lines = said.suffix(Self.most).map { "\("warning", .yellow)   \($0)" as StyledText }
        if said.count > Self.most {
            lines.append("          \(said.count - Self.most) more before: pipeline logs \(job.record.id)")
        }
        self.lines = lines
    }
}
