import JSONPath

extension FieldType where Value == Selector {
    /// A selector in any of its forms.
    package static var selector: FieldType {
        FieldType(schema: ["type": ["string", "object", "array"]]) { place, findings in
            var errors: [SelectorError] = []
            let selector = Selector.parse(place.node, in: findings.source, errors: &errors)
            findings.report(errors, at: place)
            findings.warn(of: selector?.warnings ?? [], at: place)
            return selector
        }
    }
}

extension FieldType where Value == CaptureSet {
    /// An object of names and selectors.
    ///
    /// - Parameters:
    ///   - declares: whether later stages, and the stage itself, may read the values by these names.
    ///   - isSubmitted: whether they come from a submit, so that a person gives them when its answer is lost.
    package static func captures(declares: Bool = true, isSubmitted: Bool = false) -> FieldType {
        FieldType(schema: ["type": "object", "additionalProperties": FieldType<Selector>.selector.schema]) {
            place, findings in
            var errors: [SelectorError] = []
            let captures = CaptureSet.parse(place.node, in: findings.source, errors: &errors)
            if declares { errors += reservedNames(in: place) }
            findings.report(errors, at: place)
            findings.warn(of: captures.entries.flatMap(\.selector.warnings), at: place)
            if declares {
                for entry in captures.entries {
                    findings.declare(CaptureDeclaration(entry, isSubmitted: isSubmitted))
                }
            }
            if declares, !errors.isEmpty { declareBroken(place, captures, findings) }
            return errors.isEmpty ? captures : nil
        }
    }

    /// `self.key` is the idempotency key: a capture of that name could not be read.
    private static func reservedNames(in place: SourceLocation) -> [SelectorError] {
        guard case .object(let members) = place.node.content else { return [] }
        return members.filter { $0.name == "key" }.map { member in
            SelectorError(
                "no capture may be called \"key\": self.key is the idempotency key",
                hint: "give it another name, such as \"apiKey\" or \"id\"", range: member.nameRange)
        }
    }

    /// A capture whose selector is wrong is one all the same: who reads it has made no mistake of his own.
    private static func declareBroken(_ place: SourceLocation, _ captures: CaptureSet, _ findings: DiagnosticCollector)
    {
        for (member, _) in place.members ?? [] where !captures.names.contains(member.name) {
            findings.declare(CaptureDeclaration(name: member.name))
        }
    }
}

extension DiagnosticCollector {
    fileprivate func report(_ errors: [SelectorError], at place: SourceLocation) {
        for error in errors {
            let pointer = place.descendant(at: error.range.start).pointer
            report(range: error.range, pointer: pointer, error.message, hint: error.hint)
        }
    }

    fileprivate func warn(of warnings: [SelectorError], at place: SourceLocation) {
        for warning in warnings {
            let pointer = place.descendant(at: warning.range.start).pointer
            warn(range: warning.range, pointer: pointer, warning.message, hint: warning.hint)
        }
    }
}
