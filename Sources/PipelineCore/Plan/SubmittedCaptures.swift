package import JSONPath

/// The captures that the response to a submit gives: what a person gives in its place when it is lost.
package struct SubmittedCaptures: Sendable {
    package let names: [String]

    package init(_ stage: PlannedStage) { names = stage.captures.filter(\.isSubmitted).map(\.name) }

    /// The captures of a submit that is there under the id; nil where no single one of them can be the id.
    package func values(id: String) -> JSONObject? {
        if names.isEmpty { return [:] }
        guard let name = names.count == 1 ? names[0] : names.first(where: { $0 == "id" }) else { return nil }
        return [name: .string(id)]
    }

    /// The flags of `pipeline resolve` that say that it is there.
    package var flags: String {
        values(id: "") == nil ? names.map { "--set \($0)=VALUE" }.joined(separator: " ") : "--id ID"
    }
}
