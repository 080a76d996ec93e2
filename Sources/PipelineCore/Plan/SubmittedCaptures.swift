package import JSONPath

/// The captures that the response to a submit gives: what a person gives in its place when it is lost.
package struct SubmittedCaptures: Sendable {
    package let names: [String]
    /// The names of those that are shown to nobody.
    private let secretNames: Set<String>

    package init(_ stage: PlannedStage) {
        let submitted = stage.captures.filter(\.isSubmitted)
        names = submitted.map(\.name)
        secretNames = Set(submitted.filter(\.isSecret).map(\.name))
    }

    /// The captures of a submit that is there under the id; nil where no single one of them can be the id.
    package func values(id: String) -> JSONObject? {
        if names.isEmpty { return [:] }
        return idName.map { [$0: .string(id)] }
    }

    /// The id by which a service knows what was submitted, as a person may see it; nil where no capture is one.
    func id(in captures: JSONObject) -> String? {
        guard let name = idName, !secretNames.contains(name) else { return nil }
        return captures[name]?.withoutSealed.scalarText
    }

    private var idName: String? { names.count == 1 ? names[0] : names.first { $0 == "id" } }

    /// The flags of `pipeline resolve` that say that it is there.
    package var flags: String {
        values(id: "") == nil ? names.map { "--set \($0)=VALUE" }.joined(separator: " ") : "--id ID"
    }
}
