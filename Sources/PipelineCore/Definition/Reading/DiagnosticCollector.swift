public import JSONPath

/// The collector of what reading a document brings to light: its mistakes, the expressions it uses, the captures it
/// makes.
///
/// One object goes through the whole reading of one document, on one thread; it is never kept.
public final class DiagnosticCollector {
    /// The document's bytes, to find the character of an escaped string that a mistake is at.
    package let source: SourceText
    /// The sinks that entries of `notify` may name beyond those of the format.
    let sinks: [NotificationSinkKind]
    /// True for the document of a job that was begun, which nobody can mend any more.
    private let isBegun: Bool
    /// The mistakes so far.
    package private(set) var diagnostics: [Diagnostic] = []
    /// The warnings so far, each of what is most likely a mistake. The document is valid all the same.
    package private(set) var warnings: [Diagnostic] = []
    /// Every expression read so far, with the roots that its place allows.
    package private(set) var uses: [ReferenceUse] = []
    /// True if something read so far names a local file by itself, whatever the job's inputs and stages give.
    private(set) var namesFiles = false
    /// The names of the inputs whose values are secrets, once they are read: before all that may read them.
    var secretInputs: Set<String> = []
    /// The captures that the stage being read makes.
    package private(set) var captures: [CaptureDeclaration] = []

    /// The values that are to be checked once they are known, of the stage being read.
    private(set) var checks: [SettingCheck] = []

    private var known: Set<Diagnostic> = []
    private var capturePositions: [String: Int] = [:]

    package convenience init(source: SourceText) { self.init(source: source, sinks: []) }

    init(source: SourceText, sinks: [NotificationSinkKind], isBegun: Bool = false) {
        self.source = source
        self.sinks = sinks
        self.isBegun = isBegun
    }

    /// Notes a mistake at a place. Of an array or object of several lines only the opening bracket is marked.
    public func report(_ place: SourceLocation, _ message: String, hint: String? = nil) {
        report(range: marked(place.node), pointer: place.pointer, message, hint: hint)
    }

    /// Notes a mistake at a stretch of the source, such as a member's name or a part of a string. One that was noted
    /// already, for example in a service that several stages name, is not noted again.
    public func report(range: SourceRange, pointer: String, _ message: String, hint: String? = nil) {
        let diagnostic = Diagnostic(range: range, pointer: pointer, message: message, hint: hint)
        if known.insert(diagnostic).inserted { diagnostics.append(diagnostic) }
    }

    /// Notes the mistakes that a schema found.
    package func report(_ mistakes: [Diagnostic]) {
        for mistake in mistakes {
            report(range: mistake.range, pointer: mistake.pointer, mistake.message, hint: mistake.hint)
        }
    }

    /// Notes a mistake that earlier versions took for none: a warning in the document of a job that was begun.
    package func reportLately(range: SourceRange, pointer: String, _ message: String, hint: String? = nil) {
        guard isBegun else { return report(range: range, pointer: pointer, message, hint: hint) }
        warn(range: range, pointer: pointer, message, hint: hint)
    }

    /// Notes at a place what is most likely a mistake, though the document is valid.
    public func warn(_ place: SourceLocation, _ message: String, hint: String? = nil) {
        warn(range: marked(place.node), pointer: place.pointer, message, hint: hint)
    }

    /// Notes at a stretch of the source what is most likely a mistake, though the document is valid.
    public func warn(range: SourceRange, pointer: String, _ message: String, hint: String? = nil) {
        let diagnostic = Diagnostic(range: range, pointer: pointer, message: message, hint: hint, isWarning: true)
        if known.insert(diagnostic).inserted { warnings.append(diagnostic) }
    }

    /// Takes back the mistakes from a number of them on: what stood there was only a guess.
    func withdraw(from count: Int) {
        for diagnostic in diagnostics[count...] { known.remove(diagnostic) }
        diagnostics.removeSubrange(count...)
    }

    private func marked(_ node: JSONNode) -> SourceRange {
        guard node.content.isObject || node.content.isArray else { return node.range }
        let shown = source.bytes[node.range.start..<min(node.range.end, node.range.start + 100)]
        let isShort = shown.endIndex == node.range.end && !shown.contains(0x0A) && !shown.contains(0x0D)
        return isShort ? node.range : SourceRange(start: node.range.start, end: node.range.start + 1)
    }

    /// Notes the references of an expression, to be checked when all stages are known.
    ///
    /// - Parameter namesFile: true if it reads a local file that it names itself.
    package func use(_ references: [Reference], namesFile: Bool, roots: AllowedRoots, at place: SourceLocation) {
        if namesFile { namesFiles = true }
        for reference in references where reference.root == .response("status") && reference.isComparedWithText {
            warn(
                range: reference.range, pointer: place.pointer,
                "response.status is the number of the HTTP status, which equals no text",
                hint: "a number is written without quotes; what the body says is response.body.status, for instance")
        }
        for reference in references { uses.append(ReferenceUse(reference: reference, roots: roots, place: place)) }
    }

    /// Returns whether a value is a secret of the person's. One that an answer gave is not.
    package func isSecret(_ reference: Reference) -> Bool {
        switch reference.root {
        case .secret: true
        case .input(let name): secretInputs.contains(name)
        default: false
        }
    }

    /// Notes a value that an expression gives. One that depends on nothing is checked at once.
    func check(_ check: SettingCheck, roots: AllowedRoots, at place: SourceLocation) {
        if roots == .known, check.asksOutside {
            return report(
                place,
                "this is needed before any file is read: no size(), digest(), text(), jsonLines(), now() or uuid()",
                hint: "give the value as an input")
        }
        guard check.isConstant else { return checks.append(check) }
        if let mistake = check.mistake(in: Scope()) { report(place, mistake.message, hint: mistake.hint) }
    }

    /// Notes that the stage being read makes a capture; of the same name the later one counts.
    public func declare(_ capture: CaptureDeclaration) {
        if let position = capturePositions[capture.name] {
            captures[position] = capture
        } else {
            capturePositions[capture.name] = captures.count
            captures.append(capture)
        }
    }

    /// Hands over the checks since the last call: those of one stage.
    func takeChecks() -> [SettingCheck] {
        defer { checks = [] }
        return checks
    }

    /// Hands over the uses and captures since the last call: those of one stage.
    func takeStageFindings() -> (uses: [ReferenceUse], captures: [CaptureDeclaration]) {
        defer {
            uses = []
            captures = []
            capturePositions = [:]
        }
        return (uses, captures)
    }
}
