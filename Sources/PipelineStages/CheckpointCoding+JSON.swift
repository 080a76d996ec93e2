import FoundationEssentials
public import PipelineCore

extension CheckpointCoding where Checkpoint: Codable {
    /// Checkpoints as JSON objects, which a person can read in the journal.
    public static var json: CheckpointCoding {
        CheckpointCoding(
            encode: { checkpoint in Array(try JSONEncoder().encode(checkpoint)) },
            decode: { bytes in try JSONDecoder().decode(Checkpoint.self, from: Data(bytes)) })
    }
}
