import Crypto
import PipelineCore

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A result that is written from memory: whole under its name, or not there at all.
enum ResultFile {
    /// Writes the bytes to `PATH.part` and gives it its name when it is on the disk, and keeps that it is written.
    ///
    /// What stands there already stays when it is the same, and is replaced only when the job may overwrite. Writing
    /// it again after a crash changes nothing.
    static func write<Checkpoint>(
        _ bytes: [UInt8], to path: String, in context: StageContext<Checkpoint>
    ) async throws(StageFailure) -> WrittenFile {
        let digest = Array(SHA256.hash(data: bytes))
        let part = try open("\(path).part", in: context)
        try reading(in: context) { () throws(FileFailure) in
            try writeAll(bytes, to: part)
            try part.sync()
        }
        let renaming = try reading(in: context) { () throws(FileFailure) in
            try part.rename(to: path, replaces: context.facts.overwrites)
        }
        if renaming == .nameTaken {
            part.remove()
            let there = try reading(in: context) { () throws(FileFailure) in try FileDigest.bytes(SHA256.self, of: path)
            }
            guard there == digest else {
                throw .definite(
                    StepFailure(
                        "a different file is at \(path) already, and is not replaced",
                        hint: "'pipeline resume --overwrite' replaces it", place: context.facts.place))
            }
        }
        let written = WrittenFile(path: path, bytes: Int64(bytes.count), sha256: digest.hex)
        try await context.commit(file: written)
        return written
    }

    private static func open<Checkpoint>(
        _ path: String, in context: StageContext<Checkpoint>
    ) throws(StageFailure) -> PartFile {
        do throws(PartFile.OpenFailure) {
            return try PartFile.open(path, isFresh: true)
        } catch {
            switch error {
            case .busy:
                let failure = StepFailure("another process writes \(path)", place: context.facts.place)
                throw .failed(TryFailure(failure, kind: .answered))
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

    private static func reading<Value, Checkpoint>(
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
        let kind: TryFailure.Kind = failure.isLackOfSpace ? .answered : .definite
        return .failed(TryFailure(failure.stepFailure(place: context.facts.place), kind: kind))
    }
}

extension StageContext {
    /// The absolute path of a `to` that names a file. What came from a response gives a name, never a folder.
    func outputFile(_ template: Template) async throws(StageFailure) -> String {
        let text = try await evaluate(with: { OutputPath.disarm(&$0) }) { scope throws(EvaluationFailure) in
            try template.evaluateText(in: scope)
        }
        do throws(StepFailure) {
            if case .file(let path) = try OutputPath(text, in: facts.folders.output) { return path }
        } catch {
            throw .definite(error)
        }
        throw .definite(
            StepFailure("\"to\" is a folder, \(text)", hint: "name the file in it", place: facts.place))
    }
}
