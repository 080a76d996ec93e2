import JSONPath
import PipelineCore

extension JobBeginning {
    /// The form of the column `found_secrets`: names of secrets, and behind them, in objects that programs of before pass
    /// over, those of the secret inputs whose defaults hold, and the digest of the inputs.
    var column: JSON {
        var elements = foundSecrets.map(JSON.string)
        if !defaultedInputs.isEmpty { elements.append(["defaults": .array(defaultedInputs.map(JSON.string))]) }
        if let inputDigest { elements.append(["inputs": .string(inputDigest)]) }
        return .array(elements)
    }

    /// Reads the column; of one that is null nothing is known.
    init(column: JSON) {
        let elements = column.array ?? []
        self.init(
            foundSecrets: elements.compactMap(\.string),
            defaultedInputs: elements.flatMap { $0["defaults"]?.array ?? [] }.compactMap(\.string),
            inputDigest: elements.lazy.compactMap { $0["inputs"]?.string }.first)
    }
}
