import HTTPTypes
import JSONPath
import PipelineCore
import PipelineHTTP

/// The definition of an upload in parts.
struct PartsDefinition: Sendable {
    /// False where the author's stage only fills what another one has made.
    var creates = true
    /// The request that sends a part; nil for S3's own.
    @IndirectOptional var part: RequestDefinition?
    /// The author's values that are kept of each part, next to its captures.
    var keep = ValueTable()
    /// The request that asks the service which byte comes next; nil when it is not.
    @IndirectOptional var ask: AskDefinition?
    /// The request that ends the upload; nil for S3's own, or for none.
    @IndirectOptional var complete: RequestDefinition?
    /// The request that removes it.
    @IndirectOptional var cancel: RequestDefinition?
    /// Captures of the request that makes the upload.
    var creation = CaptureSet()
    /// The number of parts that are under way at most.
    var parallel = Setting.constant(1)

    /// The names of what is kept of each part, as `self.parts` has them.
    var names: [String] { (part?.capture.names ?? []) + keep.entries.map(\.name) }
}

/// The fields of `part`: a request's, and what is kept of each part.
struct PartFields: Sendable {
    static let roots = AllowedRoots.request.union(.part)

    let request: RequestFields
    let keep: Field<ValueTable>

    init(_ decorators: DecoratorCatalogue) {
        let options = RequestDefinition.Options(allowsPart: true, declaresCaptures: false)
        request = RequestFields(Self.roots, decorators: decorators, options: options)
        keep = Field(
            "keep", .table(Self.roots),
            "Values of each part that stand in self.parts.NAME next to its captures, which are self.NAME here.")
    }

    var type: FieldType<(request: RequestDefinition, keep: ValueTable)> {
        let all = request.all + [keep]
        let table = FieldTable(all)
        return FieldType(schema: request.schema(with: all)) { place, findings in
            guard let reader = ObjectReader(place, table: table, findings: findings) else { return nil }
            let definition = request.read(reader)
            let kept = reader.value(keep, default: ValueTable())
            guard reader.finish(), var definition else { return nil }
            definition.place = place
            return (definition, kept)
        }
    }
}

/// The request that asks a service which byte of an upload comes next.
struct AskDefinition: Sendable {
    /// The meaning of a response.
    enum Meaning: Sendable {
        /// The next byte that is wanted: a number, `N-`, `N-M`, or an array of these, of which the first counts.
        case offset(Selector)
        /// The bytes that are there: a number of bytes, or `bytes=0-M`; none where it says nothing from the beginning.
        case received(Selector)
    }

    let request: RequestDefinition
    let meaning: Meaning

    /// The field that is read, for messages.
    var field: String { if case .offset = meaning { "offset" } else { "received" } }

    static func type(_ decorators: DecoratorCatalogue) -> FieldType<AskDefinition> {
        let fields = RequestFields(
            .request, decorators: decorators, options: RequestDefinition.Options(declaresCaptures: false))
        let offset = Field(
            "offset", FieldType<Selector>.selector,
            "Where the next byte that is wanted stands: a number, N-, N-M, or an array of these.")
        let received = Field(
            "received", FieldType<Selector>.selector, "Where it stands what is there: a number of bytes, or bytes=0-M.")
        let all = fields.all + [offset, received]
        let table = FieldTable(all)
        return FieldType(schema: fields.schema(with: all)) { place, findings in
            guard let reader = ObjectReader(place, table: table, findings: findings) else { return nil }
            let definition = fields.read(reader)
            let wanted = reader.optional(offset)
            let there = reader.optional(received)
            if reader.has("offset") == reader.has("received") {
                findings.report(
                    place,
                    "'ask' needs either \"offset\" or \"received\": where its response says how far the upload is",
                    hint: "\"offset\": \"$.nextExpectedRanges\", or \"received\": \"header:Range\"")
            }
            guard reader.finish(), var definition,
                let meaning = wanted.map(Meaning.offset) ?? there.map(Meaning.received)
            else { return nil }
            definition.place = place
            return AskDefinition(request: definition, meaning: meaning)
        }
    }

    /// Returns whether a response lacks the place where it would say how far the upload is.
    func saysNothing(in answer: ServiceResponse) -> Bool {
        switch meaning {
        case .offset(let selector), .received(let selector): selector.lenientValue(in: answer).isNull
        }
    }

    /// Returns how many bytes of the file a response says are there.
    /// - Parameter known: the number of bytes that it has acknowledged. Only after none does a response that says nothing
    ///   mean that nothing is there.
    /// - Returns: nil for what is no such number.
    func position(in answer: ServiceResponse, of total: Int64, after known: Int64 = 0) -> Int64? {
        switch meaning {
        case .offset(let selector):
            let value = selector.lenientValue(in: answer)
            guard case .array(let ranges) = value else { return Self.start(value) }
            // Nothing more is wanted.
            return ranges.isEmpty ? total : Self.start(ranges[0])
        case .received(let selector):
            let value = selector.lenientValue(in: answer)
            if value.isNull { return known == 0 ? 0 : nil }
            guard case .string(let text) = value, let dash = text.firstIndex(of: "-") else { return Self.number(value) }
            let head = text[..<dash].drop { !$0.isNumber }
            guard head == "0", let last = Self.digits(text[text.index(after: dash)...]), last < Int64.max else {
                return nil
            }
            return last + 1
        }
    }

    /// The first byte of `N`, `N-` or `N-M`.
    private static func start(_ value: JSON) -> Int64? {
        guard case .string(let text) = value, let dash = text.firstIndex(of: "-") else { return number(value) }
        return digits(text[..<dash])
    }

    private static func number(_ value: JSON) -> Int64? {
        if case .string(let text) = value { return digits(text[...]) }
        return value.number?.int.flatMap { $0 >= 0 ? Int64($0) : nil }
    }

    private static func digits(_ text: Substring) -> Int64? {
        let trimmed = text.filter { $0 != " " }
        return trimmed.utf8.allSatisfy { (48...57).contains($0) } ? Int64(trimmed) : nil
    }
}
