package import JSONPath

extension Selector {
    /// The value in an answer. Exactly one node must match, unless the selector says otherwise.
    package func value(in answer: ServiceResponse) throws(CaptureFailure) -> JSON {
        var findings: [String] = []
        var hint: String?
        var rescue: JSON?
        var isUnreadable = false
        for alternative in alternatives {
            switch alternative.outcome(in: answer) {
            case .value(let value) where !value.isNull: return value
            case .value: rescue = .null
            case .nothing(let instead, let finding):
                findings.append(finding.text)
                hint = hint ?? finding.hint
                rescue = rescue ?? instead
                isUnreadable = isUnreadable || finding.isUnreadable
            case .unfit(let finding): throw failure("\(alternative.text) \(finding.text)", finding.hint, in: answer)
            }
        }
        // That nothing need be there says nothing of an answer that nobody can look into.
        if let rescue, !isUnreadable { return rescue }
        let finding =
            findings.count == 1 || Set(findings).count == 1
            ? "\(text) \(findings[0])"
            : zip(alternatives, findings).map { "\($0.text) \($1)" }.joined(separator: ", and ")
        throw failure(finding, hint ?? missingHint, in: answer)
    }

    /// The value for `status`, `message`, `progress` and `remaining`: null when nothing matches or can be looked up,
    /// an array when several do.
    package func lenientValue(in answer: ServiceResponse) -> JSON {
        for alternative in alternatives {
            guard case .success(let found) = alternative.source.matches(in: answer, limit: .max) else { continue }
            let values = found.compactMap { try? alternative.resolved($0, answer).get() }
            if alternative.takesAll, !values.isEmpty { return .array(values) }
            if values.count > 1 { return .array(values) }
            if let value = values.first, !value.isNull { return value }
        }
        return .null
    }

    private var missingHint: String? {
        guard alternatives.count == 1, let only = alternatives.first else { return nil }
        let takesSuffix = only.text.hasPrefix("$") || only.text.hasPrefix("header:")
        return takesSuffix
            ? "write \"\(only.text)?\" if it may be missing" : "set \"optional\": true if it may be missing"
    }

    private func failure(_ finding: String, _ hint: String?, in answer: ServiceResponse) -> CaptureFailure {
        CaptureFailure(selector: text, finding: finding, answer: answer.summary, hint: hint)
    }
}

extension Selector.Alternative {
    enum Outcome {
        case value(JSON)
        /// No match: what stands for it, if anything may, and the finding in words.
        case nothing(instead: JSON?, Finding)
        /// A match that may not be: no later alternative mends it.
        case unfit(Finding)
    }

    struct Finding: Error {
        let text: String
        let hint: String?
        /// True if the answer is not of the form that the selector reads.
        var isUnreadable = false
    }

    func outcome(in answer: ServiceResponse) -> Outcome {
        switch source.matches(in: answer, limit: takesAll ? .max : takesFirst ? 1 : 2) {
        case .failure(let obstacle):
            let isEmpty = obstacle == .empty
            return .nothing(
                instead: isOptional ? .null : isEmpty && takesAll ? [] : nil,
                Finding(text: obstacle.finding, hint: obstacle.hint, isUnreadable: obstacle.isUnreadable))
        case .success(let found):
            if found.isEmpty {
                return .nothing(
                    instead: isOptional ? .null : takesAll ? [] : nil, Finding(text: "matches nothing", hint: nil))
            }
            if takesAll { return all(found, answer) }
            if found.count > 1 { return .unfit(tooMany) }
            return one(resolved(found[0], answer))
        }
    }

    /// Of a pattern the first match is meant; more of them are usual.
    private var takesFirst: Bool { if case .pattern = source { true } else { false } }

    private func one(_ value: Result<JSON, Finding>) -> Outcome {
        switch value {
        case .success(let value): .value(value)
        case .failure(let finding): .unfit(finding)
        }
    }

    private func all(_ found: [JSON], _ answer: ServiceResponse) -> Outcome {
        var values: [JSON] = []
        for value in found {
            switch resolved(value, answer) {
            case .success(let value): values.append(value)
            case .failure(let finding): return .unfit(finding)
            }
        }
        return .value(.array(values))
    }

    func resolved(_ value: JSON, _ answer: ServiceResponse) -> Result<JSON, Finding> {
        guard isURL, !value.isNull else { return .success(value) }
        guard case .string(let reference) = value else {
            return .failure(Finding(text: "is \(value.kindName) where a URL is expected", hint: nil))
        }
        guard let url = URLReference.resolve(reference, against: answer.url) else {
            return .failure(Finding(text: "cannot be resolved, as the answer has no absolute URL", hint: nil))
        }
        return .success(.string(url))
    }

    private var tooMany: Finding {
        let hint =
            text.hasPrefix("$") || text.hasPrefix("header:")
            ? "choose one, or write \"\(text)[]\" for the array of all" : "set \"all\": true for the array of all"
        return Finding(text: CaptureFailure.several, hint: hint)
    }
}
