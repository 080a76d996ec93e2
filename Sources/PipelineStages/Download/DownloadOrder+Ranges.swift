import CLibrary
import PipelineCore

/// The pieces of a file that are provably there.
extension DownloadOrder {
    /// The map of an earlier try, of which only what is provably still there counts, with what the part itself has noted;
    /// a new one otherwise.
    func provenRanges(
        of part: PartFile, _ total: Int64, _ checkpoint: DownloadCheckpoint, _ notes: [PartNote]
    ) throws(StageFailure) -> (RangeMap, [Int64: RunningDigests]) {
        var map = RangeMap(from: checkpoint.held, to: total)
        if let known = checkpoint.ranges, known.pieces.first?.start == checkpoint.held, known.pieces.last?.end == total
        {
            map = known
        }
        for note in notes { map.split(at: note.start) }
        var hashers: [Int64: RunningDigests] = [:]
        for (index, piece) in map.pieces.enumerated() {
            var claims = notes.filter { $0.start == piece.start && $0.end <= piece.end }
            if let digest = piece.digest {
                claims.insert(PartNote(start: piece.start, end: piece.position, proof: digest), at: 0)
            }
            let (end, digests) = try reading { () throws(FileFailure) in
                try part.proven(claims, from: piece.start, .proving(claims.algorithms))
            }
            map.pieces[index].done = end - piece.start
            map.pieces[index].digest = end > piece.start ? digests.proof : nil
            if end > piece.start { hashers[piece.start] = digests }
        }
        return (map, hashers)
    }

    /// Bytes that follow on the file's beginning and are there become part of it: the running digests take them in.
    func extended(
        _ front: RangeProgress.Front, to end: Int64, _ part: PartFile
    ) throws(StageFailure) -> RangeProgress.Front {
        guard end > front.position else { return front }
        var extended = front
        let isThere = try reading { () throws(FileFailure) in
            try part.read(front.position..<end) { extended.digests.update($0) }
        }
        guard isThere else { throw local(FileFailure(action: "read", path: part.path, code: EIO)) }
        extended.position = end
        return extended
    }
}
