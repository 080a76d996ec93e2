import PipelineCore

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

extension DownloadRun {
    /// A file that has the name already ends the download at once, if it is known to be the one that is wanted. Any
    /// other is found to be different when the download has come, which then waits as a part.
    mutating func recognise() async throws(StageFailure) -> StageOutcome<DownloadCheckpoint>? {
        guard let path = checkpoint.target else { return nil }
        if let failure = OutputPath.preflight(to: path) { throw definite(failure.title, hint: failure.hint) }
        var status = stat()
        guard lstat(path, &status) == 0 else { return nil }
        if status.st_mode & S_IFMT == S_IFDIR {
            throw definite("\(path) is a folder", hint: "end \"to\" with '/' to write into it")
        }
        guard !replaces, let digest = wanted.digest, wanted.header == nil, stage.definition.capture.isEmpty else {
            return nil
        }
        let outcome = try await identical(path, by: [digest])
        isTaken = outcome == nil
        return outcome
    }

    /// The outcome for an existing file that is the one wanted; nil for any other.
    func identical(
        _ path: String, by digests: [DeclaredDigest], total: Int64? = nil
    ) async throws(StageFailure) -> StageOutcome<DownloadCheckpoint>? {
        var status = stat()
        guard !digests.isEmpty, stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
            [wanted.size, total].allSatisfy({ $0 == nil || $0 == Int64(status.st_size) })
        else { return nil }
        let actual = try reading(path) { () throws(FileFailure) in
            try FileDigest.digests(of: path, digests.map(\.algorithm) + wanted.algorithms)
        }
        guard digests.allSatisfy({ actual.hex($0.algorithm) == $0.hex }) else { return nil }
        let verified = DownloadCheckpoint.Verified(bytes: Int64(status.st_size), sha256: actual.hex(.sha256))
        try await context.commit(file: WrittenFile(path: path, bytes: verified.bytes, sha256: verified.sha256))
        return .finished(standardCaptures(path, verified))
    }

    func exists(_ path: String, _ what: String) -> StageFailure {
        definite(
            "\(what) is at \(path) already, and is not replaced",
            hint: "\"overwrite\": true or --overwrite replaces it; or choose another \"to\"")
    }

    /// Opens the part of an earlier try and reads what it holds; what is not provably ours is thrown away.
    mutating func takeUpPart() async throws(StageFailure) {
        guard let path = checkpoint.partPath else { return }
        guard session().asksForRest, let part = try openExisting(path) else { return startAgain() }
        // Another name of the file is a result: of a job that was killed while it took the part's name away.
        guard !part.hasOtherNames else { return startAgain() }
        self.part = part
        if let total = checkpoint.total {
            notes = PartNotes.read(from: part, behind: total, of: owner(of: checkpoint.validator))
        }
        let held = PartNote(start: 0, end: checkpoint.held, proof: checkpoint.heldDigest ?? "")
        let claims = [held] + notes.filter { $0.start == 0 }
        let fresh = RunningDigests.proving(
            wanted.algorithms + checkpoint.stated.map(\.algorithm) + claims.algorithms)
        let (end, found) = try reading(path) { () throws(FileFailure) in
            try part.proven(claims, from: 0, fresh)
        }
        guard end > 0 else { return startAgain() }
        digests = found
        if end > checkpoint.held { try await keepFound(upTo: end, part) }
    }

    /// Takes over what the part alone knew of its beginning.
    private mutating func keepFound(upTo end: Int64, _ part: PartFile) async throws(StageFailure) {
        let known = checkpoint.covered
        if let ranges = checkpoint.ranges, ranges.pieces.first?.start == checkpoint.held {
            checkpoint.ranges = RangeMap(pieces: ranges.behind(end))
        }
        checkpoint.held = end
        checkpoint.heldDigest = digests.proof
        checkpoint.uncounted += max(0, checkpoint.covered - known)
        try reading(part.path) { () throws(FileFailure) in try part.syncData() }
        try await commit(countsBytes: true)
    }

    /// Who may believe the notes on bytes of a version.
    func owner(of version: Validator?) -> String {
        PartNotes.owner([context.facts.job.text, context.facts.step.description, version?.text ?? ""])
    }

    /// The part of an earlier try, locked; nil when it is gone.
    func openExisting(_ path: String) throws(StageFailure) -> PartFile? {
        do throws(PartFile.OpenFailure) {
            return try PartFile.open(path, isFresh: false, creates: false, label: context.partLabel)
        } catch {
            switch error {
            case .busy: throw busy(path)
            case .file(let failure):
                if failure.code == ENOENT { return nil }
                throw local(failure)
            }
        }
    }
}
