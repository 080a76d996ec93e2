import JSONPath
import PipelineCore

/// A plugin's checkpoint: the JSON object that it committed, kept as it is.
struct ProgramCheckpoint: Codable, Sendable {
    /// The object as JSON.
    var text: String

    init(_ json: JSON) { text = json.text }
    init(text: String) { self.text = text }

    var json: JSON { (try? JSON.parse(text)) ?? .null }
}

extension CheckpointCoding where Checkpoint == ProgramCheckpoint {
    /// The object itself stands in the journal.
    static var program: CheckpointCoding {
        CheckpointCoding(
            encode: { Array($0.text.utf8) },
            decode: { bytes in
                _ = try JSON.parse(bytes)
                return ProgramCheckpoint(text: String(decoding: bytes, as: UTF8.self))
            })
    }
}
