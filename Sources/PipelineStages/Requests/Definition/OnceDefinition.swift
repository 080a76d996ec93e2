import JSONPath
import PipelineCore
import PipelineHTTP

/// `once`: how a submit whose answer was lost is settled without a second one.
struct OnceDefinition: Sendable {
    /// The service recognises a repetition by its key.
    struct Key: Sendable {
        /// The header that carries it; nil when the author puts `${{ self.key }}` somewhere.
        let header: String?
        let isQuoted: Setting<Bool>
        /// The time that the service remembers it.
        let validity: Setting<Duration>
        /// The place where `key` stands in the document.
        let place: SourceLocation

        /// Returns what puts a key into the header; nil when the author puts it somewhere.
        func decorator<Checkpoint>(
            for record: SubmitRecord, in context: StageContext<Checkpoint>
        ) async throws(StageFailure) -> IdempotencyKey? {
            guard let header else { return nil }
            let setting = isQuoted
            let quotes = try await context.evaluate { scope throws(EvaluationFailure) -> Bool in
                try setting.value(in: scope)
            }
            return IdempotencyKey(record.key, header: header, quoted: quotes)
        }
    }

    /// The way in which the submit is looked for.
    indirect enum LookUp: Sendable {
        /// By the name that it was given.
        case name(RequestDefinition, ours: Expression, missing: Expression?)
        /// In a list; `then` fetches the one found.
        case match(RequestDefinition, items: PageItems, condition: Expression, then: RequestDefinition?)

        /// True if it reads the key of the submit, which is another one in each generation: what is found is of this one
        /// then, and not the job of before.
        var readsOwnKey: Bool {
            switch self {
            case .name(let request, let ours, _): request.uses.ownKey || ours.readsOwnKey
            case .match(let list, _, let condition, let then):
                list.uses.ownKey || condition.readsOwnKey || then?.uses.ownKey == true
            }
        }

        /// Returns whether it looks for something else when a stage gives other captures: what went out with the former ones
        /// is not found then.
        func depends(on stage: String) -> Bool {
            let (requests, conditions): ([RequestDefinition], [Expression]) =
                switch self {
                case .name(let request, let ours, let missing): ([request], [ours] + (missing.map { [$0] } ?? []))
                case .match(let list, _, let condition, let then): ([list] + (then.map { [$0] } ?? []), [condition])
                }
            return requests.contains { ($0.subject + $0.headerSubject).contains { $0.captureStage == stage } }
                || conditions.contains { $0.references.contains { $0.captureStage == stage } }
        }
    }

    let key: Key?
    let lookUp: LookUp?
    /// True if a second one costs nothing.
    let resends: Setting<Bool>
    /// The time after a look-up that found nothing at which the next one is made.
    let settle: Setting<Duration>
}

extension OnceDefinition {
    private static let keyTypes = FieldType<String?>(schema: ["anyOf": [["type": "string"], ["const": true]]]) {
        place, findings in
        switch place.node.content {
        case .bool(true): return .some(nil)
        case .string(let name):
            if let mistake = HeaderName.mistake(name) {
                findings.report(place, mistake.message, hint: mistake.hint)
                return nil
            }
            return name
        default:
            findings.report(
                place, "the key is the name of a header, or true, not \(place.node.json.kindName)",
                hint: "for example \"Idempotency-Key\"; true when ${{ self.key }} stands in body, query or URL")
            return nil
        }
    }

    static func type(_ roots: AllowedRoots, decorators: DecoratorCatalogue) -> FieldType<OnceDefinition> {
        let fields = OnceFields(roots, decorators: decorators, keyType: keyTypes)
        return .object(fields.all) { reader in fields.read(reader) }
    }
}

/// The table of the fields of `once`.
private struct OnceFields: Sendable {
    let key: Field<String?>
    let quoted: Field<Setting<Bool>>
    let valid: Field<Setting<Duration>>
    let name: Field<RequestDefinition>
    let ours: Field<Expression>
    let missing: Field<Expression>
    let match: Field<OnceDefinition.LookUp>
    let resend: Field<Setting<Bool>>
    let settle: Field<Setting<Duration>>

