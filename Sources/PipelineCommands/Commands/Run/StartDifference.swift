import JSONPath
import PipelineCore

/// What differs between two starts under one key, which stands for one document and its inputs: named, so that a person
/// sees which of the two they mean.
struct StartDifference {
    /// The name of an input; nil where the documents differ.
    let input: String?
    /// What it was and what it is now.
    let change: String

    /// Nil for two starts of the same document with the same inputs.
    init?(from earlier: JobRecord, to fresh: JobRecord) {
        if earlier.digest != fresh.digest {
            input = nil
            change =
                Self.change(from: Self.json(earlier), to: Self.json(fresh), at: JSONPointer(tokens: []))
                ?? "only comments, the order of members or the layout differ"
            return
        }
        let names = Set(earlier.inputs.names + fresh.inputs.names).sorted()
        for name in names where earlier.inputs[name] != fresh.inputs[name] {
            input = name
            change = "it " + Self.words(earlier.inputs[name], fresh.inputs[name])
            return
        }
        return nil
    }

    private static func json(_ record: JobRecord) -> JSON? {
        JSONNode.read(SourceText(name: record.sourceName, text: record.source)).node?.json
    }

    /// Returns the first change in the order of the earlier document; nil for none.
    private static func change(from old: JSON?, to new: JSON?, at place: JSONPointer) -> String? {
        if let before = old?.object, let now = new?.object {
            let names = before.names + now.names.filter { before[$0] == nil }
            return names.lazy.compactMap { change(from: before[$0], to: now[$0], at: place.appending($0)) }.first
        }
        if let before = old?.array, let now = new?.array {
            return (0..<max(before.count, now.count)).lazy.compactMap { index in
                change(
                    from: index < before.count ? before[index] : nil, to: index < now.count ? now[index] : nil,
                    at: place.appending(index))
            }.first
        }
        return old == new ? nil : "\(place) \(words(old, new))"
    }

    private static func words(_ old: JSON?, _ new: JSON?) -> String { "was \(text(old)), now it is \(text(new))" }

    private static func text(_ value: JSON?) -> String {
        guard let text = value?.text else { return "nothing" }
        return text.count > 60 ? text.prefix(59) + "…" : text
    }
}
