public import FoundationEssentials

/// A value of a back end that travels as JSON.
public protocol Model: Codable, DataConvertible {}

extension Model {
    /// Reads the body as JSON; throws with the path of the member that does not fit.
    public init(body: [UInt8]) throws(ConversionFailure) {
        self = try ModelMistake.decoded(Self.self, from: body)
    }
}

/// A value that comes as a JSON array of models: `[Release]` where `Release` is a ``Model``.
///
/// A protocol of its own, as an array can be ``DataConvertible`` in one way only, and `[UInt8]` is.
public protocol ModelArray: Sendable {
    /// Makes the models of a whole body, which is a JSON array.
    init(models: [UInt8]) throws(ConversionFailure)
}

extension Array: ModelArray where Element: Model {
    /// Reads the body as a JSON array of models.
    public init(models body: [UInt8]) throws(ConversionFailure) {
        self = try ModelMistake.decoded([Element].self, from: body)
    }
}

extension Data: DataConvertible {
    /// The body as it is.
    public init(body: [UInt8]) { self.init(body) }
}

extension RequestBody {
    /// A model as JSON; the `Content-Type` is the template's to say.
    public static func json(_ model: some Encodable) throws(RequestFailure) -> RequestBody {
        do {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            return .bytes(Array(try encoder.encode(model)))
        } catch {
            throw RequestFailure("the body can't be written as JSON: \(ModelMistake.text(of: error))")
        }
    }
}

/// The meaning of a coder's error, without names of Swift types.
enum ModelMistake {
    static func decoded<Value: Decodable>(_ type: Value.Type, from body: [UInt8]) throws(ConversionFailure) -> Value {
        do {
            return try JSONDecoder().decode(type, from: Data(body))
        } catch {
            throw ConversionFailure("the answer is not the JSON that was expected: \(text(of: error))")
        }
    }

    static func text(of error: any Error) -> String {
        switch error {
        case DecodingError.keyNotFound(let key, let context):
            "\(place(context.codingPath)) lacks \"\(key.stringValue)\""
        case DecodingError.typeMismatch(_, let context): "\(place(context.codingPath)) is of another kind"
        case DecodingError.valueNotFound(_, let context): "\(place(context.codingPath)) is null"
        case DecodingError.dataCorrupted(let context): "\(place(context.codingPath)) can't be read"
        case EncodingError.invalidValue(_, let context): "\(place(context.codingPath)) has no form in JSON"
        default: "it can't be converted"
        }
    }

    private static func place(_ path: [any CodingKey]) -> String {
        path.isEmpty
            ? "the document" : "/" + path.map { $0.intValue.map(String.init) ?? $0.stringValue }.joined(separator: "/")
    }
}
