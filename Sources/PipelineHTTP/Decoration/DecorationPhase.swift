/// The order in which decorators are applied, whatever their place: a later phase sees what the earlier ones made.
public enum DecorationPhase: Int, Sendable, Comparable, CaseIterable {
    /// Headers, query, `Prefer`, multipart, and programs.
    case shape
    case compression
    case digest
    case idempotency
    case credentials
    /// Covers everything before it.
    case signature

    public static func < (left: DecorationPhase, right: DecorationPhase) -> Bool {
        left.rawValue < right.rawValue
    }
}
