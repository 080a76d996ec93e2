import HTTPTypes
import JSONPath
import PipelineCore
import PipelineHTTP

/// One attempt of an upload in parts: made, filled by as many requests at a time as the author allows, and ended.
///
/// What a service confirmed is kept with each commit and not sent again; S3 is asked for it after an interruption.
struct PartsRun {
    var attempt: UploadAttempt
    let definition: PartsDefinition
    var writer: CheckpointWriter
    /// The progress of the upload; it goes into the checkpoint with each commit.
    var state: PartsCheckpoint
    /// The time that a response takes to begin, as far as a connection that was made has shown it.
    var roundTrip = Duration.zero
    /// The parts that the service may have without having said so.
    var doubts: PartDoubts
    /// True once nobody can tell whether the service ended the upload, but `once`.
    private var isEndUnknown = false
    /// True when the upload was at the service before this attempt.
    private var isResumed: Bool

    /// A response that may be the one that ended the upload, and its request.
    typealias Ended = (response: HTTPExchangeResponse, rendered: RenderedRequest)

    init(_ attempt: UploadAttempt, _ definition: PartsDefinition, _ writer: CheckpointWriter) {
        self.attempt = attempt
        self.definition = definition
        self.writer = writer
        if case .parts(let known) = writer.checkpoint.phase {
            (state, isResumed, doubts) = (known, true, PartDoubts(known.unanswered))
        } else {
            (state, isResumed, doubts) = (PartsCheckpoint(partSize: attempt.partSize), false, PartDoubts([]))
        }
        state.unanswered = nil
    }

    var parts: PartsRequests { PartsRequests(attempt: attempt, definition: definition) }
    var requests: StageRequests { attempt.requests }
    var context: StageContext<UploadCheckpoint> { attempt.context }
    var table: PartTable { PartTable(total: attempt.source.size, size: state.partSize) }
    var ending: StorageEnding { StorageEnding(parts: parts, state: state) }

    mutating func perform() async throws(StageFailure) -> StageOutcome<UploadCheckpoint> {
        do throws(StageFailure) {
            return try await advance()
        } catch {
            if case .journal = error { throw error }
            try await keep(doubts.numbers)
            guard case .parts(let known) = writer.checkpoint.phase else { throw error }
            if isEndUnknown, attempt.definition.once != nil {
                return try await UploadLoss(attempt: attempt).reconcile(&writer)
            }
            guard case .failed(let failed) = error, failed.kind == .definite, definition.cancel != nil,
                // An end whose response was lost may have been taken: what is there now is no half of an upload.
                !known.isCompleting, !parts.awaitsFreshLinks(after: failed)
            else { throw error }
            try await attempt.remove(&writer)
            throw error
        }
    }

    private mutating func advance() async throws(StageFailure) -> StageOutcome<UploadCheckpoint> {
        if isResumed { try await keep(nil) }
        if !isResumed {
            try await create()
        } else if parts.isStorage, let outcome = try await takeUpListed() {
            return outcome
        }
        attempt.partSize = state.partSize
        if let ask = definition.ask {
            return try await fill(asking: ask, isResumed: isResumed)
        }
        if isResumed, !parts.isStorage { takeBackLast() }
        return try await complete(after: try await sendMissing())
    }

    // MARK: Commits

    /// Puts how far it is into the checkpoint.
    mutating func record() { writer.checkpoint.phase = .parts(state) }

    mutating func keep() async throws(StageFailure) {
        record()
        try await writer.keep()
    }

    /// Keeps which parts are in doubt. Of an attempt that ended in order that is known, and of one that is killed it is
    /// not.
    private mutating func keep(_ unanswered: [Int]?) async throws(StageFailure) {
        guard !parts.isStorage, case .parts(var known) = writer.checkpoint.phase else { return }
        known.unanswered = unanswered
        writer.checkpoint.phase = .parts(known)
        try await writer.keep()
    }

    // MARK: Making

    private mutating func create() async throws(StageFailure) {
        writer.checkpoint.progress.confirmed = 0
        try await writer.keep()
        guard definition.creates else {
            state.partSize = try await parts.partSize(after: [:])
            return try await keep()
        }
        let rendered = try await parts.creation()
        if parts.isStorage {
            state.partSize = PartTable.storagePartSize(for: attempt.source.size, wanted: attempt.partSize)
            state.checksum = try StorageChecksum.wanted(in: rendered.description.headers, context.facts.place)
        }
        let response = try await send(rendered)
        let answer = try await requests.judge(response, of: rendered, in: context)
        let captures = try requests.captures(definition.creation, from: answer, of: rendered, in: context)
        if parts.isStorage {
            guard let id = answer.xmlText("/InitiateMultipartUploadResult/UploadId"), !id.isEmpty else {
                throw .definite(
                    requests.failure("the answer to the creation names no UploadId", answer, of: rendered, in: context))
            }
            state.uploadID = id
            state.begun = response.headers[.date].flatMap { Timestamp.httpDate($0) }
        } else {
            do throws(StageFailure) {
                state.partSize = try await parts.partSize(after: captures)
            } catch {
                // It is there by now, and can't be filled.
                record()
                try await writer.commit(progressed: false, captures: captures)
                try await attempt.remove(&writer)
                throw error
            }
        }
        record()
        try await writer.commit(progressed: false, captures: captures)
        context.pass(.uploadCreated)
    }

