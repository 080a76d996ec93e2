import CLibrary
import PipelineCore
import PipelineKit
import PipelineStages

/// The part files of jobs that have ended, a line each: what waits for a person, and what nobody wants any more.
///
/// The journal is asked, and no folder: a file whose name ends in `.part` may be anybody's.
struct LeftParts {
    /// The job's claim to a part, as a line says it.
    private enum Claim {
        /// A job that has not ended writes it.
        case open
        /// A job that has failed goes on with it.
        case kept(String)
        /// Its job was cancelled.
        case orphan(String)

        /// The higher one counts where several jobs have the same part.
        var rank: Int {
            switch self {
            case .open: 2
            case .kept: 1
            case .orphan: 0
            }
        }

        var text: String? {
            switch self {
            case .open: nil
            case .kept(let text), .orphan(let text): text
            }
        }
    }

    /// By path.
    private var claims: [String: Claim] = [:]

    /// - Parameter jobs: all of them, newest first, as a list has them.
    init(of jobs: [OwnedJob], in journal: Workspace.Journal) async throws {
        for job in jobs {
            let id = job.snapshot.record.id
            if job.snapshot.batch != nil {
                try await addItems(of: id, in: journal)
            } else if job.snapshot.steps.values.contains(where: Self.mayHavePart),
                let whole = try await journal.jobs(JobQuery(prefix: id.text)).first
            {
                add(whole)
            }
        }
    }

    /// In the order of the paths.
    var lines: [String] { claims.sorted { $0.key < $1.key }.compactMap(\.value.text) }

    private mutating func addItems(of batch: JobID, in journal: Workspace.Journal) async throws {
        let begun: Set<ItemRecord.State> = [.running, .suspended, .unknown, .failed, .cancelled]
        var last = 0
        while true {
            let page = try await journal.items(of: batch, in: begun, after: last, limit: 1000)
            guard let end = page.last else { return }
            last = end.number
            for item in page {
                if let job = try await journal.job(of: item, isBrief: false) { add(job) }
            }
        }
    }

    private static func mayHavePart(_ step: StepRecord) -> Bool {
        switch step.state.name {
        case .pending, .running, .waiting, .unknown, .failed, .cancelled: true
        case .succeeded, .skipped: false
        }
    }

    private mutating func add(_ job: OwnedJob) {
        for (key, step) in job.snapshot.steps where Self.mayHavePart(step) {
            guard let part = StepPart(of: key, in: job.snapshot) else { continue }
            let claim = Self.claim(part, job)
            if let earlier = claims[part.path], earlier.rank >= claim.rank { continue }
            claims[part.path] = claim
        }
    }

    private static func claim(_ part: StepPart, _ job: OwnedJob) -> Claim {
        let snapshot = job.snapshot
        let id = snapshot.record.id
        let phase = job.phase
        guard snapshot.ended != nil else { return .open }
        if phase == .cancelled {
            return .orphan("orphan    \(part.path): job \(id) was cancelled, and no other writes it")
        }
        let verb = phase == .succeeded || snapshot.wasGivenUp ? "retry" : "resume"
        let overwrite = part.isWhole && access(part.target, F_OK) == 0 ? " --overwrite" : ""
        let what = part.isWhole ? "the whole result" : "the beginning of a result"
        let end = part.isWhole ? "gives it the name" : "goes on with it"
        return .kept("kept      \(part.path): \(what) of job \(id): 'pipeline \(verb) \(id)\(overwrite)' \(end)")
    }
}
