import HTTPTypes
import JSONPath
import PipelineCore
import PipelineHTTP

extension UploadRun {
    /// An upload in parts: made, filled by as many requests at a time as the author allows, and ended.
    ///
    /// What a service confirmed is kept with each commit and not sent again; S3 is asked for it after an interruption.
    mutating func performParts(_ definition: PartsDefinition) async throws(StageFailure)
        -> StageOutcome<UploadCheckpoint>
    {
        let parts = PartsRequests(upload: stage.requests, definition: definition, source: source, context: context)
        do throws(StageFailure) {
            return try await advance(parts)
        } catch {
            guard case .failed(let failed) = error, failed.kind == .definite, definition.cancel != nil else {
                throw error
            }
            // An end whose answer was lost may have been taken: what is there now is no half of an upload.
            if checkpoint.parts?.isCompleting == true { throw error }
            await remove(parts)
            checkpoint.forgetUpload()
            try await keep()
            throw error
        }
    }

    private mutating func advance(_ parts: PartsRequests) async throws(StageFailure) -> StageOutcome<UploadCheckpoint> {
        if checkpoint.parts?.isCreated == true {
            if let outcome = try await takeUp(parts) { return outcome }
        } else {
            try await create(parts)
        }
        let last = try await sendMissing(parts)
        return try await complete(parts, last)
    }

    /// Removes what is at the service; whatever it answers, more can't be done.
    func remove(_ parts: PartsRequests) async {
        guard let state = checkpoint.parts, state.isCreated, !Task.isCancelled,
            let rendered = try? await parts.cancellation(state.uploadID)
        else { return }
        _ = await requests.send(rendered, in: context) { $0.totalTimeout = .seconds(10) }
    }

    // MARK: Making

    private mutating func create(_ parts: PartsRequests) async throws(StageFailure) {
        let size = parts.isStorage ? PartTable.storagePartSize(for: source.size, wanted: partSize) : partSize
        var state = PartsCheckpoint(partSize: size)
        checkpoint.parts = state
        checkpoint.confirmed = 0
        try await keep()
        let rendered = try await parts.creation()
        if parts.isStorage {
            state.checksum = try StorageChecksum.wanted(in: rendered.description.headers, context.facts.place)
        }
        let response = try await answer(to: rendered)
        let answer = try await requests.judge(response, of: rendered, in: context)
        let captures = try requests.captures(parts.definition.creation, from: answer, of: rendered, in: context)
        if parts.isStorage {
            guard let id = answer.xmlText("/InitiateMultipartUploadResult/UploadId"), !id.isEmpty else {
                throw .definite(
                    requests.failure("the answer to the creation names no UploadId", answer, of: rendered, in: context))
            }
            state.uploadID = id
            state.begun = response.headers[.date].flatMap { Timestamp.httpDate($0) }
        }
        state.isCreated = true
        checkpoint.parts = state
        try await context.commit(checkpoint, captures: captures)
        context.pass(.uploadCreated)
    }

    // MARK: Going on

    /// Learns what the service has. An outcome when that is all, and its answer to the end was lost.
    private mutating func takeUp(_ parts: PartsRequests) async throws(StageFailure) -> StageOutcome<UploadCheckpoint>? {
        guard let state = checkpoint.parts else { return nil }
        let table = PartTable(total: source.size, size: state.partSize)
        guard parts.isStorage else {
            // The answer to the last part was that to the upload, and what it gave was not kept: it is asked for again.
            let isWhole = state.receipts.count == table.count && parts.definition.complete == nil
            if isWhole, !stage.requests.definition.capture.entries.isEmpty {
                checkpoint.parts?.receipts[table.count] = nil
                checkpoint.confirmed -= table.length(of: table.count)
            }
            return nil
        }
        var receipts: [Int: String] = [:]
        var checksums = state.checksums ?? [:]
        var marker = 0
        while true {
            let rendered = try await parts.list(state.uploadID ?? "", after: marker)
            let response = try await answer(to: rendered)
            if response.status == 404 { return try await afterLoss(parts, response, rendered) }
            // Who may send parts need not be allowed to list them. What was confirmed of them is known.
            if [403, 405, 501].contains(response.status) { return nil }
            let answer = try await requests.judge(response, of: rendered, in: context)
            let numbers = Self.listed("Part/PartNumber", in: answer)
            let tags = Self.listed("Part/ETag", in: answer)
            let sizes = Self.listed("Part/Size", in: answer)
            // A page of somebody else's is no empty list: all parts would be sent once more.
            let marks = ["IsTruncated", "UploadId", "PartNumberMarker", "Part/PartNumber"]
            let isList = marks.contains { !Self.listed($0, in: answer).isEmpty }
            guard isList else { throw try await end(.unclear, response, rendered) }
            guard numbers.count == tags.count, numbers.count == sizes.count else {
                throw .definite(requests.failure("the list of parts makes no sense", answer, of: rendered, in: context))
            }
            let sums = state.checksum.map { Self.listed("Part/\($0.element)", in: answer) } ?? []
            for (position, text) in numbers.enumerated() {
                guard let number = Int(text), (1...table.count).contains(number) else { continue }
                if sums.count == numbers.count { checksums[number] = sums[position] }
                // Without its checksum a part can't be named at the end: it is sent again.
                guard state.checksum == nil || checksums[number] != nil else { continue }
                if Int64(sizes[position]) == table.length(of: number) { receipts[number] = tags[position] }
            }
            let next = Self.listed("NextPartNumberMarker", in: answer).first.flatMap { Int($0) }
            // One that stands still, or goes back, would be asked for again for ever.
            guard Self.listed("IsTruncated", in: answer).first == "true", let next, next > marker else { break }
            marker = next
        }
        checkpoint.parts?.receipts = receipts
        if state.checksum != nil { checkpoint.parts?.checksums = checksums }
        checkpoint.confirmed = receipts.keys.reduce(0) { $0 + table.length(of: $1) }
        try await keep()
        return nil
    }

