import JSONPath
import PipelineCore
import PipelineKit

/// Jobs as the table that `list` shows on a terminal.
struct JobList {
    private let rows: [[StyledText]]

    /// That many rows say what they work on: each asks the journal for more of its job.
    private static let described = 200

    /// - Parameter jobs: newest first; without inputs.
    init(_ jobs: [OwnedJob], in journal: Workspace.Journal, _ workspace: Workspace) async throws {
        let now = SystemClock().now
        var rows: [[StyledText]] = []
        var estimates = ListEstimates(journal: journal, workspace: workspace)
        for (index, job) in jobs.enumerated() {
            var (left, deferral): (Double?, Deferral?) = (nil, nil)
            if let batch = job.snapshot.batch {
                // Its job has no stages, and goes on as fast as before.
                left = job.itemRate(at: now).map { Double(batch.itemCount - batch.endedCount) / $0 }
                if job.snapshot.ended != nil { left = nil }
            } else if let (estimate, plan) = try await estimates.next(of: job) {
                left = estimate?.quantile(0.5)
                deferral = try await workspace.deferral(of: job, plan, in: journal)
            }
            let record = job.snapshot.record
            let object: String
            if let batch = job.snapshot.batch {
                object = "\(record.key)  \(BatchText(key: record.key, batch: batch).brief)"
            } else if record.key != record.id.text {
                object = record.key
            } else if index < Self.described {
                object = try await Self.object(of: record.id, in: journal)
            } else {
                object = ""
            }
            let took = job.snapshot.ended.map { DurationText.rounded($0.seconds(since: record.started)) } ?? ""
            rows.append([
                "\(try await record.id.short(in: journal), .bold)", StyledText(record.pipeline),
                StyledText(object), JobStanding(job: job, deferral: deferral, now: now).text,
                StyledText(DurationText.rounded(now.seconds(since: record.started))), StyledText(took),
                StyledText(left.map { DurationText.rounded($0) } ?? ""),
            ])
        }
        self.rows = rows
    }

    func lines(width: Int) -> [StyledText] {
        let columns = [
            TextTable.Column(title: "ID"), TextTable.Column(title: "NAME", dispensability: 2, least: 8),
            TextTable.Column(title: "FOR", dispensability: 5, least: 8), TextTable.Column(title: "STATE", least: 9),
            TextTable.Column(title: "AGE", dispensability: 3, isRightAligned: true),
            TextTable.Column(title: "TOOK", dispensability: 4, isRightAligned: true),
            TextTable.Column(title: "LEFT", dispensability: 1, isRightAligned: true),
        ]
        return TextTable(columns: columns, rows: rows).lines(width: width)
    }

    /// Returns what the job works on: its first input that is a text, of a path the last part; else the first of all.
    private static func object(of id: JobID, in journal: Workspace.Journal) async throws -> String {
        let job = try await journal.jobs(JobQuery(prefix: id.text, limit: 1)).first
        let inputs = Array(job?.snapshot.record.inputs ?? [:])
        guard let text = inputs.lazy.compactMap(\.value.string).first else {
            return inputs.first.map { "\($0.name)=\($0.value.text)" } ?? ""
        }
        return text.hasPrefix("/") ? text.split(separator: "/").last.map(String.init) ?? text : text
    }
}

/// The estimates of the first jobs of a list that have not ended: each takes a plan, and a look into the journal.
struct ListEstimates {
    let journal: Workspace.Journal
    let workspace: Workspace
    private var left = 20

    init(journal: Workspace.Journal, workspace: Workspace) { (self.journal, self.workspace) = (journal, workspace) }

    /// Returns the estimate of the next job and its plan, where these are known; nil for one that gets none.
    mutating func next(of job: OwnedJob) async throws -> (JobEstimate?, Plan?)? {
        guard job.snapshot.ended == nil, job.snapshot.batch == nil, left > 0 else { return nil }
        left -= 1
        let plan = try? await workspace.plan(of: job.snapshot.record)
        return (try await workspace.estimate(of: job, plan, in: journal), plan)
    }
}
