import JSONPath

/// Computes an expression's value in a scope; pure.
struct ExpressionEvaluator {
    let expression: Expression
    let scope: Scope

    /// - Parameter tolerant: whether null does no harm here, so that a missing secret may count as null. It reaches as
    ///   far as ``ReferenceCollector/visit(_:tolerant:)`` says, so that plan and run agree.
    func value(of node: ExpressionNode, tolerant: Bool = false) throws(EvaluationFailure) -> JSON {
        switch node.kind {
        case .literal(let value): return value
        case .path(let root, let accessors): return try path(root, accessors, at: node.range, tolerant: tolerant)
        case .access(let base, let accessors): return try members(accessors[...], of: try value(of: base))
        case .not(let operand): return .bool(!(try condition(operand)))
        case .negative(let operand): return try negated(operand)
        case .chain(let first, let links): return try chain(first, links, tolerant: tolerant)
        case .conditional(let test, let first, let second):
            return try value(of: try condition(test) ? first : second, tolerant: tolerant)
        case .array(let elements): return .array(try values(of: elements))
        case .object(let members):
            let values = try values(of: members.map(\.value))
            return .object(JSONObject(zip(members, values).map { ($0.name, $1) }))
        case .call(let function, let arguments):
            return try bounded(try call(function, arguments, at: node.range), at: node.range)
        }
    }

    private func values(of nodes: [ExpressionNode]) throws(EvaluationFailure) -> [JSON] {
        var values: [JSON] = []
        for node in nodes { values.append(try value(of: node)) }
        return values
    }

    /// The value of a node that must be a boolean.
    func condition(_ node: ExpressionNode) throws(EvaluationFailure) -> Bool {
        let value = try value(of: node)
        guard case .bool(let flag) = value else {
            let shown = expression.text(of: node.range)
            let hint: String? =
                switch value {
                case .null: nil
                case .number: "compare it: \(shown) != 0"
                case .string(let text) where text == "true" || text == "false": "compare it: \(shown) == 'true'"
                case .string: "compare it: \(shown) != ''"
                case .array, .object: "ask for what is in it: len(\(shown)) > 0"
                case .bool: nil
                }
            throw mismatch(node, value, needed: "true or false", fallback: "false", hint: hint)
        }
        return flag
    }
}

// MARK: - Failures

extension ExpressionEvaluator {
    func wrong(_ message: String, hint: String? = nil, at range: SourceRange) -> EvaluationFailure {
        .wrong(message: message, hint: hint, range: expression.origin.source(of: range))
    }

    /// The failure of a value of the wrong kind; a null names the path that gave none.
    func mismatch(
        _ node: ExpressionNode, _ value: JSON, needed: String, fallback: String? = nil, hint: String? = nil
    ) -> EvaluationFailure {
        let shown = expression.text(of: node.range)
        guard value.isNull else {
            return wrong("\(shown) is \(value.kindName) where \(needed) is needed", hint: hint, at: node.range)
        }
        let rescue = fallback.map { advice(onNull: node, fallback: $0) }
        return wrong(
            "\(shown) is null where \(needed) is needed", hint: minusHint(node) ?? hint ?? rescue, at: node.range)
    }

    /// `item.count-1` reads the member `count-1`, which is seldom meant when there is none.
    private func minusHint(_ node: ExpressionNode) -> String? {
        guard case .path(_, let accessors) = node.kind, let name = accessors.last?.name,
            let dash = name.lastIndex(of: "-"),
            Int(name[name.index(after: dash)...]) != nil
        else { return nil }
        return "\"-\" inside a name belongs to the name; a subtraction needs spaces around it"
    }
}

// MARK: - Paths

extension ExpressionEvaluator {
    private func path(
        _ root: ExpressionNode.PathRoot, _ accessors: [ExpressionNode.Accessor], at range: SourceRange, tolerant: Bool
    ) throws(EvaluationFailure) -> JSON {
        if case .secret(let name) = root {
            if let secret = scope.secrets[name] { return try members(accessors[...], of: .string(secret)) }
            if tolerant { return .null }
            throw .missingSecret(name)
        }
        let base = try base(root, at: range)
        if case .response("headers") = root, let first = accessors.first {
            let name = try key(first)
            return try members(accessors.dropFirst(), of: header(name, in: base))
        }
        let value = try members(accessors[...], of: base)
        try checkOpen(value, of: root, at: range)
        return value
    }

