import PipelineCore
import PipelineKit

extension JobID {
    /// Ids begin with their time: fewer characters would soon name other jobs too.
    private static let shortest = 8

    /// The shortest begin of the id that names no other job.
    func short(in journal: Workspace.Journal) async throws -> String {
        for length in stride(from: Self.shortest, to: text.count, by: 2) {
            let prefix = String(text.prefix(length))
            if try await journal.jobs(JobQuery(prefix: prefix, limit: 2, isBrief: true)).count < 2 { return prefix }
        }
        return text
    }
}
