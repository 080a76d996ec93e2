import JSONPath
import PipelineCore
import PipelineHTTP

/// Sends one request, or one for each page. POST and PATCH go through the submit ledger, unless they have pages; the
/// rest is simply sent again when it fails.
struct RequestStage: Stage {
    /// Of one request there is nothing between before and after.
    struct Checkpoint: Codable, Sendable {
        var paging: PagingCheckpoint?
    }
    typealias Context = StageContext<Checkpoint>

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
        let guarded = GuardedSubmit(requests: requests, definition: definition)
        let outcome = try await guarded.perform(in: context) { receipt async throws(StageFailure) in
            context.conclude(with: receipt.answer)
            context.noteServed()
            let captures = Result { () throws(CaptureFailure) in try capture.values(in: receipt.answer) }
            // Before the ledger's entry: a crash in between settles the request and writes the file again.
            if case .success = captures { try await keep(receipt.answer.body, in: context) }
            return captures
        }
        switch outcome {
        case .submitted: return .finished(try await pathCapture(in: context))
        case .unknown(let lost): return .unknown(nil, lost)
        case .waiting(let time):
            let reason = WaitReason(.settle, detail: "the answer was lost; what became of it is looked for again")
            return .waiting(Checkpoint(), until: .at(time), reason)
        }
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

    private func keep(_ body: [UInt8], in context: Context) async throws(StageFailure) {
        guard let to else { return }
        _ = try await ResultFile.write(body, to: try await context.outputFile(to), in: context)
    }
}

extension JSONObject {
    /// The members of both; of one name the other's.
    func merging(_ other: JSONObject) -> JSONObject {
        other.reduce(into: self) { merged, member in merged[member.name] = member.value }
    }
}
