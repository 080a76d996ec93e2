/// The distinction whether a person waits for a job that a command stays with: by it the command is driven by the rules
/// of the background or not. Who takes a job up when its owner is gone is another matter: ``JobMode``.
package enum Interactivity: String, Sendable, Hashable, CaseIterable {
    /// A person waits: nothing is held back.
    case attended
    /// Nobody does, as in a script or a nightly run: what the document says of the background holds.
    case unattended

    /// - Parameters:
    ///   - hasTerminal: whether standard input, output or error is one.
    ///   - isAsserted: whether a person is said to be there although there is none.
    package init(hasTerminal: Bool, isAsserted: Bool) {
        self = hasTerminal || isAsserted ? .attended : .unattended
    }

    /// Returns whether a job that runs so is held back as the background is: one that nobody waits for, if its document
    /// says how. What nobody wrote slows down neither a script nor a job of the background.
    package func isHeld(by background: BackgroundDefinition, mode: JobMode) -> Bool {
        background.isStated && (mode == .background || self == .unattended)
    }
}
