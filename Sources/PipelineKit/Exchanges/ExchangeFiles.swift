import Glibc
import JSONPath
public import PipelineCore
import Synchronization

/// The exchanges of jobs in the state folder, a file of JSON Lines for each job, readable by its owner alone.
///
/// Only what is written with one call stands in them, so that two processes, or a crash, never mix two lines. A file
/// that has grown is cut to the last exchanges of each stage.
public final class ExchangeFiles: ExchangeLog {
    /// How many of a stage are kept for sure.
    public static let kept = 100
    /// How many lines a file has at most before it is cut.
    private static let most = 500

    private let folder: String
    private let counts = Mutex<[JobID: Int]>([:])

    /// - Parameter stateFolder: the folder of the journal.
    public init(stateFolder: String) { folder = "\(stateFolder)/exchanges" }

    public func append(_ record: ExchangeRecord, of job: JobID) {
        var line: [UInt8] = []
        record.json.write(into: &line)
        line.append(UInt8(ascii: "\n"))
        counts.withLock { counts in
            write(line, to: path(of: job))
            let count = (counts[job] ?? self.count(of: job)) + 1
            counts[job] = count
            if count > Self.most { counts[job] = cut(job) }
        }
    }

    /// The last exchanges of each stage of a job, in their order; none when nothing was kept.
    public func records(of job: JobID) -> [ExchangeRecord] {
        Self.last(lines(of: job).compactMap { (try? JSON.parse($0)).flatMap(ExchangeRecord.init(json:)) })
    }

    /// Forgets a job's.
    public func remove(_ job: JobID) {
        unlink(path(of: job))
        counts.withLock { $0[job] = nil }
    }

    private static func last(_ records: [ExchangeRecord]) -> [ExchangeRecord] {
        var seen: [String: Int] = [:]
        let latest = records.reversed().filter { record in
            seen[record.step.stage, default: 0] += 1
            return seen[record.step.stage, default: 0] <= Self.kept
        }
        return latest.reversed()
    }

    private func path(of job: JobID) -> String { "\(folder)/\(job.text).jsonl" }

    private func lines(of job: JobID) -> [ArraySlice<UInt8>] {
        (FileContent.bytes(path(of: job)) ?? []).split(separator: UInt8(ascii: "\n"))
    }

    private func count(of job: JobID) -> Int {
        var count = 0
        eachLine(of: path(of: job)) { _ in count += 1 }
        return max(0, count - 1)
    }

    /// Goes through a file of which no more than a line is in memory at a time: bodies make it large.
    private func eachLine(of path: String, _ body: (UnsafeRawBufferPointer) -> Void) {
        guard let file = fopen(path, "re") else { return }
        defer { fclose(file) }
        var line: UnsafeMutablePointer<CChar>?
        var capacity = 0
        defer { free(line) }
        while case let length = getline(&line, &capacity, file), length > 0 {
            body(UnsafeRawBufferPointer(start: line, count: length))
        }
    }

    private func write(_ line: [UInt8], to path: String) {
        var descriptor = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        if descriptor < 0, errno == ENOENT {
            mkdir(folder, 0o700)
            descriptor = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        }
        guard descriptor >= 0 else { return }
        _ = Glibc.write(descriptor, line, line.count)
        close(descriptor)
    }

    /// Writes the file anew with what is kept of it; returns how many lines that is.
    private func cut(_ job: JobID) -> Int {
        let path = path(of: job)
        var stages: [String?] = []
        eachLine(of: path) { line in stages.append((try? JSON.parse(Array(line)))?["stage"]?.string) }
        var seen: [String: Int] = [:]
        let isKept = stages.reversed().map { stage in
            guard let stage else { return false }
            seen[stage, default: 0] += 1
            return seen[stage, default: 0] <= Self.kept
        }
        var wanted = isKept.reversed().makeIterator()
        let draft = "\(path).\(getpid())"
        eachLine(of: path) { line in if wanted.next() == true { write(Array(line), to: draft) } }
        rename(draft, path)
        return isKept.count { $0 }
    }
}
