import JSONPath

/// Reads one object of the document by its table of fields, and collects every mistake instead of stopping at one.
///
/// A mistyped key is told once, and its value is read as what was most likely meant: so its own mistakes are told too,
/// and nobody hears that the right key is missing.
public final class ObjectReader {
    /// The place where the object stands in the document.
    public let place: SourceLocation
    /// The collector to which mistakes are reported.
    public let findings: DiagnosticCollector
    private let table: FieldTable
    private let members: [JSONNode.Member]
    /// The marks of the members' names: most keys of the table are not there, and are known to be absent by these.
    private let marks: UInt64
    /// The members by name, where they are many: few are looked through faster than a name is hashed.
    private let positions: [String: Int]
    /// Keys that no field has: where they are among the members, and what was most likely meant. Found when a field is
    /// absent, or at the end.
    private lazy var unknown = Self.unknown(members, table)
    private lazy var guessed = Dictionary(
        unknown.compactMap { entry in entry.guess.map { ($0, entry.position) } },
        uniquingKeysWith: { first, _ in first })
    private let mistakesBefore: Int

    /// As many members are looked through.
    private static let few = 12

    /// A reader for the object at the place; nil after having reported that it is no object.
    package init?(_ place: SourceLocation, table: FieldTable, findings: DiagnosticCollector) {
        guard case .object(let members) = place.node.content else {
            findings.report(
                place, "this must be an object, not \(place.node.json.kindName)",
                hint: Self.shape(of: table.fields, holding: place.node.json))
            return nil
        }
        self.place = place
        self.findings = findings
        self.table = table
        self.members = members
        marks = members.reduce(0) { $0 | $1.name.mark }
        mistakesBefore = findings.diagnostics.count
        positions =
            members.count <= Self.few
            ? [:]
            : Dictionary(members.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// Returns whether the object has the key, perhaps mistyped.
    public func has(_ name: String) -> Bool { position(of: name) != nil }

    /// The place of a member; nil when it is absent.
    public func place(of name: String) -> SourceLocation? { position(of: name).map { place.child(members[$0]) } }

    /// The value of a field; nil when it is absent or wrong (then it was reported).
    public func optional<Value>(_ field: Field<Value>) -> Value? {
        let written = writtenPosition(of: field.name, field.mark)
        guard let position = written ?? guessedPosition(of: field.name) else { return nil }
        let place = place.child(members[position])
        let before = findings.diagnostics.count
        let value = field.type.read(place, findings)
        // A value that is nothing of the kind says that the guess about its key was wrong.
        let isWrongGuess =
            written == nil && findings.diagnostics[before...].contains { $0.pointer == place.pointer }
        if isWrongGuess { findings.withdraw(from: before) }
        return value
    }

    /// The value of a field that must be there; nil after having reported that it is not, or is wrong.
    ///
    /// - Parameter hint: what to add, where more is known of it than of such fields in general.
    public func required<Value>(_ field: Field<Value>, hint: String? = nil) -> Value? {
        if has(field.name) { return optional(field) }
        reportMissing(field, hint: hint ?? field.advice)
        return nil
    }

    /// The value of a field, or the default when it is absent or wrong.
    public func value<Value>(_ field: Field<Value>, default fallback: Value) -> Value {
        optional(field) ?? fallback
    }

    /// Reports unknown keys; true when the object has had no mistake since this reader began.
    @discardableResult package func finish() -> Bool {
        for (position, guess) in unknown { report(position, guess) }
        return findings.diagnostics.count == mistakesBefore
    }

    /// Reports the unknown keys of which it is clear what was meant, where nobody knows the others.
    func reportGuessed() {
        for (position, guess) in unknown where guess != nil { report(position, guess) }
    }

    private func report(_ position: Int, _ guess: String?) {
        let member = members[position]
        let advice =
            guess.map { "did you mean '\($0)'?" }
            ?? KeyAlias.advice(for: member.name, among: table.names, in: members) ?? presentHint(for: member.name)
        findings.report(
            range: member.nameRange, pointer: place.child(member).pointer, "unknown key '\(member.name)'",
            hint: advice ?? Self.listed(table.names, before: "the keys here are"))
    }

    /// The hint for a key that is spelt almost like one that stands here too.
    private func presentHint(for name: String) -> String? {
        let present = table.names.filter { writtenPosition(of: $0, $0.mark) != nil }
        return Suggestion.nearest(to: name, among: present).map { "did you mean '\($0)', which is there already?" }
    }

    /// True if it has keys that mean nothing here: then a reader that misses one of several keys need not say so too.
    package var hasUnknownKeys: Bool { unknown.contains { $0.guess == nil } }

    /// Returns how an object with these fields is written; a lone value may be that of its only field that must be
    /// there.
    private static func shape(of fields: [any AnyField], holding value: JSON) -> String? {
        let isScalar = value.string != nil || value.number != nil || value.bool != nil
        if let text = value.string, fields.contains(where: { $0.name == "GET" }) {
            let words = text.split(separator: " ", maxSplits: 1)
            let method = fields.map(\.name).first { words.count == 2 && $0 == words[0] }
            let target = method == nil ? value : .string(String(words[1]))
            return "write { \"\(method ?? "GET")\": \(target.text) }"
        }
        if isScalar, value.text.utf8.count <= 60, let field = Self.only(fields, for: value) {
            return "write { \"\(field)\": \(value.text) }"
        }
        let required = fields.filter(\.isRequired).map { "\"\($0.name)\": …" }
        if required.isEmpty { return listed(fields.map(\.name), before: "write { \"KEY\": … }; the keys here are") }
        return "write { \(required.joined(separator: ", ")) }"
    }

    private static func only(_ fields: [any AnyField], for value: JSON) -> String? {
        let required = fields.filter(\.isRequired)
        if value.number != nil { return fields.contains { $0.name == "attempts" } ? "attempts" : nil }
        return required.count == 1 && value.string != nil ? required[0].name : nil
    }

    private func reportMissing(_ field: any AnyField, hint: String) {
        let start = place.node.range.start
        findings.report(
            range: SourceRange(start: start, end: start + 1), pointer: place.pointer, "'\(field.name)' is missing here",
            hint: hint)
    }

    private func position(of name: String) -> Int? {
        writtenPosition(of: name, name.mark) ?? guessedPosition(of: name)
    }

    private func writtenPosition(of name: String, _ mark: UInt64) -> Int? {
        guard marks & mark != 0 else { return nil }
        return positions.isEmpty ? members.firstIndex { $0.name == name } : positions[name]
    }

    private func guessedPosition(of name: String) -> Int? { unknown.isEmpty ? nil : guessed[name] }

    private static func unknown(_ members: [JSONNode.Member], _ table: FieldTable) -> [(position: Int, guess: String?)]
    {
        // Objects have few members: a set of the fields' names would cost more than it saves.
        let strange = members.indices.filter { position in
            !table.has(members[position].name) && !members[position].isIgnored
        }
        guard !strange.isEmpty else { return [] }
        let absent = table.names.filter { name in !members.contains { $0.name == name } }
        return strange.map { position in
            let name = members[position].name
            return (
                position, Suggestion.nearest(to: name, among: absent) ?? KeyAlias.meaning(of: name, among: absent)
            )
        }
    }

    /// A list of names for a hint.
    static func listed(_ names: [String], before words: String) -> String? {
        names.isEmpty ? nil : "\(words) \(names.joined(separator: ", "))"
    }
}
