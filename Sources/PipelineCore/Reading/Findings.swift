public import JSONPath

/// What reading a document brings to light: its mistakes, the expressions it uses, the captures it makes.
///
/// One object goes through the whole reading of one document, on one thread; it is never kept.
public final class Findings {
    /// The document's bytes, to find the character of an escaped string that a mistake is at.
    public let source: SourceText
    /// The mistakes so far.
    public private(set) var diagnostics: [Diagnostic] = []
    /// Every expression read so far, with the roots that its place allows.
    public private(set) var uses: [ReferenceUse] = []
    /// The captures that the stage being read makes.
    public private(set) var captures: [CaptureDeclaration] = []

    public init(source: SourceText) { self.source = source }

    /// Notes a mistake at a place.
    public func report(_ place: Place, _ message: String, hint: String? = nil) {
        report(range: place.node.range, pointer: place.pointer, message, hint: hint)
    }

    /// Notes a mistake at a stretch of the source, such as a member's name or a part of a string.
    public func report(range: SourceRange, pointer: String, _ message: String, hint: String? = nil) {
        let diagnostic = Diagnostic(range: range, pointer: pointer, message: message, hint: hint)
        if !diagnostics.contains(diagnostic) { diagnostics.append(diagnostic) }
    }

    /// Notes the references of an expression, to be checked when all stages are known.
    public func use(_ references: [Reference], roots: AllowedRoots, at place: Place) {
        for reference in references { uses.append(ReferenceUse(reference: reference, roots: roots, place: place)) }
    }

    /// Notes that the stage being read makes a capture.
    public func declare(_ capture: CaptureDeclaration) {
        captures.removeAll { $0.name == capture.name }
        captures.append(capture)
    }

    /// Hands over the uses and captures since the last call: those of one stage.
    func takeStageFindings() -> (uses: [ReferenceUse], captures: [CaptureDeclaration]) {
        defer {
            uses = []
            captures = []
        }
        return (uses, captures)
    }
}

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

/// A reference with where it stands and what may be referred to there.
public struct ReferenceUse: Sendable {
    public let reference: Reference
    public let roots: AllowedRoots
    public let place: Place
}

/// Which roots of expressions make sense at a place, beyond those that always do.
public struct AllowedRoots: OptionSet, Sendable, Hashable {
    public let rawValue: Int
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// `stages.ID.X`
    public static let stages = AllowedRoots(rawValue: 1)
    /// `self.X`, `self.key`, `self.callbackURL`
    public static let own = AllowedRoots(rawValue: 2)
    /// `response.…`
    public static let response = AllowedRoots(rawValue: 4)
    /// `item`, though the stage has no `forEach`
    public static let item = AllowedRoots(rawValue: 8)
    /// `part.…`
    public static let part = AllowedRoots(rawValue: 16)
    /// `secrets.X`
    public static let secrets = AllowedRoots(rawValue: 32)
    /// `job.…`
    public static let job = AllowedRoots(rawValue: 64)

    /// What a template of a stage's request may read.
    public static let request: AllowedRoots = [.stages, .own, .secrets, .job]
    /// What an expression that judges an answer may read.
    public static let judgement: AllowedRoots = [.stages, .own, .secrets, .job, .response]
    /// What a service's or the pipeline's own template may read.
    public static let service: AllowedRoots = [.secrets, .job]
}
