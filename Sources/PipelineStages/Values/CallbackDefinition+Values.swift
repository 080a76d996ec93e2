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

    /// Returns the captures of a poll that found the end, with the values of a callback that came while it was under way.
    func values<Checkpoint>(in context: StageContext<Checkpoint>, over captures: JSONObject) async -> JSONObject? {
        await values(in: context)?.reduce(into: captures) { all, entry in
            all[entry.name] = all[entry.name] ?? entry.value
        }
    }
}
