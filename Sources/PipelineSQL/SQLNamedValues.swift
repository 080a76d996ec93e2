/// The values of a statement's parameters by their names, without the colon: `["job": 7, "stage": "upload"]`.
///
/// Places lead to them, so that each is bound where it lies: what goes through a dictionary's pairs is copied first.
package struct SQLNamedValues<Value>: ExpressibleByDictionaryLiteral {
    /// The names and values, in the order in which they were written.
    package let pairs: [(String, Value)]

    @inlinable package init(dictionaryLiteral pairs: (String, Value)...) { self.pairs = pairs }
}
