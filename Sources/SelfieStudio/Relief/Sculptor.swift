import Crypto

/// Makes a mesh file from a video file: reads every frame, raises the relief, writes the OBJ and its digest.
struct Sculptor: Sendable {
    /// What a finished mesh file is.
    struct Result: Equatable, Sendable, Codable {
        /// Lower-case hex of the file's SHA-256.
        var sha256: String
        var bytes: Int
    }

    /// Called after each step with the share of the work done, above 0 and at most 1; it may wait, and throwing stops.
    typealias Progress = (Double) async throws -> Void

    /// The shares of the work at which reading ends and writing begins.
    private static let readShare = 0.7
    private static let raisedShare = 0.8

    /// Writes to `target`, which must not be in use; a file left by an interrupted computation is overwritten.
    /// - Throws: `VideoError`, `DiskError`, or what `progress` throws.
    func sculpt(
        video: String, quality: ModelQuality, to target: String, progress: Progress
    ) async throws -> Result {
        let summary = try await summarise(video: video, progress: progress)
        let mesh = ReliefMesh(try HeightField(summary, quality: quality))
        try await progress(Self.raisedShare)
        return try await write(mesh, summary, quality, to: target, progress: progress)
    }

    private func summarise(video: String, progress: Progress) async throws -> FrameSummary {
        let reader = try VideoReader(path: video)
        var summary = FrameSummary(format: reader.format)
        while let luma = try reader.nextFrame() {
            summary.add(luma)
            try await progress(Self.readShare * Double(reader.offset) / Double(reader.size))
        }
        return summary
    }

    private func write(
        _ mesh: ReliefMesh, _ summary: FrameSummary, _ quality: ModelQuality, to target: String, progress: Progress
    ) async throws -> Result {
        let file = try DiskFile(creating: target)
        var hasher = SHA256()
        var bytes = 0
        func put(_ text: [UInt8]) throws {
            try file.write(text)
            hasher.update(data: text)
            bytes += text.count
        }
        let rows = mesh.field.rows
        let title = "# Relief of a selfie: \(summary.width)x\(summary.height), \(summary.frames) frames, \(quality)\n"
        try put(Array("\(title)# \(mesh.vertexCount) vertices\no selfie\n".utf8))
        for step in 0..<(2 * rows) {
            try put(step < rows ? mesh.vertices(row: step) : mesh.faces(row: step - rows))
            if step % 8 == 7 || step == 2 * rows - 1 {
                let written = Double(step + 1) / Double(2 * rows)
                try await progress(Self.raisedShare + (1 - Self.raisedShare) * written)
            }
        }
        try file.synchronize()
        return Result(sha256: hasher.finalize().hex, bytes: bytes)
    }
}
