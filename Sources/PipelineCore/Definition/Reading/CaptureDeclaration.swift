/// A value that a stage gives to later ones.
public struct CaptureDeclaration: Sendable, Hashable {
    public let name: String
    /// Whether it is redacted wherever it is shown.
    public let isSecret: Bool
    /// Whether a submit makes it, so that a person who settles a lost one gives it.
    public let isSubmitted: Bool

    public init(name: String, isSecret: Bool = false, isSubmitted: Bool = false) {
        self.name = name
        self.isSecret = isSecret
        self.isSubmitted = isSubmitted
    }
}
