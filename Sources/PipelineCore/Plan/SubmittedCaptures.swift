package import JSONPath

/// The captures that the response to a submit gives: what a person gives in its place when it is lost.
package struct SubmittedCaptures: Sendable {
    package let names: [String]
    /// The names of those that are results, and not of the submit's own response.
    private let resultNames: Set<String>
    /// The names of those that are shown to nobody.
    private let secretNames: Set<String>
    /// The names of those that the document reads and can't do without.
    private let neededNames: Set<String?>
    /// The names of those that are texts, as headers are.
    private let textNames: Set<String>
    /// True if the response was a file of the stage, which a person can't give.
    private let isFile: Bool

    package init(_ stage: PlannedStage) {
        let submitted = stage.captures.filter(\.isSubmitted)
        names = submitted.map(\.name)
        resultNames = Set(submitted.filter(\.isResult).map(\.name))
        secretNames = Set(submitted.filter(\.isSecret).map(\.name))
        textNames = Set(submitted.filter(\.isText).map(\.name))
        neededNames = stage.namesReadOfIt.needed.subtracting(submitted.filter(\.isOptional).map(\.name))
        // One that writes what it is answered, and is no remote job.
        isFile = if case .transfer = stage.stage.work { stage.stage.writesFiles } else { false }
    }

    /// The captures of a submit that is there under the id; nil where no single one of them can be the id.
    package func values(id: String) -> JSONObject? {
        if own.isEmpty { return [:] }
        return idName.map { [$0: .string(id)] }
    }

    /// The names of captures that the document reads and these values lack.
    ///
    /// - Parameter hasPlace: whether the place is known where the results are asked for.
    package func missing(in values: JSONObject, hasPlace: Bool = false) -> [String] {
        (hasPlace ? own : names).filter { neededNames.contains($0) && (values[$0] ?? .null).isNull }
    }

    /// The value of a capture as a response may have had it: JSON where it is some, a text in quotes too, or else a text.
    package func value(of name: String, _ text: String) -> JSON {
        textNames.contains(name) ? .string(text) : (try? JSON.parse(text)) ?? .string(text)
    }

    /// The id by which a service knows what was submitted, as a person may see it; nil where no capture is one.
    func id(in captures: JSONObject) -> String? {
        guard let name = idName, !secretNames.contains(name) else { return nil }
        return captures[name]?.withoutSealed.scalarText
    }

    private var own: [String] { names.filter { !resultNames.contains($0) } }

    private var idName: String? { own.count == 1 ? own[0] : own.first { $0 == "id" } }

    /// The flags of `pipeline resolve` that say that it is there, with all that the document needs; nil where it is of no
    /// use there: its response was the result.
    package var flags: String? {
        if isFile { return nil }
        guard let id = values(id: "") else { return names.map(Self.flag).joined(separator: " ") }
        // An address, for instance, is no id.
        let isNamedID = idName?.lowercased().hasSuffix("id") != false
        let first = isNamedID ? "--id ID" : Self.flag(own[0])
        return ([first] + missing(in: id).map(Self.flag)).joined(separator: " ")
    }

    private static func flag(_ name: String) -> String { "--set \(name)=VALUE" }
}