    /// Throws when a secret that a service repeated in the value is still sealed: the text of its seal is nobody's value.
    private func checkOpen(
        _ value: JSON, of root: ExpressionNode.PathRoot, at range: SourceRange
    ) throws(EvaluationFailure) {
        guard !scope.closed.isEmpty, root.isCaptured,
            let piece = value.sealedPieces.first(where: { scope.closed.contains($0.name) })
        else { return }
        guard piece.isLost else { throw .sealedSecret(piece.name) }
        throw wrong(
            "\(expression.text(of: range)) repeats the secret \(piece.name), and was not kept without PIPELINE_JOURNAL_KEY",
            hint: "set PIPELINE_JOURNAL_KEY, the same for all workers; then 'pipeline retry JOB --from STAGE' with the "
                + "stage that captured it",
            at: range)
    }

    private func base(_ root: ExpressionNode.PathRoot, at range: SourceRange) throws(EvaluationFailure) -> JSON {
        switch root {
        case .input(let name): return scope.inputs[name] ?? .null
        case .environment(let name): return (scope.env[name] ?? nil).map(JSON.string) ?? .null
        case .secret: return .null
        case .stage(let id): return scope.stages[id] ?? .null
        case .own: return .object(scope.own)
        case .ownKey: return scope.ownKey.map(JSON.string) ?? .null
        case .callbackURL: return scope.callbackURL.map(JSON.string) ?? .null
        case .item: return try present(scope.item, "item", "inside a stage with forEach", at: range)
        case .index:
            return try present(
                scope.index.map { .number(JSONNumber($0)) }, "index", "inside a stage with forEach", at: range)
        case .job(let field): return try present(job(field), "job", "while a job runs", at: range)
        case .response(let field):
            return try present(scope.response, "response", "where an answer is judged", at: range)[field] ?? .null
        case .ids: return try present(scope.ids, "ids", "in the 'list' of a poll", at: range)
        case .part(let field):
            return try present(scope.part, "part", "in the request for a part of an upload", at: range)[field] ?? .null
        }
    }

    private func job(_ field: String) -> JSON? {
        guard let job = scope.job else { return nil }
        if field == "item" { return JSON(job.item) }
        return .string(field == "id" ? job.id : field == "key" ? job.key : job.started.description)
    }

    private func present(
        _ value: JSON?, _ name: String, _ place: String, at range: SourceRange
    ) throws(EvaluationFailure) -> JSON {
        guard let value else { throw wrong("\"\(name)\" is only known \(place)", at: range) }
        return value
    }

    /// A missing member, also of a value that has no members, is null.
    private func members(
        _ accessors: ArraySlice<ExpressionNode.Accessor>, of base: JSON
    ) throws(EvaluationFailure) -> JSON {
        var value = base
        for accessor in accessors {
            switch (try key(accessor), value) {
            case (.string(let name), .object(let object)): value = object[name] ?? .null
            case (.number(let number), .array(let array)): value = try element(number, of: array, at: accessor.range)
            default: value = .null
            }
        }
        return value
    }

    private func key(_ accessor: ExpressionNode.Accessor) throws(EvaluationFailure) -> JSON {
        switch accessor.kind {
        case .member(let name): return .string(name)
        case .computed(let node):
            let key = try value(of: node)
            switch key {
            case .string, .number: return key
            default: throw mismatch(node, key, needed: "a name or a whole number")
            }
        }
    }

    /// Counts from 0, negative ones from the end.
    private func element(_ number: JSONNumber, of array: [JSON], at range: SourceRange) throws(EvaluationFailure)
        -> JSON
    {
        guard let index = number.int else {
            throw wrong("\(number.literal) cannot count elements", hint: "only whole numbers can", at: range)
        }
        let place = index < 0 ? index + array.count : index
        return array.indices.contains(place) ? array[place] : .null
    }

    private func header(_ name: JSON, in headers: JSON) -> JSON {
        let wanted = name.string?.lowercased()
        return headers.object?.first { $0.name.lowercased() == wanted }?.value ?? .null
    }
}
