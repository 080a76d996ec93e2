import CLibrary
import JSONPath
package import PipelineCore
import Synchronization
import SystemPackage

/// A file of JSON Lines to which a row is appended as an item ends: each end once, also over crashes.
package final class ResultsFile: Sendable {
    private let path: String
    private let names: [String]
    private let descriptor: FileDescriptor
    private let failure = Mutex<String?>(nil)

    /// Opens the file, or makes it. What is no regular file is refused: rows that are there already are read, which of a pipe
    /// would never end.
    ///
    /// - Parameter names: the names of the document's `batch.results`.
    package init(_ path: String, names: [String]) throws(StepFailure) {
        (self.path, self.names) = (path, names)
        try Self.check(path)
        do {
            descriptor = try FileDescriptor.open(
                FilePath(path), .readWrite, options: [.create, .append, .closeOnExec],
                permissions: [.ownerReadWrite, .groupRead, .otherRead])
        } catch {
            throw StepFailure("cannot write \(path): \(error)", hint: "check the path after --results")
        }
    }

    deinit { try? descriptor.close() }

    /// Refuses a path at which something else stands than a regular file, without opening it.
    package static func check(_ path: String) throws(StepFailure) {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT != S_IFREG else { return }
        throw StepFailure(
            "\(path) is no regular file, and --results is one: rows that are there are read again",
            hint: "name a file; 'pipeline results BATCH' prints the rows for another program")
    }

    /// True if there is a file with something in it.
    package static func exists(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_size > 0
    }

    /// Returns whether a file begins with something else than the row of an item.
    package static func isForeign(_ path: String?) -> Bool {
        guard let path, exists(path), let source = try? ByteSource(path) else { return false }
        guard let (line, _) = try? source.record(endedBy: 0x0A, limit: 64 << 20) else { return true }
        // A crash may have cut the only row anywhere.
        return line.isEmpty || !zip(line, #"{"item":"#.utf8).allSatisfy { $0 == $1 }
    }

    /// Takes away all that is there.
    package func clear() throws(StepFailure) {
        guard ftruncate(descriptor.rawValue, 0) == 0 else {
            throw StepFailure("cannot empty \(path)", hint: "check the path after --results")
        }
    }

    /// The first thing that went wrong; nil while all is well.
    package var problem: String? { failure.withLock { $0 } }

    /// Takes a line away that a crash has cut, and appends the rows of items that ended without one.
    package func catchUp(with journal: any BatchJournal, _ batch: JobID) async throws {
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
        if Self.isForeign(path) {
            throw StepFailure(
                "\(path) is not the file that the rows of this batch go to",
                hint: "move it: the rows of all items that have ended are written again")
        }
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
