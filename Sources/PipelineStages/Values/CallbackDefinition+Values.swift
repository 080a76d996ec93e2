import JSONPath
import PipelineCore

extension CallbackDefinition {
    /// Returns what the document takes out of the last callback that had it all; nil while none came. What is secret in
    /// it is concealed from here on.
    func values<Checkpoint>(in context: StageContext<Checkpoint>) async -> JSONObject? {
        guard !capture.isEmpty, let values = await context.callbackCaptures else { return nil }
        for entry in capture.secrets {
            if let text = values[entry.name]?.string { context.conceal(text, as: entry.name) }
        }
        return values
    }

    /// Returns the captures of a poll that found the end, with the values of a callback that came before; where none did,
    /// those that are read and that nothing else gave are warned of.
    func completed<Checkpoint>(
        _ captures: JSONObject, in context: StageContext<Checkpoint>
    ) async throws(StageFailure) -> JSONObject {
        if let values = await values(in: context) {
            return values.reduce(into: captures) { all, entry in all[entry.name] = all[entry.name] ?? entry.value }
        }
        let read = context.facts.namesRead
        let missing = capture.names.filter { captures[$0] == nil && (read.contains($0) || read.contains(nil)) }
        guard let first = missing.first else { return captures }
        let names = missing.count == 1 ? "'\(first)' is" : missing.map { "'\($0)'" }.joined(separator: ", ") + " are"
        try await context.warn("no push had come when the poll found the end, so that \(names) null")
        return captures
    }
}
