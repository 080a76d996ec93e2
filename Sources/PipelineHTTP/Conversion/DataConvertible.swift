/// A type that says how it is made from the body of an answer.
public protocol DataConvertible: Sendable {
    /// Makes the value of a whole body, which is decoded already.
    init(body: [UInt8]) throws(ConversionFailure)
}

/// A body that is not what the type needs.
public struct ConversionFailure: Error, Sendable, Equatable {
    /// The mistake in words, in plain English.
    public let message: String

    /// Says why a body is not what was expected.
    public init(_ message: String) {
        self.message = message
    }
}

/// The output of a request whose answer's body does not matter.
public struct Empty: DataConvertible, Equatable {
    /// Reads nothing of the body.
    public init(body: [UInt8]) {}
}

extension String: DataConvertible {
    /// Reads the body as UTF-8; throws if it is none.
    public init(body: [UInt8]) throws(ConversionFailure) {
        guard let text = String(validating: body, as: UTF8.self) else {
            throw ConversionFailure("the answer is not text in UTF-8")
        }
        self = text
    }
}

extension [UInt8]: DataConvertible {
    /// The body as it is.
    public init(body: [UInt8]) { self = body }
}
