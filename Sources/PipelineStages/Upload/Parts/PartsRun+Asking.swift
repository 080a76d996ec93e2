import HTTPTypes
import JSONPath
import PipelineCore
import PipelineHTTP

/// Parts of which the service says where the next one begins: one at a time.
extension PartsRun {
    /// Sends the rest of the file from where the service is, and ends the upload.
    /// - Parameter isResumed: true when an attempt before this one may have sent bytes.
    mutating func fill(
        asking ask: AskDefinition, isResumed: Bool
    ) async throws(StageFailure) -> StageOutcome<UploadCheckpoint> {
        // Fresh captures may lead to another upload than the one that has the bytes.
        let origin = try await attempt.origin()
        let isOther = writer.checkpoint.origin != origin
        if isOther { doubts = PartDoubts([]) }
        var detours = UploadDetours(from: writer.checkpoint.progress.confirmed)
        var last: Ended?
        if isResumed, !isWhole || definition.complete == nil || isOther {
            last = try await adopt(ask, &detours)
        }
        writer.checkpoint.origin = origin
        while !isWhole {
            let start = state.ends?.last ?? 0
            let size = min(state.partSize, attempt.source.size - start)
            let part = FilePart(number: (state.ends?.count ?? 0) + 1, offset: start, size: size)
            let rendered = try await parts.part(part, state)
            let isAgain = doubts.contains(part.number)
            let response: HTTPExchangeResponse
            switch await send(part, rendered) {
            case .success(let answered): response = answered
            case .failure(let failure):
                if case .sourceChanged = failure.reason { throw await endAsChanged() }
                if failure.connectionMade { doubts.insert(part.number) }
                throw await attempt.unanswered(failure, rendered, &writer)
            }
            if attempt.source.hasChanged { throw await endAsChanged() }
            do throws(StageFailure) {
                // Before the commit that counts it.
                state.ends = (state.ends ?? []) + [start + size]
                try await take(response, of: part, rendered)
                detours.advance(to: start + size)
                last = (response, rendered)
            } catch {
                if state.receipts[part.number] == nil { state.ends?.removeLast() }
                // Not where it wants the next one, perhaps: what it has is asked for.
                guard Self.mayDisagree(response.status), case .failed = error else { throw error }
                let before = state.ends?.last ?? 0
                let asked = try await adopt(ask, &detours)
                last = asked
                guard (state.ends?.last ?? 0) == before, !isWhole else { continue }
                // A place that the service does not name itself may be the wrong one.
                guard ask.saysNothing(in: requests.answer(of: asked.response)),
                    let sign = try await parts.loss(after: response, to: part, isAgain: isAgain, rendered)
                else { throw error }
                throw try await giveUp(response, to: part, rendered, as: sign)
            }
        }
        try await keep()
        return try await complete(after: last)
    }

    /// True when the upload may be gone because its end was taken, whose response was lost.
    private var mayHaveEnded: Bool {
        guard parts.endsWithPart, !isWhole else { return parts.endsWithPart }
        let isLastNext = attempt.source.size - (state.ends?.last ?? 0) <= state.partSize
        return isLastNext && doubts.contains((state.ends?.count ?? 0) + 1)
    }

    /// True once the service has all bytes.
    private var isWhole: Bool {
        guard let ends = state.ends, let last = ends.last else { return false }
        return last == attempt.source.size
    }

    /// Returns whether a refusal of bytes may be one of their place.
    private static func mayDisagree(_ status: Int) -> Bool {
        (400..<500).contains(status) && ![401, 403, 408, 425, 429].contains(status)
    }

    private func send(
        _ part: FilePart, _ rendered: RenderedRequest
    ) async -> Result<HTTPExchangeResponse, ExchangeFailure> {
        let (context, total) = (context, attempt.source.size)
        let endsUpload = parts.endsWithPart && part.offset + part.size == total
        let result = await requests.send(rendered, in: context) { options in
            if endsUpload { options.onSent = { context.pass(.uploadSent) } }
            options.onProgress = { progress in
                context.report(
                    .transfer(sent: min(total, part.offset + progress.sent), received: 0, total: total))
            }
        }
        context.count(BytesMoved(sent: result.bytesSent))
        return result
    }

    /// Asks the service which byte comes next, and goes there.
    private mutating func adopt(
        _ ask: AskDefinition, _ detours: inout UploadDetours
    ) async throws(StageFailure) -> Ended {
        let rendered = try await requests.render(ask.request, in: context, role: StageRequests.look)
        let response = try await send(rendered)
        let name = requests.name(of: rendered.description.url)
        if response.status == 404 || response.status == 410 {
            guard mayHaveEnded else { throw try await gone(response, rendered) }
            guard attempt.definition.once != nil else { throw try await gone(response, rendered, as: .goneWhole) }
            throw unknownEnd("\(name) no longer has the upload")
        }
        let answer = try await requests.judge(response, of: rendered, in: context)
        let total = attempt.source.size
        let known = state.ends?.last ?? 0
        guard let position = ask.position(in: answer, of: total, after: known) else {
            // A page of somebody else's says nothing of the upload.
            if response.isPage {
                try await keep()
                throw .failed(attempt.unclear(response, rendered))
            }
            if ask.saysNothing(in: answer), mayHaveEnded {
                throw unknownEnd("\(name) does not say how much of the file it has")
            }
            if case .received = ask.meaning, ask.saysNothing(in: answer) {
                throw try await gone(response, rendered, as: .silent)
            }
            throw attempt.definite(
                "\(name) did not say how much of the file it has: \"\(ask.field)\" of 'ask' finds no number of bytes",
                hint: "it reads a number, \"N-\", \"N-M\" or \"bytes=0-M\"", response, rendered)
        }
        guard position <= total else {
            throw attempt.definite(
                "\(name) contradicts itself: it says it has \(position) bytes of a file that has \(total)", response,
                rendered)
        }
        try await move(to: position)
        if position > known {
            detours.advance(to: position)
        } else if case .fail = detours.add("") {
            throw attempt.definite(
                "\(name) contradicts itself: it keeps going back to bytes that it had", response, rendered)
        }
        return (response, rendered)
    }

    /// Takes for granted that the service has all up to a position, and nothing more. What it has of a part whose response
    /// was lost counts as a part without captures.
    private mutating func move(to position: Int64) async throws(StageFailure) {
        var ends = state.ends ?? []
        while let last = ends.last, last > position {
            state.receipts[ends.count] = nil
            ends.removeLast()
        }
        let start = ends.last ?? 0
        let gained = max(0, position - writer.checkpoint.progress.confirmed)
        if start < position {
            let found = FilePart(number: ends.count + 1, offset: start, size: position - start)
            ends.append(position)
            state.receipts[found.number] = try await parts.receipt(of: found, captures: [:])
        }
        state.ends = ends
        writer.checkpoint.progress.confirmed = position
        writer.checkpoint.progress.handedOver += gained
        record()
        try await writer.commit(progressed: gained > 0)
    }
}
