import PipelineCore

extension DownloadRun {
    /// Opens the part of an earlier try and reads what it holds; what is not provably ours is thrown away.
    mutating func takeUpPart() async throws(StageFailure) {
        guard let path = order.partPath(at: checkpoint) else { return }
        let session = session()
        guard session.asksForRest else { return try await startAgain(because: session.obstacle) }
        guard let part = try order.openExisting(path) else { return try await startAgain(because: "its part is gone") }
        // Another name of the file is a result: of a job that was killed while it took the part's name away.
        guard !part.hasOtherNames else { return startAgain() }
        self.part = part
        if let total = checkpoint.total {
            notes = PartNotes.read(from: part, behind: total, of: order.owner(of: checkpoint.validator))
        }
        let held = PartNote(start: 0, end: checkpoint.held, proof: checkpoint.heldDigest ?? "")
        let claims = [held] + notes.filter { $0.start == 0 }
        let fresh = RunningDigests.proving(
            order.wanted.algorithms + checkpoint.stated.map(\.algorithm) + claims.algorithms)
        let (end, found) = try order.reading { () throws(FileFailure) in
            try part.proven(claims, from: 0, fresh)
        }
        guard end > 0 else {
            // Whoever it may be of: it is not to be removed.
            if PartLabel(ofFileAt: path) == nil { self.part = nil }
            return try await startAgain(because: "what is in its part did not come so")
        }
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
        context.count(BytesMoved(received: max(0, checkpoint.covered - known)))
        try order.reading { () throws(FileFailure) in try part.syncData() }
        try await commit(lasts: true)
    }
}
