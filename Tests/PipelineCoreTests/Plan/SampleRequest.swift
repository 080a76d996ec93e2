import JSONPath
import PipelineCore

/// A request with the keys that matter to planning.
enum SampleRequest {
    static let methods = ["GET", "POST", "PUT", "DELETE"]

    static func type(submitted: Bool = false) -> FieldType<Bool> {
        let methods = methods.map { Field($0, FieldType<Template>.template(), "\($0) of this path.") }
        let fields: [any AnyField] = methods + rest + (submitted ? [once] : [])
        return FieldType(schema: schema(fields)) { place, findings in
            guard let reader = ObjectReader(place, table: FieldTable(fields), findings: findings) else { return nil }
            let present = methods.filter { reader.has($0.name) }
            if present.count != 1 {
                reader.findings.report(
                    reader.place,
                    present.isEmpty ? "this request has no method" : "this request has \(present.count) methods",
                    hint: "give it one of " + Self.methods.joined(separator: ", "))
            }
            for field in present { _ = reader.optional(field) }
            _ = reader.optional(json)
            _ = reader.optional(headers)
            _ = reader.optional(timeout)
            _ = reader.optional(fail)
            _ = reader.optional(capture)
            if submitted { _ = reader.optional(once) }
            return reader.finish() ? true : nil
        }
    }

    private static func schema(_ fields: [any AnyField]) -> JSON {
        var schema = fields.objectSchema.object ?? [:]
        schema["oneOf"] = .array(methods.map { ["required": [.string($0)]] })
        return .object(schema)
    }

    private static let json = Field("json", FieldType<JSONTemplate>.json(), "The body.")
    private static let headers = Field(
        "headers", FieldType<[Named<JSONTemplate>]>.map(of: .json()), "Header fields, name → value.")
    private static let timeout = Field("timeout", .duration(), "The longest that it may take.")
    private static let capture = Field("capture", FieldType<CaptureSet>.captures, "Values from the answer.")
    private static let rest: [any AnyField] = [json, headers, timeout, fail, capture]

    private static let condition = Field(
        "when", FieldType<Expression>.expression(.judgement), required: true, examples: ["response.status == 409"],
        "Judges the answer.")
    private static let message = Field("message", FieldType<Template>.template(.judgement), "What is said then.")
    private static let fail = Field(
        "fail",
        FieldType<[Bool]>.array(
            of: .object([condition, message]) { reader in
                _ = reader.optional(message)
                return reader.required(condition).map { _ in true }
            }), "Answers that are failures.")

    private static let key = Field(
        "key", .string, required: true, examples: ["Idempotency-Key"], "The header that carries the key.")
    private static let once = Field(
        "once", FieldType<Bool>.object([key]) { reader in reader.required(key).map { _ in true } },
        "How a lost answer is settled.")
}

/// The poll of a computation.
enum SamplePoll {
    private static let target = Field(
        "GET", FieldType<Template>.template(), required: true, examples: ["/jobs/${{ self.id }}"], "The path.")
    private static let status = Field("status", .string, examples: ["$.state"], "A selector.")
    private static let succeeded = Field("succeeded", FieldType<[String]>.array(of: .string), "Good states.")
    private static let failed = Field("failed", FieldType<[String]>.array(of: .string), "Bad states.")
    private static let progress = Field("progress", .string, "A selector of a percentage.")
    private static let remaining = Field("remaining", .string, "A selector of seconds.")
    private static let until = Field("until", FieldType<Expression>.expression(.judgement), "Whether it is done.")
    private static let every = Field("every", .duration(), "How often.")
    private static let capture = Field("capture", FieldType<CaptureSet>.captures, "Values from the answer.")

    static var type: FieldType<Bool> {
        .object([target, status, succeeded, failed, progress, remaining, until, every, capture]) { reader in
            _ = reader.required(target)
            _ = reader.optional(status)
            _ = reader.optional(succeeded)
            _ = reader.optional(failed)
            _ = reader.optional(progress)
            _ = reader.optional(remaining)
            _ = reader.optional(until)
            _ = reader.optional(every)
            _ = reader.optional(capture)
            return true
        }
    }
}

extension FieldType where Value == CaptureSet {
    /// An object of names and selectors, which later stages may read.
    static var captures: FieldType {
        let selector: JSON = ["type": ["string", "object", "array"]]
        return FieldType(schema: ["type": "object", "additionalProperties": selector]) { place, findings in
            var errors: [SelectorError] = []
            let captures = CaptureSet.parse(place.node, in: findings.source, errors: &errors)
            for error in errors {
                findings.report(range: error.range, pointer: place.pointer, error.message, hint: error.hint)
            }
            for entry in captures.entries { findings.declare(CaptureDeclaration(name: entry.name)) }
            return errors.isEmpty ? captures : nil
        }
    }
}
