import CLibrary
import Crypto
import PipelineCore

/// A result that is written from memory: whole under its name, or not there at all.
enum ResultFile {
    /// Writes the bytes to a part, mostly `PATH.part`, and gives it its name when it is on the disk, and keeps that
    /// it is written.
    ///
    /// What stands there already stays when it is the same, and is replaced only when the job may overwrite, or when this
    /// step has written it. Writing it again after a crash changes nothing.
    static func write<Checkpoint>(
        _ bytes: [UInt8], to path: String, replaces: Bool = false, in context: StageContext<Checkpoint>
    ) async throws(StageFailure) -> WrittenFile {
        let digest = Array(SHA256.hash(data: bytes))
        let part = try openNew(of: path, in: context)
        try reading(in: context) { () throws(FileFailure) in
            try writeAll(bytes, to: part)
            try part.sync()
        }
        let written = WrittenFile(path: path, bytes: Int64(bytes.count), sha256: digest.hex)
        try await name(part, as: written, keepsPart: false, replaces: replaces, in: context)
        return written
    }

    /// Gives a whole part its name, and keeps that it has it. What this very step of the job has written there before gives
    /// way, if nobody has changed it: the step runs again, and this is its result now.
    ///
    /// - Parameters:
    ///   - keepsPart: whether the part stays when a different file has the name, because it was long in coming.
    ///   - replaces: whether a file that has the name gives way; never one that another step of the job has written,
    ///     or that is another item's of the batch.
    ///   - point: passed once it has the name.
    static func name<Checkpoint>(
        _ part: PartFile, as written: WrittenFile, keepsPart: Bool, replaces: Bool = false, service: String? = nil,
        passing point: CrashPoint? = nil, in context: StageContext<Checkpoint>
    ) async throws(StageFailure) {
        if var failure = OutputPath.preflight(to: written.path) {
            failure.service = service
            failure.place = context.facts.place
            throw .definite(failure)
        }
        let writer = try await context.claimResult(written.path)
        if let writer, !writer.hasWritten(written.path) {
            throw try setAside(part, writer, written.path, service, in: context)
        }
        let mayReplace = writer == nil && (replaces || context.facts.overwrites)
        let renaming = try reading(in: context) { () throws(FileFailure) in
            try part.rename(to: written.path, replaces: mayReplace)
        }
        if renaming == .nameTaken {
            let isSame = try reading(in: context) { () throws(FileFailure) in
                try FileComparison.isEqual(part, to: written.path)
            }
            if !isSame, let writer { throw try setAside(part, writer, written.path, service, in: context) }
            let isReplaced = try await isSame ? false : replaceOwn(part, written.path, in: context)
            if !isReplaced {
                if isSame || !keepsPart { part.remove() }
                guard isSame else { throw taken(written.path, keepsPart ? part : nil, service, in: context) }
            }
        }
        PartLabel.takeOff(part.descriptor)
        if let point { context.pass(point) }
        try await context.commit(file: written)
    }

    /// Puts a part in the place of the file that this very step has written there; false when that is not there any more as
    /// it was.
    private static func replaceOwn<Checkpoint>(
        _ part: PartFile, _ path: String, in context: StageContext<Checkpoint>
    ) async throws(StageFailure) -> Bool {
        guard let earlier = await context.written(at: path), earlier.sha256 != nil, try isThere(earlier, in: context)
        else { return false }
        return try reading(in: context) { () throws(FileFailure) in
            try part.rename(to: path, replaces: true) == .done
        }
    }

    /// - Parameter part: the part that waits for the name; nil when it was removed.
    private static func taken<Checkpoint>(
        _ path: String, _ part: PartFile?, _ service: String?, in context: StageContext<Checkpoint>
    ) -> StageFailure {
        let command = context.facts.overwritingCommand
        return .definite(
            StepFailure(
                context.redact("a different file is at \(path) already, and is not replaced"),
                hint: part.map { "it is whole and waits as \($0.path): '\(command)' gives it the name" }
                    ?? "'\(command)' replaces it", service: service, place: context.facts.place))
    }

    /// Keeps a whole part whose place another step of the job, or another item of the batch, has under a name that
    /// none of them shares, and makes the failure that says so.
    static func setAside<Checkpoint>(
        _ part: PartFile, _ writer: OtherWriter, _ path: String, _ service: String?,
        in context: StageContext<Checkpoint>
    ) throws(StageFailure) -> StageFailure {
        let aside = context.partName.ownPath(for: path)
        let owner: String
        let remedy: String
        switch writer {
        case .step(let other):
            owner = "what \(other.words) of this job has written"
            remedy = advice(to: context.facts.step, against: other)
        case .item(let key):
            owner = "the file of the item '\(key)'"
            remedy = "let \"to\" differ, for example by ${{ job.item }}"
        }
        if part.path != aside {
            _ = try reading(in: context) { () throws(FileFailure) in try part.rename(to: aside, replaces: true) }
        }
        return .definite(
            StepFailure(
                context.redact("\(path) is \(owner), and is not replaced"),
                hint: "what came is whole and waits as \(aside); \(remedy)", service: service,
                place: context.facts.place))
    }

