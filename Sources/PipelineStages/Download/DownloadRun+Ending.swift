import JSONPath
import PipelineCore
import PipelineHTTP

extension DownloadRun {
    // MARK: The whole file

    /// Checks a whole file against everything that is known of it, then gives it its name.
    mutating func verify(_ arrival: DownloadArrival) async throws(StageFailure) -> StageOutcome<DownloadCheckpoint> {
        // Notes, and what a service sent beyond the end.
        try order.reading { () throws(FileFailure) in
            if arrival.part.size != arrival.bytes { try arrival.part.truncate(to: arrival.bytes) }
        }
        try await judge(arrival)
        if let complaint = try order.complaint(about: arrival, checkpoint) {
            throw try await reject(complaint, arrival.answer, of: arrival.rendered)
        }
        try order.checkHeader(in: checkpoint.stated)
        try await arrival.warn(by: order, checkpoint.stated)
        let verified = try order.withDigest(
            DownloadCheckpoint.Verified(
                bytes: arrival.bytes, sha256: arrival.digests.hex(.sha256), proof: arrival.digests.proof),
            of: arrival.part.path)
        let own = try order.requests.captures(
            order.stage.definition.capture, from: arrival.answer, of: arrival.rendered, in: context)
        var captures = order.standardCaptures(arrival.path, verified)
        for member in own { captures[member.name] = member.value }
        try order.reading { () throws(FileFailure) in try arrival.part.sync() }
        checkpoint.verified = verified
        if order.stage.unpack != nil {
            checkpoint.name = DownloadName.make(arrival.answer)
        }
        try await commit(lasts: true, captures: captures)
        context.pass(.downloadVerified)
        if let unpack = order.stage.unpack {
            for member in try await self.unpack(unpack, arrival.part, verified) { captures[member.name] = member.value }
            return .finished(captures)
        }
        try await name(arrival.part, arrival.path, verified)
        return .finished(captures)
    }

    /// Asks the author's rules about the answer that brought the end of the file; what they refuse is no file, and is
    /// thrown away. That there is nothing more is for the download to know.
    private mutating func judge(_ arrival: DownloadArrival) async throws(StageFailure) {
        guard !order.stage.definition.fail.isEmpty, arrival.answer.status != 416,
            case .ruledOut(let failure, let allowsRetry) = try await order.requests.verdict(
                on: order.judged(arrival), of: arrival.rendered, in: context)
        else { return }
        startAgain()
        // The bytes that moved began the count of the engine again each time.
        let count = (checkpoint.refusals ?? 0) + 1
        let goesOn = allowsRetry && count < context.facts.retry.attempts
        checkpoint.refusals = goesOn ? count : nil
        try await commit(lasts: false)
        throw .failed(
            AttemptFailure(
                failure, kind: goesOn ? .answered : .definite, retryAfter: goesOn ? arrival.retryAfter : nil))
    }

    /// Keeps nothing of a file that is another one. It may have been damaged on the way, or not be ready: it is asked for
    /// once more.
    mutating func reject(
        _ complaint: String, _ answer: ServiceResponse, of rendered: RenderedRequest
    ) async throws(StageFailure) -> StageFailure {
        startAgain()
        checkpoint.mismatches += 1
        let isLast = checkpoint.mismatches > 1
        if isLast { checkpoint.mismatches = 0 }
        try await commit(lasts: false)
        let failure = order.requests.failure(
            "the downloaded file is not the one that was wanted: \(complaint)", answer, of: rendered,
            hint: isLast
                ? "it was so twice, and nothing was kept: the file at the service, or what is known of it, is wrong"
                : "nothing of it was kept; the next try fetches it again",
            in: context)
        return .failed(AttemptFailure(failure, kind: isLast ? .definite : .answered))
    }

    // MARK: The name

    /// Gives a verified file its name, and keeps that it has it.
    private func name(
        _ part: PartFile, _ path: String, _ verified: DownloadCheckpoint.Verified
    ) async throws(StageFailure) {
        let written = WrittenFile(path: path, bytes: verified.bytes, sha256: verified.sha256)
        try await ResultFile.name(
            part, as: written, keepsPart: true, replaces: order.replaces, service: order.requests.service?.name,
            passing: .downloadRenamed, in: context)
    }

    /// Goes on after a crash behind the verdict: what is left is the name, or not even that. Nil when the file is
    /// nowhere; then it is fetched again.
    mutating func resumeNaming(
        _ verified: DownloadCheckpoint.Verified
    ) async throws(StageFailure) -> StageOutcome<DownloadCheckpoint>? {
        guard let path = checkpoint.target, let partPath = order.partPath(at: checkpoint) else { return nil }
        if order.stage.unpack != nil, let captures = try await resumeUnpacked(verified) { return .finished(captures) }
        if let part = try order.openExisting(partPath), part.size == verified.bytes,
            try order.isFile(partPath, verified)
        {
            let verified = try order.withDigest(verified, of: partPath)
            if let unpack = order.stage.unpack { return .finished(try await self.unpack(unpack, part, verified)) }
            try await name(part, path, verified)
            return .finished(order.standardCaptures(path, verified))
        }
        if order.stage.unpack == nil, try order.isFile(path, verified) {
            let verified = try order.withDigest(verified, of: path)
            try await context.commit(file: WrittenFile(path: path, bytes: verified.bytes, sha256: verified.sha256))
            return .finished(order.standardCaptures(path, verified))
        }
        checkpoint.startAgain()
        checkpoint.target = path
        return nil
    }
}
