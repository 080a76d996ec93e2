/// A value that a stage gives to later ones.
public struct CaptureDeclaration: Sendable, Hashable {
    /// The name by which later stages read it.
    public let name: String
    /// True if it is redacted wherever it is shown.
    public let isSecret: Bool
    /// True if a submit makes it, so that a person who reconciles a lost one gives it.
    public let isSubmitted: Bool
    /// True if it is a result of what was submitted, which may be had later where the place to ask for it is known.
    package var isResult = false
    /// True if its author lets it be null.
    package var isOptional = false
    /// True if it is a text whatever the response says, as a header is.
    package private(set) var isText = false

    /// Declares a capture, so that a document which reads another name is refused when it is planned.
    ///
    /// - Parameters:
    ///   - isSecret: true for a value that is sealed in the journal and redacted wherever it would be shown.
    ///   - isSubmitted: true for one that a submit makes: a person who reconciles a lost submit gives it.
    public init(name: String, isSecret: Bool = false, isSubmitted: Bool = false) {
        self.name = name
        self.isSecret = isSecret
        self.isSubmitted = isSubmitted
    }

    /// Declares what a selector captures.
    package init(_ entry: CaptureSet.Entry, isSubmitted: Bool = false) {
        self.init(name: entry.name, isSecret: entry.selector.isSecret, isSubmitted: isSubmitted)
        isOptional = entry.selector.isOptional
        isText = entry.selector.givesText
    }
}