    /// Returns what tells the results of two steps apart.
    static func advice(to step: StepKey, against other: StepKey) -> String {
        step.stage == other.stage
            ? "put something into \"to\" that tells the items apart, for example ${{ index }}"
            : "give one of the stages another \"to\""
    }

    /// Returns whether the very bytes are under the name.
    static func isThere<Checkpoint>(
        _ written: WrittenFile, in context: StageContext<Checkpoint>
    ) throws(StageFailure) -> Bool {
        var status = stat()
        guard stat(written.path, &status) == 0, Int64(status.st_size) == written.bytes else { return false }
        let digest = try reading(in: context) { () throws(FileFailure) in try FileDigest.sha256(of: written.path) }
        return digest == written.sha256
    }

    /// Makes and locks a new part of a file.
    static func openNew<Checkpoint>(
        of path: String, in context: StageContext<Checkpoint>
    ) throws(StageFailure) -> PartFile {
        try opening(path, in: context) { () throws(PartFile.OpenFailure) in try context.openNewPart(of: path) }
    }

    /// Opens and locks a part of the step; nil where none is.
    static func openExisting<Checkpoint>(
        _ path: String, in context: StageContext<Checkpoint>
    ) throws(StageFailure) -> PartFile? {
        try opening(path, in: context) { () throws(PartFile.OpenFailure) in try context.openPart(path) }
    }

    private static func opening<Checkpoint, Part>(
        _ path: String, in context: StageContext<Checkpoint>, _ open: () throws(PartFile.OpenFailure) -> Part
    ) throws(StageFailure) -> Part {
        do throws(PartFile.OpenFailure) {
            return try open()
        } catch {
            switch error {
            case .busy:
                let failure = StepFailure("another process writes \(path)", place: context.facts.place)
                throw .failed(AttemptFailure(failure, kind: .answered))
            case .file(let failure): throw Self.failure(failure, in: context)
            }
        }
    }

    private static func writeAll(_ bytes: [UInt8], to part: PartFile) throws(FileFailure) {
        var done = 0
        while done < bytes.count {
            let rest = Array(bytes[done...])
            let count = pwrite(part.descriptor, rest, rest.count, off_t(done))
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw .last("write", part.path) }
            done += count
        }
    }

    /// Work on local files, its failures those of a try.
    static func reading<Value, Checkpoint>(
        in context: StageContext<Checkpoint>, _ work: () throws(FileFailure) -> Value
    ) throws(StageFailure) -> Value {
        do throws(FileFailure) {
            return try work()
        } catch {
            throw failure(error, in: context)
        }
    }

    private static func failure<Checkpoint>(
        _ failure: FileFailure, in context: StageContext<Checkpoint>
    ) -> StageFailure {
        .failed(failure.tryFailure(place: context.facts.place))
    }
}

extension StageContext {
    /// The names of the parts that this step writes.
    var partName: PartName { PartName(facts.step, of: facts.job, item: itemLabel) }

    /// Makes and locks a new part of a file, under the step's own name where somebody else has just taken the usual one.
    func openNewPart(of target: String) throws(PartFile.OpenFailure) -> PartFile {
        let (path, own) = (partName.path(for: target, isBegun: false), partName.ownPath(for: target))
        do throws(PartFile.OpenFailure) {
            return try PartFile.open(path, isFresh: true, label: partName.label)
        } catch {
            guard case .busy = error, path != own else { throw error }
            return try PartFile.open(own, isFresh: true, label: partName.label)
        }
    }

    /// Opens and locks a part of the step; nil where none is, or another's file.
    func openPart(_ path: String) throws(PartFile.OpenFailure) -> PartFile? {
        if partName.isForeign(path, isBegun: true) { return nil }
        do throws(PartFile.OpenFailure) {
            return try PartFile.open(path, isFresh: false, creates: false, label: partName.label)
        } catch {
            if case .file(let failure) = error, failure.code == ENOENT { return nil }
            throw error
        }
    }

    /// The absolute path of a `to` that names a file. What came from a response gives a name, never a folder.
    func outputFile(_ template: Template) async throws(StageFailure) -> String {
        let text = try await evaluate(with: { OutputPath.disarm(&$0) }) { scope throws(EvaluationFailure) in
            try template.evaluateText(in: scope)
        }
        do throws(StepFailure) {
            if case .file(let path) = try OutputPath(text, in: facts.folders.output) {
                if let failure = OutputPath.preflight(to: path) { throw failure }
                return path
            }
            throw OutputPath.failure(ofFolder: text)
        } catch {
            var failure = error
            failure.place = failure.place ?? facts.place
            throw .definite(failure)
        }
    }
}
