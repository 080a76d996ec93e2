import PipelineCore

/// The items that a batch began before it goes on with another document or other shared inputs.
struct BegunItems {
    private let job: JobSnapshot
    private let accepted: Int
    private let adopted: Int

    /// - Parameters:
    ///   - job: the batch as it was.
    ///   - accepted: the number of unknown items that go on by what the new document captures.
    ///   - adopted: the number of items under way that go on with the new document.
    init(_ job: JobSnapshot, accepted: Int, adopted: Int) {
        (self.job, self.accepted, self.adopted) = (job, accepted, adopted)
    }

    /// What a person is to know of them, a line each; none where the batch goes on as it was.
    func notes(on record: JobRecord, retriesFailed: Bool) -> [String] {
        let before = job.record
        guard let batch = job.batch, before.digest != record.digest || before.inputs != record.inputs else { return [] }
        var lines: [String] = []
        let done = batch.count(.succeeded)
        if done > 0 {
            lines.append(
                "note: what has succeeded (\(done)) stays as it is, of the document and the inputs of before; "
                    + "another --batch does all of it")
        }
        let failed = batch.count(.failed)
        if failed > 0, !retriesFailed {
            lines.append(
                "note: what has failed (\(failed)) stays so; "
                    + "with --retry-failed too it is begun again with the new ones")
        }
        if accepted > 0 {
            lines.append(
                "note: \(Self.items(accepted, "was", "were")) unknown and now \(accepted == 1 ? "goes" : "go") on: the response "
                    + "that was kept has what is captured by now, or the submit is looked for again")
        }
        if adopted > 0 {
            lines.append(
                "note: \(Self.items(adopted, "goes", "go")) on with the new document and the inputs of before: what is done "
                    + "of \(adopted == 1 ? "it" : "them") fits and stays")
        }
        let count = batch.underWayCount + batch.count(.suspended) + batch.count(.unknown) - accepted - adopted
        if count > 0 {
            lines.append(
                "note: \(Self.items(count, "goes", "go")) on with the document and the inputs that "
                    + (count == 1 ? "it was begun with" : "they were begun with"))
        }
        return lines
    }

    private static func items(_ count: Int, _ one: String, _ many: String) -> String {
        count == 1 ? "1 item \(one)" : "\(count) items \(many)"
    }
}
