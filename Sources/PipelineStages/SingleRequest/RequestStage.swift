import Encodings
import JSONPath
import PipelineCore
import PipelineHTTP

/// Sends one request, or one for each page. POST and PATCH go through the submit ledger, unless they have pages; the
/// rest is simply sent again when it fails.
struct RequestStage: Stage {
    /// Of one request there is nothing between before and after, but that its response may wait to be written.
    struct Checkpoint: Codable, Sendable {
        var paging: PagingCheckpoint?
        /// The body of a response that accepts what must not be sent twice, in base64, for as long as it can't be written.
        var unwritten: String?
    }
    typealias Context = StageContext<Checkpoint>

    /// The longest body in bytes that may wait in a checkpoint.
    private static let mostUnwritten = 16 << 20

    let requests: StageRequests
    @Indirect private(set) var definition: RequestDefinition
    /// The file that the body is written to.
    let to: Template?
    let capture: CaptureSet
    /// The rule by which all pages are fetched; nil for one request.
    @IndirectOptional var paginate: PaginateDefinition?

    func resume(from checkpoint: Checkpoint?, in context: Context) async throws(StageFailure) -> StageOutcome<
        Checkpoint
    > {
        if let paginate, let content = paginate.content {
            // Pages are read: a search by POST is no submit, and is sent again without harm.
            var run = PagedRun(self, paginate, from: checkpoint?.paging, in: context)
            return try await run.perform(content)
        }
        if definition.isIdempotent { return .finished(try await sent(in: context)) }
        var unwritten = checkpoint?.unwritten.flatMap { Base64Bytes.decode($0) }
        let guarded = GuardedSubmit(requests: requests, definition: definition)
        let outcome = try await guarded.perform(in: context) { receipt async throws(StageFailure) in
            context.conclude(with: receipt.answer)
            context.noteServed()
            let captures = Result { () throws(CaptureFailure) in try capture.values(in: receipt.answer) }
            // Before the ledger's entry: a crash in between settles the request and writes the file again.
            if case .success = captures { unwritten = try await tryToKeep(receipt.answer.body, in: context) }
            return captures
        }
        switch outcome {
        case .submitted:
            if let unwritten {
                try await keep(unwritten, in: context)
                try await context.stage(Checkpoint())
            }
            return .finished(try await pathCapture(in: context))
        case .unknown(let lost): return .unknown(nil, lost)
        case .waiting(let time):
            let reason = WaitReason(.settle, detail: "the answer was lost; what became of it is looked for again")
            return .waiting(Checkpoint(), until: .at(time), reason)
        }
    }

    /// Nobody can take back what the service may have taken: that is told.
    func cancel(from checkpoint: Checkpoint?, in context: Context) async throws(StageFailure) {
        guard await context.hasOpenSubmit else { return }
        throw .definite(context.openSubmitFailure(at: requests.service?.name))
    }

    func preflight(at start: JobStart) async -> StepFailure? {
        if case .file(let file, _) = definition.body, let failure = start.preflight(toReading: file) { return failure }
        return to.flatMap(start.preflight(toWritingFile:))
    }

    private func sent(in context: Context) async throws(StageFailure) -> JSONObject {
        var rendered = try await requests.render(definition, in: context)
        rendered.beginsAgain = true
        switch await requests.send(rendered, in: context) {
        case .failure(let failure): throw requests.failure(failure, of: rendered, in: context)
        case .success(let response):
            let answer = try await requests.judge(response, of: rendered, in: context)
            context.noteServed()
            let captures = try requests.captures(capture, from: answer, of: rendered, in: context)
            try await keep(answer.body, in: context)
            return captures.merging(try await pathCapture(in: context))
        }
    }

    /// The absolute path of the file that the body is written to, as the capture `path`; none without a file, and where
    /// the author has a capture of that name.
    func pathCapture(in context: Context) async throws(StageFailure) -> JSONObject {
        guard let to, !capture.names.contains("path") else { return [:] }
        return ["path": .string(try await context.outputFile(to))]
    }

    /// Writes the body of a response to what must not be sent twice; returns it when it can't be written, as on a full disk.
    /// It may have been paid for: then it waits in the checkpoint.
    private func tryToKeep(_ body: [UInt8], in context: Context) async throws(StageFailure) -> [UInt8]? {
        do throws(StageFailure) {
            try await keep(body, in: context)
            return nil
        } catch {
            guard case .failed = error, body.count <= Self.mostUnwritten else { throw error }
            try await context.commit(Checkpoint(unwritten: Base64Bytes.encode(body)))
            return body
        }
    }

    private func keep(_ body: [UInt8], in context: Context) async throws(StageFailure) {
        guard let to else { return }
        _ = try await ResultFile.write(body, to: try await context.outputFile(to), in: context)
    }
}
