import CLibrary
import Crypto
import PipelineCore

/// A result that is written from memory: whole under its name, or not there at all.
enum ResultFile {
    /// Writes the bytes to `PATH.part` and gives it its name when it is on the disk, and keeps that it is written.
    ///
    /// What stands there already stays when it is the same, and is replaced only when the job may overwrite. Writing
    /// it again after a crash changes nothing.
    static func write<Checkpoint>(
        _ bytes: [UInt8], to path: String, replaces: Bool = false, in context: StageContext<Checkpoint>
    ) async throws(StageFailure) -> WrittenFile {
        let digest = Array(SHA256.hash(data: bytes))
        let part = try open("\(path).part", in: context)
        try reading(in: context) { () throws(FileFailure) in
            try writeAll(bytes, to: part)
            try part.sync()
        }
        let written = WrittenFile(path: path, bytes: Int64(bytes.count), sha256: digest.hex)
        try await name(part, as: written, keepsPart: false, replaces: replaces, in: context)
        return written
    }

    /// Gives a whole part its name, and keeps that it has it.
    ///
    /// - Parameter keepsPart: whether the part stays when a different file has the name, because it was long in coming.
    static func name<Checkpoint>(
        _ part: PartFile, as written: WrittenFile, keepsPart: Bool, replaces: Bool = false,
        in context: StageContext<Checkpoint>
    ) async throws(StageFailure) {
        if var failure = OutputPath.preflight(to: written.path) {
            failure.place = context.facts.place
            throw .definite(failure)
        }
        let renaming = try reading(in: context) { () throws(FileFailure) in
            try part.rename(to: written.path, replaces: replaces || context.facts.overwrites)
        }
        if renaming == .nameTaken {
            let isSame = try isThere(written, in: context)
            if isSame || !keepsPart { part.remove() }
            guard isSame else {
                throw .definite(
                    StepFailure(
                        "a different file is at \(written.path) already, and is not replaced",
                        hint: keepsPart
                            ? "it is whole and waits as \(part.path): 'pipeline resume --overwrite' gives it the name"
                            : "'pipeline resume --overwrite' replaces it", place: context.facts.place))
            }
        }
        try await context.commit(file: written)
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

    /// Opens and locks a part.
    static func open<Checkpoint>(
        _ path: String, isFresh: Bool = true, creates: Bool = true, in context: StageContext<Checkpoint>
    ) throws(StageFailure) -> PartFile {
        do throws(PartFile.OpenFailure) {
            return try PartFile.open(path, isFresh: isFresh, creates: creates, label: context.partLabel)
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
    /// Whose part files are that this step writes.
    var partLabel: PartLabel { PartLabel([facts.job.text, facts.step.description]) }

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
