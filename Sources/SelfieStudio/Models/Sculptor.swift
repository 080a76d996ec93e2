import Crypto

/// Makes a model's files from a video file: reads every frame, raises the relief, writes the mesh, its preview and a
/// page that turns it.
struct Sculptor: Sendable {
    /// The facts of a finished file.
    struct WrittenFile: Equatable, Sendable, Codable {
        /// Lower-case hex of the file's SHA-256.
        var sha256: String
        var bytes: Int
    }

    /// Called after each step with the share of the work done, above 0 and at most 1; it may wait, and throwing stops.
    typealias Progress = (Double) async throws -> Void

    /// The shares of the work at which reading, choosing the portrait, raising and writing the mesh end.
    private static let readShare = 0.5
    private static let chosenShare = 0.65
    private static let raisedShare = 0.7
    private static let meshShare = 0.9

    /// Writes to the paths that `path` gives, which must not be in use; files left by an interrupted computation are
    /// overwritten.
    /// - Throws: `VideoError`, `DiskError`, or what `progress` throws.
    func sculpt(
        video: String, quality: ModelQuality, path: (ModelFile) -> String, progress: Progress
    ) async throws -> [ModelFile: WrittenFile] {
        let summary = try await summarise(video: video, progress: progress)
        let frame = try await portrait(video: video, summary, progress: progress)
        let silhouette = try Silhouette(summary, quality: quality)
        let mesh = ReliefMesh(HeightField(silhouette, portrait: frame))
        let portrait = frame.spread(beyond: silhouette)
        try await progress(Self.raisedShare)
        var files: [ModelFile: WrittenFile] = [:]
        files[.mesh] = try await write(
            mesh, portrait, about: "\(summary.width)x\(summary.height), \(summary.frames) frames, \(quality)",
            to: path(.mesh), progress: progress)
        let preview = MeshPreview(mesh, portrait: portrait, height: quality == .full ? 640 : 240).draw()
        files[.preview] = try write(PNGFile.bytes(of: preview), to: path(.preview))
        files[.page] = try write(ModelPage(mesh: mesh, portrait: portrait).bytes, to: path(.page))
        try await progress(1)
        return files
    }

    private func summarise(video: String, progress: Progress) async throws -> FrameSummary {
        let reader = try VideoReader(path: video)
        var summary = FrameSummary(format: reader.format)
        while let frame = try reader.nextFrame() {
            summary.add(frame)
            try await progress(Self.readShare * Double(reader.offset) / Double(reader.size))
        }
        return summary
    }

    /// The frame that is nearest to the mean of all, in colours.
    private func portrait(video: String, _ summary: FrameSummary, progress: Progress) async throws -> Picture {
        let reader = try VideoReader(path: video)
        var nearest: (frame: VideoFrame, distance: Int)?
        while let frame = try reader.nextFrame() {
            let distance = summary.distance(of: frame.luma)
            if distance < nearest?.distance ?? .max { nearest = (frame, distance) }
            let share = Double(reader.offset) / Double(reader.size)
            try await progress(Self.readShare + (Self.chosenShare - Self.readShare) * share)
        }
        guard let nearest else { throw VideoError.noFrames }
        return nearest.frame.picture(reader.format)
    }

    private func write(
        _ mesh: ReliefMesh, _ portrait: Picture, about video: String, to target: String, progress: Progress
    ) async throws -> WrittenFile {
        let text = WavefrontText(mesh: mesh, portrait: portrait)
        let file = try DiskFile(creating: target)
        var hasher = SHA256()
        var bytes = 0
        func append(_ piece: [UInt8]) throws {
            try file.write(piece)
            hasher.update(data: piece)
            bytes += piece.count
        }
        try append(Array("# Relief of a selfie: \(video)\n# \(mesh.vertices.count) vertices\no selfie\n".utf8))
        for number in 0..<text.pieces {
            try append(text.piece(number))
            let written = Double(number + 1) / Double(text.pieces)
            try await progress(Self.raisedShare + (Self.meshShare - Self.raisedShare) * written)
        }
        try file.synchronize()
        return WrittenFile(sha256: hasher.finalize().hex, bytes: bytes)
    }

    private func write(_ bytes: [UInt8], to target: String) throws -> WrittenFile {
        let file = try DiskFile(creating: target)
        try file.write(bytes)
        try file.synchronize()
        return WrittenFile(sha256: SHA256.hash(data: bytes).hex, bytes: bytes.count)
    }
}
