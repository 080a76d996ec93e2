/// A reference with where it stands and what may be referred to there.
public struct ReferenceUse: Sendable {
    public let reference: Reference
    public let roots: AllowedRoots
    public let place: SourceLocation
}
