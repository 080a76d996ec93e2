import JSONPath
import PipelineCore

extension SecretNames {
    /// The form of the column `found_secrets`: names of secrets, and behind them, in an object that programs of before pass
    /// over, those of the secret inputs whose defaults hold.
    var column: JSON {
        var elements = found.map(JSON.string)
        if !defaultedInputs.isEmpty { elements.append(["defaults": .array(defaultedInputs.map(JSON.string))]) }
        return .array(elements)
    }

    /// Reads the column; of one that is null nothing is known.
    init(column: JSON) {
        let elements = column.array ?? []
        self.init(
            found: elements.compactMap(\.string),
            defaultedInputs: elements.flatMap { $0["defaults"]?.array ?? [] }.compactMap(\.string))
    }
}
