import Dispatch
import CLibrary
import JSONPath
package import PipelineCore
import Synchronization

/// The exchanges of jobs in the state folder, a file of JSON Lines for each job, readable by its owner alone.
///
/// Lines are gathered in memory and written together: when the job rests, when many have come, at the latest after a
/// quarter of a second. So much of this log is lost by a kill -9, and nothing else. Only what is written with one call
/// stands in a file, so that two processes never mix two lines. A file that has grown is cut to the last exchanges of
/// each stage.
package final class ExchangeFiles: ExchangeLog {
    /// The number of exchanges of a stage that are kept for sure.
    package static let kept = 100
    /// The number of lines that a file has at most before it is cut.
    private static let most = 500
    /// A file of so many bytes is looked at for the first time.
    private static let large = 65_536
    /// So much of a job, and of all, waits in memory at most.
    private static let mostOfJob = 65_536
    private static let mostOfAll = 1_048_576
    private static let patience = DispatchTimeInterval.milliseconds(250)

    private struct Waiting {
        var lines: [JobID: [UInt8]] = [:]
        var bytes = 0
        /// True if a time is set at which all is written.
        var isTimed = false
    }

    private let folder: String
    private let waiting = Mutex(Waiting())
    /// Held while files are written. The size at which a large file is looked at again.
    private let looks = Mutex<[JobID: Int]>([:])

    /// - Parameter stateFolder: the folder of the journal.
    package init(stateFolder: String) { folder = "\(stateFolder)/exchanges" }

    package func append(_ record: ExchangeRecord, of job: JobID) {
        var line: [UInt8] = []
        record.json.write(into: &line)
        line.append(UInt8(ascii: "\n"))
        let (isLarge, isFull, begins) = waiting.withLock { waiting in
            waiting.lines[job, default: []] += line
            waiting.bytes += line.count
            defer { waiting.isTimed = true }
            let isLarge = waiting.lines[job, default: []].count >= Self.mostOfJob
            return (isLarge, waiting.bytes >= Self.mostOfAll, !waiting.isTimed)
        }
        if isLarge { flush(job) }
        if isFull { flushAll() }
        if begins {
            DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + Self.patience) { [weak self] in
                guard let self else { return }
                waiting.withLock { $0.isTimed = false }
                flushAll()
            }
        }
    }

    deinit { flushAll() }

    package func flush(_ job: JobID) {
        looks.withLock { looks in
            let lines = waiting.withLock { waiting in
                let lines = waiting.lines.removeValue(forKey: job) ?? []
                waiting.bytes -= lines.count
                return lines
            }
            if lines.isEmpty { return }
            var size = write(lines, to: path(of: job))
            guard size >= looks[job] ?? Self.large else { return }
            if count(of: job) > Self.most { size = cut(job) }
            looks[job] = size + size / 4
        }
    }

    private func flushAll() { for job in waiting.withLock({ Array($0.lines.keys) }) { flush(job) } }

    /// The last exchanges of each stage of a job, in their order; none when nothing was kept.
    package func records(of job: JobID) -> [ExchangeRecord] {
        flush(job)
        return keptRecords(of: job)
    }

    private func keptRecords(of job: JobID) -> [ExchangeRecord] {
        Self.last(lines(of: job).compactMap { (try? JSON.parse($0)).flatMap(ExchangeRecord.init(json:)) })
    }

    /// Forgets a job's.
    package func remove(_ job: JobID) {
        flush(job)
        unlink(path(of: job))
        looks.withLock { $0[job] = nil }
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
        return count
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

    /// Writes lines to the end of a file, and gives its size then; 0 when it can't be written.
    @discardableResult private func write(_ lines: [UInt8], to path: String) -> Int {
        var descriptor = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        if descriptor < 0, errno == ENOENT {
            mkdir(folder, 0o700)
            descriptor = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        }
        guard descriptor >= 0 else { return 0 }
        defer { close(descriptor) }
        _ = CLibrary.write(descriptor, lines, lines.count)
        return Int(lseek(descriptor, 0, SEEK_CUR))
    }

    /// Writes the file again with what is kept of it, and gives its size then.
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
        var gathered: [UInt8] = []
        let draft = "\(path).\(getpid())"
        // A process of that number may have left one.
        unlink(draft)
        var whole = 0
        eachLine(of: path) { line in
            if wanted.next() == true {
                gathered += line
                whole += line.count
            }
            guard gathered.count >= Self.mostOfJob else { return }
            write(gathered, to: draft)
            gathered.removeAll(keepingCapacity: true)
        }
        // On a full disk the file stays as it was.
        if write(gathered, to: draft) == whole { rename(draft, path) } else { unlink(draft) }
        return whole
    }
}
