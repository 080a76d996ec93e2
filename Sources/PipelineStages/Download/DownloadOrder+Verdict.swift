import CLibrary
import JSONPath
import PipelineCore
import PipelineHTTP

/// The facts that are known of the file beforehand, held against the one that came or was there.
extension DownloadOrder {
    /// Returns what is wrong with the file; nil when all that is known of it agrees.
    func complaint(about arrival: DownloadArrival, _ checkpoint: DownloadCheckpoint) throws(StageFailure) -> String? {
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

    /// Says that a service promises another number of bytes than the wanted one.
    func complaint(aboutSize announced: Int64) -> String {
        "the service announces \(announced) bytes, and \"verify\" says \(wanted.size ?? announced)"
    }

    /// Only one that was named too late to run with the bytes is read from the file.
    ///
    /// What the service says of its own accord is about what it sent; a header that the author chose may be about either.
    private func actual(_ digest: DeclaredDigest, of arrival: DownloadArrival) throws(StageFailure) -> String {
        if let coded = arrival.coded, !wanted.stated.contains(digest) {
            guard let sent = coded.hex(digest.algorithm) else { return digest.hex }
            let isAuthors = digest.source.lowercased() == wanted.header?.lowercased()
            if sent == digest.hex || !isAuthors { return sent }
        }
        if let known = arrival.digests.hex(digest.algorithm) { return known }
        let path = arrival.part.path
        return try reading { () throws(FileFailure) in try digest.actual(of: path) } ?? ""
    }

    /// Returns whether the header that the author counts on, if any, has given a digest.
    func hasHeader(in stated: [DeclaredDigest]) -> Bool {
        guard let header = wanted.header else { return true }
        return stated.contains { $0.source.lowercased() == header.lowercased() }
    }

    /// A header that the author counts on must be there.
    func checkHeader(in stated: [DeclaredDigest]) throws(StageFailure) {
        guard let header = wanted.header, !hasHeader(in: stated) else { return }
        throw definite(
            "the answer has no digest in the header \(header), by which the file was to be verified",
            hint: "the part is kept; change \"verify\" if the service gives none")
    }

    /// Returns what every download gives to later stages.
    func standardCaptures(_ path: String, _ verified: DownloadCheckpoint.Verified) -> JSONObject {
        [
            "path": .string(path), "bytes": .number(JSONNumber(Int(verified.bytes))),
            "sha256": verified.sha256.map { .string($0) } ?? .null,
        ]
    }

    /// Adds the SHA-256 where it is asked for and did not run with the bytes: what was begun before it was asked for.
    func withDigest(
        _ verified: DownloadCheckpoint.Verified, of path: String
    ) throws(StageFailure) -> DownloadCheckpoint.Verified {
        guard wanted.asksForDigest, verified.sha256 == nil else { return verified }
        var verified = verified
        verified.sha256 = try reading { () throws(FileFailure) in try FileDigest.sha256(of: path) }
        return verified
    }

    /// Returns whether the very bytes that were verified are there.
    func isFile(_ path: String, _ verified: DownloadCheckpoint.Verified) throws(StageFailure) -> Bool {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, Int64(status.st_size) == verified.bytes
        else { return false }
        let proof = verified.proof ?? verified.sha256 ?? ""
        let algorithm = RunningDigests.algorithm(ofProof: proof)
        return try reading { () throws(FileFailure) in try FileDigest.digests(of: path, [algorithm]).match(proof)
        }
    }

    /// Returns who may believe the notes on bytes of a version.
    func owner(of version: Validator?) -> String {
        PartNotes.owner([context.facts.job.text, context.facts.step.description, version?.text ?? ""])
    }

    /// The part of an earlier try, locked; nil when it is gone.
    func openExisting(_ path: String) throws(StageFailure) -> PartFile? {
        do throws(PartFile.OpenFailure) {
            return try context.openPart(path)
        } catch {
            switch error {
            case .busy: throw busy(path)
            case .file(let failure): throw local(failure)
            }
        }
    }

    /// The body for the author's captures and rules, if there are any and it is not large.
    func smallBody(_ part: PartFile, _ size: Int64) throws(StageFailure) -> [UInt8] {
        guard !stage.definition.capture.isEmpty || !stage.definition.fail.isEmpty, size <= Self.mostJudged else {
            return []
        }
        return start(of: part, size)
    }

    /// The first bytes of what was received.
    func start(of part: PartFile, _ size: Int64) -> [UInt8] {
        guard size > 0 else { return [] }
        return [UInt8](unsafeUninitializedCapacity: Int(size)) { buffer, count in
            count = max(0, pread(part.descriptor, buffer.baseAddress, Int(size), 0))
        }
    }

    /// The largest body that is looked at whole.
    static let mostJudged: Int64 = 1 << 20

    /// A file that is too large to be an answer is judged by its beginning: a rule that looks for a word in its text, as
    /// in a page that says what is wrong, would find no text and fail.
    func judged(_ arrival: DownloadArrival) -> ServiceResponse {
        let answer = arrival.answer
        guard answer.body.isEmpty else { return answer }
        return answer.with(body: start(of: arrival.part, min(arrival.bytes, Self.mostJudged)))
    }

    /// A file that has the name already ends the download at once, if it is known to be the one that is wanted. Any other is
    /// found to be different when the download has come, which then waits as a part. Nil where nothing is known of it.
    func found(at path: String) async throws(StageFailure) -> DownloadStep? {
        if let failure = OutputPath.preflight(to: path) { throw definite(failure.title, hint: failure.hint) }
        var status = stat()
        guard lstat(path, &status) == 0 else { return nil }
        if status.st_mode & S_IFMT == S_IFDIR {
            throw definite("\(path) is a folder", hint: "end \"to\" with '/' to write into it")
        }
        guard !replaces, let digest = wanted.digest, wanted.header == nil, stage.definition.capture.isEmpty else {
            return nil
        }
        return try await identical(path, by: [digest]).map(DownloadStep.identical) ?? .taken
    }

    /// The outcome for an existing file that is the one wanted; nil for any other.
    func identical(
        _ path: String, by digests: [DeclaredDigest], total: Int64? = nil
    ) async throws(StageFailure) -> StageOutcome<DownloadCheckpoint>? {
        var status = stat()
        guard !digests.isEmpty, stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
            [wanted.size, total].allSatisfy({ $0 == nil || $0 == Int64(status.st_size) })
        else { return nil }
        let actual = try reading { () throws(FileFailure) in
            try FileDigest.digests(of: path, digests.map(\.algorithm) + wanted.algorithms)
        }
        guard digests.allSatisfy({ actual.hex($0.algorithm) == $0.hex }) else { return nil }
        let verified = DownloadCheckpoint.Verified(bytes: Int64(status.st_size), sha256: actual.hex(.sha256))
        try await context.commit(file: WrittenFile(path: path, bytes: verified.bytes, sha256: verified.sha256))
        return .finished(standardCaptures(path, verified))
    }
}