    // MARK: Going on

    /// The response to the last part was that to the upload, and what it gave was not kept: it is asked for again.
    private mutating func takeBackLast() {
        let isWhole = state.receipts.count == table.count && definition.complete == nil
        guard isWhole, !attempt.definition.capture.entries.isEmpty else { return }
        state.receipts[table.count] = nil
        doubts.insert(table.count)
        writer.checkpoint.progress.confirmed -= table.length(of: table.count)
    }

    // MARK: Ending

    mutating func complete(after last: Ended?) async throws(StageFailure) -> StageOutcome<UploadCheckpoint> {
        guard let rendered = try await parts.completion(state) else {
            guard let last else { return .finished([:]) }
            return try await conclude(requests.answer(of: last.response), last.rendered)
        }
        if let complete = definition.complete, UploadEnding(attempt: attempt).goesThroughLedger(complete) {
            context.pass(.uploadSent)
            return try await submit(complete, rendered)
        }
        let isAgain = state.isCompleting
        state.isCompleting = true
        try await keep()
        context.pass(.uploadSent)
        let response = try await send(rendered)
        // A condition on the object also fails for the one that a lost response had been about.
        let isLost = response.status == 404 || (response.status == 412 && isAgain)
        if isLost, parts.isStorage,
            let outcome = try await ending.afterLoss(response, rendered, isEndBegun: isAgain, &writer)
        {
            return outcome
        }
        if parts.isStorage, response.isSuccess,
            let failure = try await ending.hiddenFailure(response, rendered, &writer)
        {
            throw failure
        }
        try await judgeEnd(response, rendered, isAgain: isAgain || parts.isStorage)
        return try await conclude(requests.answer(of: response), rendered)
    }

    /// Judges the response to the request that ends the upload. A refusal takes nothing from the parts: they are there,
    /// and only the end is tried again.
    /// - Parameter isAgain: whether an end before this one may have been taken, whose response was lost.
    private mutating func judgeEnd(
        _ response: HTTPExchangeResponse, _ rendered: RenderedRequest, isAgain: Bool
    ) async throws(StageFailure) {
        let failed: AttemptFailure
        var wasRefused = true
        switch try await requests.judge(response, toSubmit: rendered, in: context, accept: { _ in .success([:]) }) {
        case .accepted: return
        case .refused(let failure): failed = AttemptFailure(failure, kind: .definite)
        case .notSent(let failure), .notAccepted(let failure): failed = failure
        case .uncertain(let failure, _), .incomplete(let failure, _):
            failed = requests.tryFailure(failure, of: response, in: context)
            wasRefused = false
        }
        if wasRefused, !isAgain {
            state.isCompleting = false
            try await keep()
        }
        throw .failed(failed)
    }

    private mutating func submit(
        _ complete: RequestDefinition, _ rendered: RenderedRequest
    ) async throws(StageFailure) -> StageOutcome<UploadCheckpoint> {
        let wasOpen = await context.hasOpenSubmit
        let end = UploadEnding(attempt: attempt)
        let outcome: SubmitOutcome
        do throws(StageFailure) {
            outcome = try await end.submit(complete, rendered)
        } catch {
            // Of an end that may have been taken nothing is to be removed.
            let isOpen = await context.hasOpenSubmit
            state.isCompleting = wasOpen || isOpen
            record()
            throw error
        }
        return try await end.outcome(of: outcome, &writer)
    }

    mutating func conclude(
        _ answer: ServiceResponse, _ rendered: RenderedRequest
    ) async throws(StageFailure) -> StageOutcome<UploadCheckpoint> {
        // What the service was asked for need not be the response that was lost.
        try await UploadEnding(attempt: attempt, isReplayed: definition.ask != nil).conclude(answer, rendered, &writer)
    }

    // MARK: Exchanges

    /// Sends a request whose bytes are not of the file.
    mutating func send(_ rendered: RenderedRequest) async throws(StageFailure) -> HTTPExchangeResponse {
        let response = try await attempt.send(rendered, &writer)
        roundTrip = max(roundTrip, response.timings.roundTrip)
        return response
    }

    /// The service no longer has the upload, as a sign shows.
    mutating func gone(
        _ response: HTTPExchangeResponse, _ rendered: RenderedRequest, as sign: UploadLoss.Sign = .gone
    ) async throws(StageFailure) -> StageFailure {
        try await UploadLoss(attempt: attempt).end(
            response, rendered, as: sign, canBeMadeAnew: definition.creates, &writer)
    }

    /// Nobody can tell whether the last part, whose response was lost, ended the upload: only `once` can.
    mutating func unknownEnd(_ observation: String) -> StageFailure {
        // What may be the file is not to be removed.
        state.isCompleting = true
        isEndUnknown = true
        record()
        return attempt.unknown("the response to the last part was lost, and \(observation)")
    }
}