    init(_ roots: AllowedRoots, decorators: DecoratorCatalogue, keyType: FieldType<String?>) {
        let options = RequestDefinition.Options(declaresCaptures: false)
        key = Field("key", keyType, "The header by which the service knows a repetition, or true.")
        quoted = Field("quoted", .flag(roots), default: false, "Whether the key is sent in quotes.")
        resend = Field("resend", .flag(roots), default: false, "Whether a second one costs nothing.")
        valid = Field("valid", .duration(roots), default: "24h", "How long the service remembers a key.")
        name = Field(
            "name", RequestDefinition.type(roots, decorators: decorators, options: options),
            "Looks it up by the name that it was given. A retry adopts what is found only if self.key is read here or in "
                + "'ours'.")
        ours = Field("ours", .expression(roots.union(.response)), "Whether what was found is ours.")
        missing = Field(
            "missing", .expression(roots.union(.response)), default: "response.status == 404",
            "Whether there is nothing of that name. Of 401, 403, 407, 408, 425, 429 and 5xx it is believed only if it reads "
                + "response.status.")
        match = Field(
            "match", MatchFields(roots, decorators: decorators).type,
            "Finds it in a list. A retry adopts what is found only if self.key is read here.")
        settle = Field("settle", .duration(roots), default: "10s", "How long a look-up that found nothing waits.")
    }

    var all: [any AnyField] { [key, quoted, valid, name, ours, missing, match, resend, settle] }

    func read(_ reader: ObjectReader) -> OnceDefinition? {
        let header = reader.optional(key)
        let isQuoted = reader.value(quoted, default: .constant(false))
        let validity = reader.value(valid, default: .constant(.seconds(86_400)))
        let lookUp = readLookUp(reader)
        let resends = reader.value(resend, default: .constant(false))
        let pause = reader.value(settle, default: .constant(.seconds(10)))
        check(reader)
        let keyPlace = reader.place(of: "key")
        return OnceDefinition(
            key: header.flatMap { header in
                keyPlace.map { OnceDefinition.Key(header: header, isQuoted: isQuoted, validity: validity, place: $0) }
            }, lookUp: lookUp, resends: resends, settle: pause)
    }

    private func readLookUp(_ reader: ObjectReader) -> OnceDefinition.LookUp? {
        let request = reader.optional(name)
        let ours = reader.optional(ours)
        let missing = reader.optional(missing)
        guard reader.has("name") else { return reader.optional(match) }
        if !reader.has("ours") {
            reader.findings.report(
                reader.place, "'ours' is missing",
                hint: "say how one's own is told from another's of the same name, "
                    + "for example \"response.body.metadata.run == self.key\"")
        }
        guard let request, let ours else { return nil }
        return .name(request, ours: ours, missing: missing)
    }

    private func check(_ reader: ObjectReader) {
        let ways = ["key", "name", "match", "resend"].filter { reader.has($0) }
        if ways.isEmpty {
            reader.findings.report(
                reader.place, "'once' does not say how a lost answer is settled",
                hint: "give it one of \"key\", \"name\", \"match\" or \"resend\": true")
        }
        // A key may have a look-up next to it, for when it is no longer valid.
        let isFine = ways.count < 2 || (ways.count == 2 && ways[0] == "key" && ways[1] != "resend")
        if !isFine, let place = reader.place(of: ways[1]) {
            reader.findings.report(
                place, "'once' has more than one way: \(ways.joined(separator: ", "))",
                hint: "keep one; beside \"key\" a \"name\" or \"match\" may stand for when the key is too old")
        }
        for (dependent, owner) in [("quoted", "key"), ("valid", "key"), ("ours", "name"), ("missing", "name")]
        where reader.has(dependent) && !reader.has(owner) {
            guard let place = reader.place(of: dependent) else { continue }
            reader.findings.report(place, "'\(dependent)' has a meaning only beside '\(owner)'")
        }
    }
}

/// The table of the fields of `once.match`.
private struct MatchFields: Sendable {
    let list: Field<RequestDefinition>
    let items = Field(
        "items", FieldType<PageItems>.pageItems, required: true,
        "The entries of the list, on each page. A page without the list shows nothing; $.jobs? says that an empty one is left out."
    )
    let condition: Field<Expression>
    let then: Field<RequestDefinition>

    init(_ roots: AllowedRoots, decorators: DecoratorCatalogue) {
        let options = RequestDefinition.Options(declaresCaptures: false, allowsPages: true)
        list = Field(
            "list", RequestDefinition.type(roots, decorators: decorators, options: options), required: true,
            "Gives the list.")
        condition = Field(
            "where", .expression(roots.union(.item)), required: true, "Whether an entry, 'item', is the one.")
        then = Field(
            "then",
            RequestDefinition.type(
                roots.union(.item), decorators: decorators, options: .init(declaresCaptures: false)),
            "Fetches the one found.")
    }

    var type: FieldType<OnceDefinition.LookUp> {
        .object([list, items, condition, then]) { reader in
            let list = reader.required(list)
            let items = reader.required(items)
            let condition = reader.required(condition)
            let then = reader.optional(then)
            guard let list, let items, let condition else { return nil }
            return .match(
                list, items: items, condition: condition, then: then)
        }
    }
}
