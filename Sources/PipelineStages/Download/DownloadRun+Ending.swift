import JSONPath
import PipelineCore
import PipelineHTTP

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

extension DownloadRun {
    // MARK: The whole file

    /// Checks a whole file against everything that is known of it, then gives it its name.
    mutating func verify(_ arrival: Arrival) async throws(StageFailure) -> StageOutcome<DownloadCheckpoint> {
        // Notes, and what a service sent beyond the end.
        try reading(arrival.part.path) { () throws(FileFailure) in
            if arrival.part.size != arrival.bytes { try arrival.part.truncate(to: arrival.bytes) }
        }
        try await judge(arrival)
        if let complaint = try complaint(about: arrival) { throw try await reject(arrival, complaint) }
        try checkHeader()
        let verified = try withDigest(
            DownloadCheckpoint.Verified(
                bytes: arrival.bytes, sha256: arrival.digests.hex(.sha256), proof: arrival.digests.proof),
            of: arrival.part.path)
        let own = try requests.captures(
            stage.definition.capture, from: arrival.answer, of: arrival.rendered, in: context)
        var captures = standardCaptures(arrival.path, verified)
        for member in own { captures[member.name] = member.value }
        try reading(arrival.part.path) { () throws(FileFailure) in try arrival.part.sync() }
        checkpoint.verified = verified
        if stage.unpack != nil {
            checkpoint.name = DownloadName.make(arrival.answer)
        }
        try await commit(countsBytes: true, captures: captures)
        context.pass(.downloadVerified)
        if let unpack = stage.unpack {
            for member in try await self.unpack(unpack, arrival.part, verified) { captures[member.name] = member.value }
            return .finished(captures)
        }
        try await name(arrival.part, arrival.path, verified)
        return .finished(captures)
    }

    /// Asks the author's rules about the answer that brought the end of the file; what they refuse is no file, and is
    /// thrown away. That there is nothing more is for the download to know.
    private mutating func judge(_ arrival: Arrival) async throws(StageFailure) {
        guard !stage.definition.fail.isEmpty, arrival.answer.status != 416,
            case .ruledOut(let failure, let allowsRetry) = try await requests.verdict(
                on: judged(arrival), of: arrival.rendered, in: context)
        else { return }
        startAgain()
        // The bytes that moved began the count of the engine again each time.
        let count = (checkpoint.refusals ?? 0) + 1
        let goesOn = allowsRetry && count < context.facts.retry.attempts
        checkpoint.refusals = goesOn ? count : nil
        try await commit(countsBytes: false)
        throw .failed(
            AttemptFailure(
                failure, kind: goesOn ? .answered : .definite, retryAfter: goesOn ? arrival.retryAfter : nil))
    }

    /// A file that is too large to be an answer is judged by its beginning: a rule that looks for a word in its text, as
    /// in a page that says what is wrong, would find no text and fail.
    private func judged(_ arrival: Arrival) -> ServiceResponse {
        let answer = arrival.answer
        guard answer.body.isEmpty else { return answer }
        return ServiceResponse(
            status: answer.status, headers: answer.headers, url: answer.url,
            body: start(of: arrival.part, min(arrival.bytes, Self.mostJudged)))
    }

    /// What every download gives to later stages.
    func standardCaptures(_ path: String, _ verified: DownloadCheckpoint.Verified) -> JSONObject {
        [
            "path": .string(path), "bytes": .number(JSONNumber(Int(verified.bytes))),
            "sha256": verified.sha256.map { .string($0) } ?? .null,
        ]
    }

    /// Adds the SHA-256 where it is asked for and did not run with the bytes: what was begun before it was asked for.
    private func withDigest(
        _ verified: DownloadCheckpoint.Verified, of path: String
    ) throws(StageFailure) -> DownloadCheckpoint.Verified {
        guard wanted.asksForDigest, verified.sha256 == nil else { return verified }
        var verified = verified
        verified.sha256 = try reading(path) { () throws(FileFailure) in try FileDigest.sha256(of: path) }
        return verified
    }

