/// A row of a statement's result, read by the names of its columns (`AS` gives an expression one).
///
/// It is valid until the statement goes on. NULL reads as zero or as the empty text.
package protocol SQLRow {
    /// The database, as an error names it.
    var file: String { get }
    func isNull(_ name: String) -> Bool
    func integer(_ name: String) -> Int64
    func double(_ name: String) -> Double
    func optionalInteger(_ name: String) -> Int64?
    func optionalDouble(_ name: String) -> Double?
    func text(_ name: String) -> String
    func optionalText(_ name: String) -> String?
    func optionalBlob(_ name: String) -> [UInt8]?
    /// Calls the body with the text's bytes in UTF-8, which are valid inside it; nil, and it is not called, for NULL.
    func withUTF8<Value, Failure: Error>(
        _ name: String, _ body: (UnsafeRawBufferPointer) throws(Failure) -> Value
    ) throws(Failure) -> Value?
}

extension SQLRow {
    package func int(_ name: String) -> Int { Int(integer(name)) }
    package func flag(_ name: String) -> Bool { integer(name) != 0 }
    package func optionalInt(_ name: String) -> Int? { optionalInteger(name).map { Int($0) } }
    package func blob(_ name: String) -> [UInt8] { optionalBlob(name) ?? [] }
}
