package import Assertions
import CLibrary
package import JSONPath
import PipelineCore

/// Failed assertions in the state folder: for each place in the source one small file with the last failure there and
/// how often it failed, readable by its owner alone.
///
/// It needs no journal, since a journal may be what is broken, and any number of processes write to it. The number of
/// places is bounded by the source, so nothing is ever removed and no count ever falls.
package struct AssertionFiles: AssertionRecorder {
    private let folder: String
    private let version: String
    package let stopsProgram: Bool

    /// `PIPELINE_ASSERTIONS=report` in the environment has a debug build go on as a release does.
    package init(settings: Settings) {
        folder = "\(settings.stateFolder)/assertions"
        version = ProgramVersion.program
        #if DEBUG
            stopsProgram = settings.environment["PIPELINE_ASSERTIONS"] != "report"
        #else
            stopsProgram = false
        #endif
    }

    /// All that failed at one place in the source.
    package struct Entry: Sendable, Hashable {
        package var failure: AssertionFailure
        /// The version of the program that failed last.
        package var version: String
        package var count: Int
        /// RFC 3339.
        package var first: String
        package var last: String
    }

    package func record(_ failure: AssertionFailure) {
        guard let descriptor = open(failure) else { return }
        // Closing lets the lock go.
        defer { close(descriptor) }
        flock(descriptor, LOCK_EX)
        let now = SystemClock().now.description
        let before = (try? JSON.parse(Self.read(descriptor))).flatMap(Self.entry)
        let entry = Entry(
            failure: failure, version: version, count: (before?.count ?? 0) + 1, first: before?.first ?? now, last: now)
        let bytes = Self.json(entry).bytes
        guard pwrite(descriptor, bytes, bytes.count, 0) == bytes.count else { return }
        ftruncate(descriptor, off_t(bytes.count))
    }

    private func open(_ failure: AssertionFailure) -> Int32? {
        let name = failure.file.map { $0.isLetter || $0.isNumber || $0 == "." ? $0 : "-" }
        let path = "\(folder)/\(String(name))-\(failure.line).json"
        let flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW
        var descriptor = CLibrary.open(path, flags, 0o600)
        if descriptor < 0, errno == ENOENT {
            mkdir(AbsolutePath.folder(of: folder), 0o700)
            mkdir(folder, 0o700)
            descriptor = CLibrary.open(path, flags, 0o600)
        }
        return descriptor < 0 ? nil : descriptor
    }

    private static func read(_ descriptor: Int32) -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        let count = pread(descriptor, &buffer, buffer.count, 0)
        return Array(buffer.prefix(max(0, count)))
    }

    // MARK: Reading

    /// All entries, the one that failed last first.
    package var entries: [Entry] {
        FolderContent.names(folder).filter { $0.hasSuffix(".json") }
            .compactMap { FileContent.bytes("\(folder)/\($0)", limit: 1 << 20) }
            .compactMap { (try? JSON.parse($0)).flatMap(Self.entry) }
            .sorted { ($0.last, $0.failure.file, $0.failure.line) > ($1.last, $1.failure.file, $1.failure.line) }
    }

    /// The number of times that assertions have failed in this state folder; never falls.
    package var count: Int { entries.reduce(0) { $0 + $1.count } }

    /// The form in which an entry is kept and reported.
    package static func json(_ entry: Entry) -> JSON {
        [
            "file": .string(entry.failure.file), "line": .number(JSONNumber(entry.failure.line)),
            "message": .string(entry.failure.message), "job": JSON(entry.failure.job), "step": JSON(entry.failure.step),
            "version": .string(entry.version), "count": .number(JSONNumber(entry.count)),
            "first": .string(entry.first), "last": .string(entry.last),
        ]
    }

    private static func entry(_ json: JSON) -> Entry? {
        guard let file = json["file"]?.string, let line = json["line"]?.number?.int,
            let message = json["message"]?.string, let count = json["count"]?.number?.int,
            let first = json["first"]?.string, let last = json["last"]?.string
        else { return nil }
        let failure = AssertionFailure(
            message: message, file: file, line: line, job: json["job"]?.string, step: json["step"]?.string)
        return Entry(
            failure: failure, version: json["version"]?.string ?? "", count: count, first: first, last: last)
    }
}