    /// What is wrong with the file; nil when all that is known of it agrees.
    private func complaint(about arrival: Arrival) throws(StageFailure) -> String? {
        if let size = wanted.size, size != arrival.bytes {
            // One that never says how long it is may have been cut off at the first byte too many.
            let isCut = checkpoint.total == nil && arrival.bytes > size
            return "it has \(isCut ? "more than \(size)" : "\(arrival.bytes)") bytes, and \"verify\" says \(size)"
        }
        for digest in wanted.stated + checkpoint.stated {
            let actual = try actual(digest, of: arrival)
            guard actual != digest.hex else { continue }
            return "its \(digest.algorithm.title) is \(actual), and \(digest.source) says \(digest.hex)"
        }
        return nil
    }

    /// Only one that was named too late to run with the bytes is read from the file.
    ///
    /// What the service says of its own accord is about what it sent; a header that the author chose may be about either.
    private func actual(_ digest: DeclaredDigest, of arrival: Arrival) throws(StageFailure) -> String {
        if let coded = arrival.coded, !wanted.stated.contains(digest) {
            guard let sent = coded.hex(digest.algorithm) else { return digest.hex }
            let isAuthors = digest.source.lowercased() == wanted.header?.lowercased()
            if sent == digest.hex || !isAuthors { return sent }
        }
        if let known = arrival.digests.hex(digest.algorithm) { return known }
        let path = arrival.part.path
        return try reading(path) { () throws(FileFailure) in try digest.actual(of: path) } ?? ""
    }

    /// Whether the header that the author counts on, if any, has given a digest.
    func hasHeader(in stated: [DeclaredDigest]) -> Bool {
        guard let header = wanted.header else { return true }
        return stated.contains { $0.source.lowercased() == header.lowercased() }
    }

    /// A header that the author counts on must be there.
    private func checkHeader() throws(StageFailure) {
        guard let header = wanted.header, !hasHeader(in: checkpoint.stated) else { return }
        throw definite(
            "the answer has no digest in the header \(header), by which the file was to be verified",
            hint: "the part is kept; change \"verify\" if the service gives none")
    }

    /// Throws a damaged file away. It may have been damaged on the way: it is fetched once more.
    private mutating func reject(_ arrival: Arrival, _ complaint: String) async throws(StageFailure) -> StageFailure {
        startAgain()
        checkpoint.mismatches += 1
        let isLast = checkpoint.mismatches > 1
        if isLast { checkpoint.mismatches = 0 }
        try await commit(countsBytes: false)
        let title = "the downloaded file is not the one that was wanted: \(complaint)"
        let failure = requests.failure(
            title, arrival.answer, of: arrival.rendered,
            hint: isLast
                ? "it came twice like that, and neither was kept: the file at the service, or what is known of it, is wrong"
                : "the damaged file was thrown away; the next try fetches it anew",
            in: context)
        return .failed(AttemptFailure(failure, kind: isLast ? .definite : .answered))
    }

    // MARK: The name

    /// Gives a verified file its name, and keeps that it has it.
    private func name(
        _ part: PartFile, _ path: String, _ verified: DownloadCheckpoint.Verified
    ) async throws(StageFailure) {
        if let failure = OutputPath.preflight(to: path) { throw definite(failure.title, hint: failure.hint) }
        let renaming = try reading(path) { () throws(FileFailure) in try part.rename(to: path, replaces: replaces) }
        if renaming == .nameTaken {
            guard try reading(path, { () throws(FileFailure) in try FileComparison.isEqual(part, to: path) }) else {
                throw definite(
                    "a different file is at \(path) already, and is not replaced",
                    hint:
                        "it is whole and waits as \(part.path): 'pipeline resume --overwrite' gives it "
                        + "the name")
            }
            part.remove()
        }
        context.pass(.downloadRenamed)
        try await context.commit(file: WrittenFile(path: path, bytes: verified.bytes, sha256: verified.sha256))
    }

