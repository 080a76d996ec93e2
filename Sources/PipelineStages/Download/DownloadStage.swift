import CLibrary
import HTTPTypes
import JSONPath
import PipelineCore
import PipelineHTTP

/// `download`: gets a file, goes on where it was after an interruption, and gives it its name when it is whole.
struct DownloadStage: Stage {
    let requests: StageRequests
    @Indirect private(set) var definition: RequestDefinition
    let to: Template
    let verify: VerifyDefinition
    /// True if an existing file may be replaced, by the document.
    let overwrites: Setting<Bool>
    /// The number of ranges that may come at a time.
    var parallel = Setting.constant(1)
    /// True if its SHA-256 is made although nothing verifies it.
    var digest = Setting.constant(false)
    /// Nil to write the body; otherwise only what it finds in it.
    var select: Selector?
    /// Nil to keep the file as it came.
    var unpack: UnpackDefinition?

    func resume(
        from checkpoint: DownloadCheckpoint?, in context: StageContext<DownloadCheckpoint>
    ) async throws(StageFailure) -> StageOutcome<DownloadCheckpoint> {
        let place = try await place(in: context)
        if let select { return .finished(try await selected(select, to: place, in: context)) }
        var checkpoint = checkpoint ?? DownloadCheckpoint()
        if let path = fixedTarget(place), checkpoint.target != path {
            // Another place than before, or the first time.
            checkpoint.startAgain()
            checkpoint.target = path
        }
        let order = DownloadOrder(
            stage: self, context: context, place: place, wanted: try await wanted(in: context),
            replaces: try await replaces(in: context), streams: try await context.value(of: parallel),
            expected: try await expected(in: context))
        var run = DownloadRun(order, from: checkpoint)
        // The transport may hold the file a moment longer than the try lasts; the next try must find it free.
        defer { run.part?.unlock() }
        return try await run.perform()
    }

    /// Returns what the file must be, and whether its SHA-256 is asked for: by the stage, or by a later stage that reads that
    /// capture.
    private func wanted(
        in context: StageContext<DownloadCheckpoint>
    ) async throws(StageFailure) -> VerifyDefinition.Values {
        var wanted = try await verify.values(in: context)
        wanted.asksForDigest = try await context.value(of: digest) || context.facts.isRead("sha256")
        return wanted
    }

    /// Returns whether an existing file may be replaced, by the document or by the person.
    func replaces(in context: StageContext<DownloadCheckpoint>) async throws(StageFailure) -> Bool {
        let isWanted = try await context.value(of: overwrites)
        return isWanted || context.facts.overwrites
    }

    private func expected(in context: StageContext<DownloadCheckpoint>) async throws(StageFailure) -> StatusSet? {
        guard let expect = definition.expect else { return nil }
        return try await context.evaluate { scope throws(EvaluationFailure) in try expect.values(in: scope) }
    }

    /// The path that is known before an answer; the packed file stands next to what comes out of it, also of a folder.
    private func fixedTarget(_ place: OutputPath) -> String? {
        switch place {
        case .file(let path): path
        case .folder(let path): unpack == nil ? nil : path
        }
    }

    private func place(in context: StageContext<DownloadCheckpoint>) async throws(StageFailure) -> OutputPath {
        let text = try await context.evaluate(with: OutputPath.disarm) { scope throws(EvaluationFailure) in
            try to.evaluateText(in: scope)
        }
        do throws(StepFailure) {
            return try OutputPath(text, in: context.facts.folders.output)
        } catch {
            var failure = error
            failure.place = context.facts.place
            throw .definite(failure)
        }
    }
}

/// `verify`: what the author knows of the file beforehand.
struct VerifyDefinition: Sendable {
    var sha256: Template?
    var sha256Range = SourceRange(start: 0, end: 0)
    var size: JSONTemplate?
    var sizeRange = SourceRange(start: 0, end: 0)
    /// The name of a header of the answer that gives a digest.
    var header: String?

    /// The values, once they can be known.
    struct Values: Sendable {
        var digest: DeclaredDigest?
        var size: Int64?
        var header: String?
        /// True if the SHA-256 is asked for, although nothing may verify it.
        var asksForDigest = false

        /// The digests that are to run with the bytes.
        var algorithms: [DigestAlgorithm] { stated.map(\.algorithm) + (asksForDigest ? [.sha256] : []) }
        var stated: [DeclaredDigest] { digest.map { [$0] } ?? [] }
        /// True if the header is one that a service gives for what it sends: of a part it says nothing about the whole.
        var headerIsOfContent: Bool {
            header.map { ["content-digest", "content-md5"].contains($0.lowercased()) } ?? false
        }
    }

    func values(in context: StageContext<DownloadCheckpoint>) async throws(StageFailure) -> Values {
        if sha256 == nil, size == nil { return Values(header: header) }
        return try await context.evaluate { scope throws(EvaluationFailure) in try values(in: scope) }
    }

    func values(in scope: Scope) throws(EvaluationFailure) -> Values {
        Values(
            digest: try sha256.flatMap { template throws(EvaluationFailure) in
                try digest(try template.evaluate(in: scope))
            },
            size: try size.flatMap { template throws(EvaluationFailure) in
                try bytes(try template.evaluate(in: scope))
            }, header: header)
    }

    /// Reports values that are wrong and that the document says without an expression.
    func check(_ reader: ObjectReader) {
        report("sha256", reader) { () throws(EvaluationFailure) in
            if let text = sha256?.constant { _ = try digest(.string(text)) }
        }
        report("size", reader) { () throws(EvaluationFailure) in
            if let value = size?.constant { _ = try bytes(value) }
        }
    }

    private func report(_ name: String, _ reader: ObjectReader, _ read: () throws(EvaluationFailure) -> Void) {
        do throws(EvaluationFailure) {
            try read()
        } catch {
            guard let place = reader.place(of: name) else { return }
            reader.findings.report(place, error.message, hint: error.hint)
        }
    }

    /// Null means that there is nothing to compare with, which is warned of: not every service gives a digest each time.
    private func digest(_ value: JSON) throws(EvaluationFailure) -> DeclaredDigest? {
        if value.isNull { return nil }
        if let text = value.string, let digest = DeclaredDigest(text, source: "\"verify\""), digest.algorithm == .sha256
        {
            return digest
        }
        throw .wrong(
            message: "the value of \"sha256\" is no SHA-256: \(value.text)",
            hint: "64 hexadecimal digits, or the same 32 bytes in base64", range: sha256Range)
    }

    private func bytes(_ value: JSON) throws(EvaluationFailure) -> Int64? {
        switch value {
        case .null: return nil
        case .number(let number): if let count = number.int, count >= 0 { return Int64(count) }
        case .string(let text):
            if let count = Int64(text), count >= 0 { return count }
            if let count = try? SizeText.parse(text) { return count }
        default: break
        }
        throw .wrong(
            message: "the value of \"size\" is no number of bytes: \(value.text)",
            hint: "a number from a response, or a size such as \"8MiB\"", range: sizeRange)
    }
}
