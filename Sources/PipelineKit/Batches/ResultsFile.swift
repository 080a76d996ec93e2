import CLibrary
import JSONPath
package import PipelineCore
import PipelineStages
import Synchronization
import SystemPackage

/// A file of JSON Lines to which a row is appended as an item ends: each end once, also over crashes.
package final class ResultsFile: Sendable {
    private let path: String
    private let names: [String]
    private let descriptor: FileDescriptor
    private let failure = Mutex<String?>(nil)

    /// Opens a file, or makes it, for one batch at a time: the lock (flock(2)) ends with the process.
    ///
    /// What is no regular file is refused: rows that are there already are read, which of a pipe would never end.
    package init(_ path: String, names: [String]) throws(StepFailure) {
        (self.path, self.names) = (path, names)
        var status = stat()
        if stat(path, &status) == 0, status.st_mode & S_IFMT != S_IFREG {
            throw StepFailure(
                "\(path) is no regular file, and --results is one: rows that are there are read again",
                hint: "name a file; 'pipeline results BATCH' prints the rows for another program")
        }
        do {
            descriptor = try FileDescriptor.open(
                FilePath(path), .readWrite, options: [.create, .append, .closeOnExec],
                permissions: [.ownerReadWrite, .groupRead, .otherRead])
        } catch {
            throw StepFailure("cannot write \(path): \(error)", hint: "check the path after --results")
        }
        guard flock(descriptor.rawValue, LOCK_EX | LOCK_NB) != 0, errno == EWOULDBLOCK else { return }
        throw StepFailure(
            "the rows of another batch go to \(path) now",
            hint: "wait for its end, or give 'pipeline run … --each …' another file with --results")
    }

    deinit { try? descriptor.close() }

    /// Opens the file of a batch, or makes it: a line that a crash has cut is gone then, and the rows of all items that have
    /// ended are there.
    ///
    /// - Throws: what is in the way, where the file is not the batch's own.
    package static func open(
        _ path: String, of batch: JobRecord, in journal: any BatchJournal
    ) async throws -> ResultsFile {
        let file = try ResultsFile(path, names: ResultRow.names(in: batch))
        if isForeign(path, to: batch.id) {
            throw StepFailure(
                "\(path) is not the file that the rows of this batch go to",
                hint: "move it: the rows of all items that have ended are written again")
        }
        owner.set(Array(batch.id.text.utf8), on: file.descriptor.rawValue)
        try await file.catchUp(with: journal, batch.id)
        return file
    }

    /// Throws what keeps rows from going to a path, of whatever batch the file is: it is made if need be.
    package static func check(_ path: String) throws(StepFailure) { _ = try ResultsFile(path, names: []) }

    /// Takes away all that is in a file, of whatever batch it is.
    package static func empty(_ path: String) throws(StepFailure) {
        let file = try ResultsFile(path, names: [])
        owner.remove(from: file.descriptor.rawValue)
        guard ftruncate(file.descriptor.rawValue, 0) == 0 else {
            throw StepFailure("cannot empty \(path)", hint: "check the path after --results")
        }
    }

    /// The batch that a file is of.
    private static let owner = FileAttribute("user.pipeline.results")

    /// True if there is a file with something in it.
    package static func exists(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_size > 0
    }

    /// Returns whether a file is another batch's, or begins with something else than the row of an item.
    package static func isForeign(_ path: String, to batch: JobID) -> Bool {
        guard exists(path), let source = try? ByteSource(path) else { return false }
        if let id = owner.value(ofFileAt: path), !id.elementsEqual(batch.text.utf8) { return true }
        guard let (line, _) = try? source.record(endedBy: 0x0A, limit: 64 << 20) else { return true }
        // A crash may have cut the only row anywhere.
        return line.isEmpty || !zip(line, #"{"item":"#.utf8).allSatisfy { $0 == $1 }
    }

    /// The first thing that went wrong; nil while all is well.
    package var problem: String? { failure.withLock { $0 } }

    /// Takes a line away that a crash has cut, and appends the rows of items that ended without one.
    private func catchUp(with journal: any BatchJournal, _ batch: JobID) async throws {
        let known = try written()
        var last = 0
        let states: Set<ItemRecord.State> = [.succeeded, .failed, .cancelled, .duplicate]
        while true {
            let items = try await journal.items(of: batch, in: states, after: last, limit: 1000)
            guard let end = items.last else { return }
            last = end.number
            for item in items where !known.contains(Self.mark(item.key, item.attempt)) { append(item) }
        }
    }

    /// Appends the rows of items that have ended and were never begun: bad rows and duplicates. Called once the rows of
    /// all others are here.
    func complete(with journal: any BatchJournal, _ batch: JobID) async {
        do {
            try await catchUp(with: journal, batch)
        } catch {
            failure.withLock { $0 = $0 ?? "rows are missing in \(path); run the batch again to complete it" }
        }
    }

    /// A number for each row that is there: memory for a hundred thousand stays small.
    private func written() throws(StepFailure) -> Set<Int> {
        var known: Set<Int> = []
        do throws(ItemSourceError) {
            let source = try ByteSource(path)
            var end: Int64 = 0
            while let (bytes, _) = try source.record(endedBy: 0x0A, limit: 64 << 20) {
                guard source.offset == end + Int64(bytes.count) + 1 else { break }
                end = source.offset
                guard let row = try? JSON.parse(bytes), let item = row["item"]?.string else { continue }
                known.insert(Self.mark(item, row["attempt"]?.number?.int ?? 0))
            }
            if source.offset > end, ftruncate(descriptor.rawValue, off_t(end)) != 0 {
                throw ItemSourceError("cannot take away the cut last line of \(path)")
            }
        } catch {
            throw StepFailure(error.message, hint: error.hint)
        }
        return known
    }

    private static func mark(_ key: String, _ attempt: Int) -> Int {
        var hasher = Hasher()
        hasher.combine(key)
        hasher.combine(attempt)
        return hasher.finalize()
    }

    /// Appends the row of an item that has ended, in one write. Of one for which there is no room nothing stays: the next
    /// would go on in the middle of its line.
    package func append(_ item: ItemRecord) {
        do {
            let end = try descriptor.seek(offset: 0, from: .end)
            do {
                try descriptor.writeAll(Array((ResultRow(item, names: names).json.text + "\n").utf8))
            } catch {
                _ = ftruncate(descriptor.rawValue, off_t(end))
                throw error
            }
        } catch {
            failure.withLock { $0 = $0 ?? "cannot append to \(path): \(error); run the batch again to complete it" }
        }
    }
}