    /// Goes on after a crash behind the verdict: what is left is the name, or not even that. Nil when the file is
    /// nowhere; then it is fetched again.
    mutating func resumeNaming(
        _ verified: DownloadCheckpoint.Verified
    ) async throws(StageFailure) -> StageOutcome<DownloadCheckpoint>? {
        guard let path = checkpoint.target, let partPath = checkpoint.partPath else { return nil }
        if stage.unpack != nil, let captures = try await resumeUnpacked(verified) { return .finished(captures) }
        if let part = try openExisting(partPath), part.size == verified.bytes, try isFile(partPath, verified) {
            let verified = try withDigest(verified, of: partPath)
            if let unpack = stage.unpack { return .finished(try await self.unpack(unpack, part, verified)) }
            try await name(part, path, verified)
            return .finished(standardCaptures(path, verified))
        }
        if stage.unpack == nil, try isFile(path, verified) {
            let verified = try withDigest(verified, of: path)
            try await context.commit(file: WrittenFile(path: path, bytes: verified.bytes, sha256: verified.sha256))
            return .finished(standardCaptures(path, verified))
        }
        checkpoint.startAgain()
        checkpoint.target = path
        return nil
    }

    /// Whether the very bytes that were verified are there.
    private func isFile(_ path: String, _ verified: DownloadCheckpoint.Verified) throws(StageFailure) -> Bool {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, Int64(status.st_size) == verified.bytes
        else { return false }
        let proof = verified.proof ?? verified.sha256 ?? ""
        let algorithm = RunningDigests.algorithm(ofProof: proof)
        return try reading(path) { () throws(FileFailure) in try FileDigest.digests(of: path, [algorithm]).match(proof)
        }
    }

    // MARK: Failures

    func definite(_ title: String, hint: String? = nil) -> StageFailure {
        .definite(
            StepFailure(
                context.redact(title), hint: hint, service: requests.service?.name, place: context.facts.place))
    }

    func local(_ failure: FileFailure) -> StageFailure {
        .failed(failure.tryFailure(place: context.facts.place))
    }

    func reading<Value>(
        _ path: String, _ work: () throws(FileFailure) -> Value
    ) throws(StageFailure) -> Value {
        do throws(FileFailure) {
            return try work()
        } catch {
            throw local(error)
        }
    }

    func busy(_ path: String) -> StageFailure {
        .failed(
            AttemptFailure(
                StepFailure(
                    "another download is writing to \(path)",
                    hint: "let it end, or choose another \"to\" for one of them",
                    place: context.facts.place), kind: .answered))
    }

    func noRoom(_ lack: PartFile.LackOfRoom, _ path: String) -> StageFailure {
        .failed(
            AttemptFailure(
                StepFailure(
                    "there is not enough room for \(path): it needs \(SizeText.describe(lack.needed)), and "
                        + "\(SizeText.describe(lack.free)) are free",
                    hint: "make room on that disk, or choose another with --output", place: context.facts.place),
                kind: .silent, pause: FileFailure.pauseForSpace))
    }

    /// An exchange that broke off; what arrived is kept.
    func end(_ failure: ExchangeFailure, _ rendered: RenderedRequest, at path: String?) -> StageFailure {
        if case .localWrite(let code, let written) = failure.reason {
            let named = written.isEmpty ? (path.map { $0 + ".part" } ?? "the file") : written
            return local(FileFailure(action: "write", path: named, code: code))
        }
        return requests.failure(failure, of: rendered, in: context)
    }

    /// An answer that is no file.
    func refusal(_ response: HTTPExchangeResponse, _ rendered: RenderedRequest) async -> StageFailure {
        do throws(StageFailure) {
            let answer = try await requests.judge(response, of: rendered, in: context)
            let hint =
                response.status == 202
                ? "it is not ready yet: a 'compute' stage with a poll waits for it"
                : "\"expect\" says which statuses bring a file"
            return .definite(
                requests.failure(
                    "\(requests.name(of: rendered.description.url)) answered \(response.status), which brings no file",
                    answer, of: rendered, hint: hint, in: context))
        } catch {
            return error
        }
    }
}
