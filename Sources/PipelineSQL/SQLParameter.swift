/// A value of a statement's parameter, for databases that take values one by one.
package enum SQLParameter: Sendable, Hashable {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    /// A text in UTF-8 that was never a string.
    case utf8([UInt8])
    case blob([UInt8])
}
