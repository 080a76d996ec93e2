/// An answer that does not hold what a capture looks for; data that the stage decides by.
///
/// The sentence may quote the answer: it goes through a ``Redactor`` before anybody sees it.
package struct CaptureFailure: Error, Sendable, Hashable {
    /// The capture's name; nil for a selector that stands alone.
    package let capture: String?
    /// The selector as written.
    package let selector: String
    /// The thing that was found instead, as a clause: `$.id matches nothing`.
    package let finding: String
    /// The answer: its status and its URL, without user, query and fragment.
    package let answer: String
    /// A way to mend the selector, when that can be told.
    package let hint: String?

    package init(capture: String? = nil, selector: String, finding: String, answer: String, hint: String? = nil) {
        self.capture = capture
        self.selector = selector
        self.finding = finding
        self.answer = answer
        self.hint = hint
    }

    /// True if several values matched where one is wanted.
    package var isOfSeveral: Bool { finding.hasSuffix(Self.several) }

    /// The end of a finding that is of several values.
    static let several = "matches more than one value"

    /// The whole as one sentence; who shows it shows the body next to it.
    package var sentence: String {
        let start = capture.map { "the capture \"\($0)\": " } ?? ""
        return "\(start)\(finding) in \(answer)"
    }

    func named(_ name: String) -> CaptureFailure {
        CaptureFailure(capture: name, selector: selector, finding: finding, answer: answer, hint: hint)
    }
}
