import JSONPath

/// Reads one object of the document by its table of fields, and collects every mistake instead of stopping at one.
public final class ObjectReader {
    public let place: Place
    public let findings: Findings
    private let fields: [any AnyField]
    private let members: [(member: JSONNode.Member, place: Place)]
    private let mistakesBefore: Int

    /// A reader for the object at the place; nil after having reported that it is no object.
    public init?(_ place: Place, fields: [any AnyField], findings: Findings) {
        guard let members = place.members else {
            findings.report(place, "this must be an object, not \(place.node.json.kindName)")
            return nil
        }
        self.place = place
        self.findings = findings
        self.fields = fields
        self.members = members
        mistakesBefore = findings.diagnostics.count
    }

    /// Whether the object has the key.
    public func has(_ name: String) -> Bool { members.contains { $0.member.name == name } }

    /// The place of a member; nil when it is absent.
    public func place(of name: String) -> Place? { members.first { $0.member.name == name }?.place }

    /// The value of a field; nil when it is absent or wrong (then it was reported).
    public func optional<Value>(_ field: Field<Value>) -> Value? {
        place(of: field.name).flatMap { field.type.read($0, findings) }
    }

    /// The value of a field that must be there; nil after having reported that it is not, or is wrong.
    public func required<Value>(_ field: Field<Value>) -> Value? {
        guard let place = place(of: field.name) else {
            findings.report(
                self.place, "'\(field.name)' is missing", hint: "add \"\(field.name)\": \(field.summary.lowercasedFirst)")
            return nil
        }
        return field.type.read(place, findings)
    }

    /// The value of a field, or the default when it is absent or wrong.
    public func value<Value>(_ field: Field<Value>, default fallback: Value) -> Value {
        optional(field) ?? fallback
    }

    /// Reports unknown keys; true when the object has had no mistake since this reader began.
    @discardableResult public func finish() -> Bool {
        let known = fields.map(\.name)
        for (member, place) in members
        where !known.contains(member.name) && member.name != "$schema" && !member.name.hasPrefix("x-") {
            let guess = Suggestion.nearest(to: member.name, among: known)
            findings.report(
                range: member.nameRange, pointer: place.pointer, "unknown key '\(member.name)'",
                hint: guess.map { "did you mean '\($0)'?" } ?? "known here: " + known.joined(separator: ", "))
        }
        return findings.diagnostics.count == mistakesBefore
    }
}

extension String {
    var lowercasedFirst: String { prefix(1).lowercased() + dropFirst() }
}