    /// The upload is no longer there: because it was complete, when the object is, else it is made anew.
    private mutating func afterLoss(
        _ parts: PartsRequests, _ response: HTTPExchangeResponse, _ rendered: RenderedRequest
    ) async throws(StageFailure) -> StageOutcome<UploadCheckpoint>? {
        if let failure = try await doubt(response, rendered) { throw failure }
        guard let state = checkpoint.parts, state.isCompleting else {
            throw try await end(.gone, response, rendered)
        }
        let look = try await parts.look()
        var object = try await answer(to: look)
        guard state.made(object, of: source.size, isContested: response.status == 412) else {
            if response.status == 412 { return nil }
            throw try await end(.gone, response, rendered)
        }
        let document =
            "<CompleteMultipartUploadResult><Location>\(PartsRequests.escaped(object.url))</Location>"
            + "<ETag>\(PartsRequests.escaped(object.headers[.eTag] ?? ""))</ETag></CompleteMultipartUploadResult>"
        object.body = Array(document.utf8)
        return try await conclude(requests.answer(of: object), look)
    }

    // MARK: Ending

    private mutating func complete(
        _ parts: PartsRequests, _ last: (HTTPExchangeResponse, RenderedRequest)?
    ) async throws(StageFailure) -> StageOutcome<UploadCheckpoint> {
        guard let state = checkpoint.parts else { throw .definite(StepFailure("the upload has no parts")) }
        guard let rendered = try await parts.completion(state) else {
            guard let last else { return .finished([:]) }
            return try await conclude(requests.answer(of: last.0), last.1)
        }
        if let complete = parts.definition.complete, stage.requests.definition.once != nil {
            context.pass(.uploadSent)
            return try await submit(complete, rendered)
        }
        let isAgain = state.isCompleting
        checkpoint.parts?.isCompleting = true
        try await keep()
        context.pass(.uploadSent)
        let response = try await answer(to: rendered)
        // A condition on the object also fails for the one that a lost answer had been about.
        let isLost = response.status == 404 || (response.status == 412 && isAgain)
        if isLost, parts.isStorage,
            let outcome = try await afterLoss(parts, response, rendered)
        {
            return outcome
        }
        if parts.isStorage, response.isSuccess, let failure = try await hiddenFailure(response, rendered) {
            throw failure
        }
        return try await conclude(try await judgeEnd(response, rendered, isAgain: isAgain || parts.isStorage), rendered)
    }

    /// Judges the answer to the request that ends the upload. A refusal takes nothing from the parts: they are there, and
    /// only the end is tried again.
    /// - Parameter isAgain: whether an end before this one may have been taken, whose answer was lost.
    private mutating func judgeEnd(
        _ response: HTTPExchangeResponse, _ rendered: RenderedRequest, isAgain: Bool
    ) async throws(StageFailure) -> ServiceResponse {
        do throws(StageFailure) {
            return try await requests.judge(response, of: rendered, in: context)
        } catch {
            var isRefusal = [429, 503].contains(response.status)
            if case .failed(let failed) = error, failed.kind == .definite { isRefusal = true }
            if isRefusal, !isAgain {
                checkpoint.parts?.isCompleting = false
                try await keep()
            }
            throw error
        }
    }

    /// The completion begins its answer with 200 before it knows how it ends: an error then stands in the body.
    private mutating func hiddenFailure(
        _ response: HTTPExchangeResponse, _ rendered: RenderedRequest
    ) async throws(StageFailure) -> StageFailure? {
        let answer = requests.answer(of: response)
        let code = answer.xmlText("/Error/Code")
        let isComplete = answer.xmlText("/CompleteMultipartUploadResult/ETag") != nil
        guard code != nil || !isComplete else { return nil }
        if code == "NoSuchUpload" { return try await end(.gone, response, rendered) }
        let name = requests.name(of: rendered.description.url)
        let words = answer.xmlText("/Error/Message") ?? code ?? "no result"
        let step = requests.failure(
            "\(name) answered 200 and could not put the parts together: \(words)", answer, of: rendered, in: context)
        let passing: Set<String> = [
            "InternalError", "ServiceUnavailable", "SlowDown", "RequestTimeout", "OperationAborted",
        ]
        let isPassing = code.map { passing.contains($0) } ?? true
        return .failed(AttemptFailure(step, kind: isPassing ? .answered : .definite))
    }

    // MARK: Exchanges

    /// One exchange whose bytes are not of the file.
    mutating func answer(to rendered: RenderedRequest) async throws(StageFailure) -> HTTPExchangeResponse {
        switch await requests.send(rendered, in: context) {
        case .success(let response):
            roundTrip = max(roundTrip, response.timings.roundTrip)
            return response
        case .failure(let failure): throw await end(failure, rendered)
        }
    }

    /// What a list of parts says; some services call it a response.
    private static func listed(_ path: String, in answer: ServiceResponse) -> [String] {
        let usual = answer.xmlTexts("/ListPartsResult/\(path)")
        return usual.isEmpty ? answer.xmlTexts("/ListPartsResponse/\(path)") : usual
    }
}
