/// A reference with where it stands and what may be referred to there.
package struct ReferenceUse: Sendable {
    package let reference: Reference
    package let roots: AllowedRoots
    package let place: SourceLocation
}
