import PipelineCore

extension UploadCheckpoint: Codable {
    private enum Key: CodingKey {
        case source, origin, terms, progress, phase
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        guard container.contains(.phase) else {
            self = try FlatUploadCheckpoint(from: decoder).checkpoint
            return
        }
        source = try container.decodeIfPresent(SourceFingerprint.self, forKey: .source)
        origin = try container.decodeIfPresent(String.self, forKey: .origin)
        terms = try container.decode(UploadTerms.self, forKey: .terms)
        progress = try container.decode(UploadProgress.self, forKey: .progress)
        phase = try container.decode(UploadPhase.self, forKey: .phase)
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encodeIfPresent(source, forKey: .source)
        try container.encodeIfPresent(origin, forKey: .origin)
        try container.encode(terms, forKey: .terms)
        try container.encode(progress, forKey: .progress)
        try container.encode(phase, forKey: .phase)
    }
}

/// The form that version 0.1.0 gave to the checkpoint: all fields side by side.
private struct FlatUploadCheckpoint: Decodable {
    /// The values that stood besides the parts themselves.
    struct Parts: Decodable {
        var isCreated: Bool
    }

    private enum Key: CodingKey {
        case source, chosen, version, url, confirmed, mayBeComplete, uncounted, chunk, digest, offer, keptUntil,
            isFilled
        case parts, isOvertaken, held, doubts, losses, misses
    }

    let checkpoint: UploadCheckpoint

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        var checkpoint = UploadCheckpoint(
            source: try container.decodeIfPresent(SourceFingerprint.self, forKey: .source))
        checkpoint.terms.chosen = try container.decodeIfPresent(UploadProtocol.self, forKey: .chosen)
        checkpoint.terms.version = try container.decodeIfPresent(InteropVersion.self, forKey: .version)
        checkpoint.terms.chunk = try container.decodeIfPresent(Int64.self, forKey: .chunk)
        checkpoint.terms.offer = try container.decodeIfPresent(TusOffer.self, forKey: .offer)
        checkpoint.progress.confirmed = try container.decodeIfPresent(Int64.self, forKey: .confirmed) ?? 0
        checkpoint.progress.handedOver = try container.decodeIfPresent(Int64.self, forKey: .uncounted) ?? 0
        checkpoint.progress.keptUntil = try container.decodeIfPresent(Timestamp.self, forKey: .keptUntil)
        checkpoint.progress.held = try container.decodeIfPresent(Int.self, forKey: .held) ?? 0
        checkpoint.progress.doubts = try container.decodeIfPresent(Int.self, forKey: .doubts) ?? 0
        checkpoint.progress.losses = try container.decodeIfPresent(Int.self, forKey: .losses) ?? 0
        checkpoint.progress.misses = try container.decodeIfPresent(Int.self, forKey: .misses) ?? 0
        checkpoint.phase = try Self.phase(container, confirmed: checkpoint.progress.confirmed)
        self.checkpoint = checkpoint
    }

    private static func phase(
        _ container: KeyedDecodingContainer<Key>, confirmed: Int64
    ) throws -> UploadPhase {
        let url = try container.decodeIfPresent(String.self, forKey: .url)
        if try container.decodeIfPresent(Bool.self, forKey: .isOvertaken) == true { return .overtaken }
        if try container.decodeIfPresent(Bool.self, forKey: .isFilled) == true { return .filled(url: url) }
        if let parts = try container.decodeIfPresent(Parts.self, forKey: .parts) {
            return parts.isCreated ? .parts(try container.decode(PartsCheckpoint.self, forKey: .parts)) : .pending
        }
        let mayBeComplete = try container.decodeIfPresent(Bool.self, forKey: .mayBeComplete) ?? false
        guard url != nil || mayBeComplete || confirmed > 0 else { return .pending }
        let digest = try container.decodeIfPresent(UploadDigest.Checkpoint.self, forKey: .digest)
        return .open(OpenUpload(url: url, mayBeComplete: mayBeComplete, digest: digest))
    }
}
