import JSONPath

/// Checks values against rules and gathers every mistake, each at the innermost place that is wrong.
struct SchemaCheck {
    /// True if strings with `${{` fit everywhere: what they give is not known yet.
    let passesTemplates: Bool
    private(set) var mistakes: [Diagnostic] = []

    init(passesTemplates: Bool) { self.passesTemplates = passesTemplates }

    mutating func check(_ place: SourceLocation, _ rule: SchemaRule) {
        if passesTemplates, let text = place.text, TemplateReader.hasExpression(text) { return }
        if rule.refusesAll { return report(place, "nothing may stand here") }
        guard rule.takes(place.node) else {
            let wanted = rule.types.map(Self.article).joined(separator: " or ")
            return report(place, "this must be \(wanted), not \(place.node.json.kindName)", hint: rule.summary)
        }
        if let choices = rule.choices, !choices.contains(place.node.json) { return refuse(place, choices) }
        switch place.node.content {
        case .number(let number): check(number, rule.bounds, place)
        case .string(let text): check(text, rule, place)
        case .array: checkElements(place, rule)
        case .object: checkMembers(place, rule)
        case .null, .bool: break
        }
        for part in rule.all { check(place, part) }
        checkAny(place, rule)
        checkOne(place, rule)
    }

    static func isOf(_ type: String, _ node: JSONNode) -> Bool {
        switch (type, node.content) {
        case ("null", .null), ("boolean", .bool), ("number", .number), ("string", .string), ("array", .array),
            ("object", .object):
            true
        case ("integer", .number(let number)): number.int != nil
        default: false
        }
    }

    // MARK: Parts

    private mutating func refuse(_ place: SourceLocation, _ choices: [JSON]) {
        let shown = choices.prefix(12).map(\.text).joined(separator: ", ")
        let guess = place.text.flatMap { Suggestion.nearest(to: $0, among: choices.compactMap(\.string)) }
        report(
            place, choices.count == 1 ? "this must be \(shown)" : "this must be one of \(shown)",
            hint: guess.map { "did you mean '\($0)'?" })
    }

    private mutating func check(_ number: JSONNumber, _ bounds: SchemaBounds, _ place: SourceLocation) {
        if let minimum = bounds.minimum, number < minimum { report(place, "this must be at least \(minimum)") }
        if let maximum = bounds.maximum, maximum < number { report(place, "this must be at most \(maximum)") }
        if let above = bounds.above, number <= above { report(place, "this must be more than \(above)") }
        if let below = bounds.below, below <= number { report(place, "this must be less than \(below)") }
    }

    private mutating func check(_ text: String, _ rule: SchemaRule, _ place: SourceLocation) {
        let length = text.unicodeScalars.count
        if let minimum = rule.bounds.minLength, length < minimum {
            report(
                place, minimum == 1 ? "this text must not be empty" : "this text needs at least \(minimum) characters")
        }
        if let maximum = rule.bounds.maxLength, length > maximum {
            report(place, "this text may have at most \(maximum) characters, not \(length)")
        }
        if let pattern = rule.pattern, !pattern.isFound(in: text) {
            report(place, "this text does not match \(pattern)", hint: rule.summary)
        }
    }

    private mutating func checkElements(_ place: SourceLocation, _ rule: SchemaRule) {
        let elements = place.elements ?? []
        if let minimum = rule.bounds.minItems, elements.count < minimum {
            report(
                place, minimum == 1 ? "this array must not be empty" : "this array needs at least \(minimum) elements")
        }
        if let maximum = rule.bounds.maxItems, elements.count > maximum {
            report(place, "this array may have at most \(maximum) elements, not \(elements.count)")
        }
        if let items = rule.items { for element in elements { check(element, items) } }
    }

    private mutating func checkMembers(_ place: SourceLocation, _ rule: SchemaRule) {
        let members = place.members ?? []
        for name in rule.required where !members.contains(where: { $0.member.name == name }) {
            let summary = rule.properties.first { $0.name == name }?.rule.summary
            let start = place.node.range.start
            mistakes.append(
                Diagnostic(
                    range: SourceRange(start: start, end: start + 1), pointer: place.pointer,
                    message: "'\(name)' is missing here",
                    hint: "add \"\(name)\"" + (summary.map { ": \($0.lowercasedFirst)" } ?? "")))
        }
        for (member, inner) in members {
            if let known = rule.properties.first(where: { $0.name == member.name }) {
                check(inner, known.rule)
            } else if let others = rule.others {
                others.refusesAll ? refuse(member, inner, rule) : check(inner, others)
            }
        }
    }

    private mutating func refuse(_ member: JSONNode.Member, _ place: SourceLocation, _ rule: SchemaRule) {
        let names = rule.properties.map(\.name)
        let hint =
            Suggestion.nearest(to: member.name, among: names).map { "did you mean '\($0)'?" }
            ?? ObjectReader.listed(names, before: "the keys here are")
        mistakes.append(
            Diagnostic(
                range: member.nameRange, pointer: place.pointer, message: "unknown key '\(member.name)'", hint: hint))
    }

    // MARK: Alternatives

    private mutating func checkAny(_ place: SourceLocation, _ rule: SchemaRule) {
        guard !rule.any.isEmpty, !rule.any.contains(where: { found(place, $0).isEmpty }) else { return }
        refuse(place, alternatives: rule.any)
    }

    private mutating func checkOne(_ place: SourceLocation, _ rule: SchemaRule) {
        guard !rule.one.isEmpty else { return }
        let fitting = rule.one.count { found(place, $0).isEmpty }
        if fitting == 0 { return refuse(place, alternatives: rule.one) }
        // Values that are not known yet fit several forms.
        let isKnown = !passesTemplates || !TemplateReader.hasExpression(place.node.json.text)
        if fitting > 1, isKnown { report(place, "this fits \(fitting) of the forms that exclude each other") }
    }

    /// When only one form is of the value's type its mistakes are what helps.
    private mutating func refuse(_ place: SourceLocation, alternatives: [SchemaRule]) {
        let near = alternatives.filter { $0.takes(place.node) }
        if near.count == 1 {
            mistakes += found(place, near[0])
        } else {
            report(place, "this has none of the \(alternatives.count) forms that may stand here")
        }
    }

    private func found(_ place: SourceLocation, _ rule: SchemaRule) -> [Diagnostic] {
        var check = SchemaCheck(passesTemplates: passesTemplates)
        check.check(place, rule)
        return check.mistakes
    }

    private mutating func report(_ place: SourceLocation, _ message: String, hint: String? = nil) {
        // Of an array or object only the opening bracket is marked: it may have many lines.
        let range = place.node.range
        let isLong = place.node.content.isArray || place.node.content.isObject
        let marked = isLong ? SourceRange(start: range.start, end: min(range.start + 1, range.end)) : range
        mistakes.append(Diagnostic(range: marked, pointer: place.pointer, message: message, hint: hint))
    }

    private static func article(_ type: String) -> String {
        switch type {
        case "null": "null"
        case "integer": "a whole number"
        case "array", "object": "an \(type)"
        default: "a \(type)"
        }
    }
}
