/// A place where failed assertions are kept, for the people who mend the program.
///
/// A program that uses this package as a library gives one of its own to ``Assertions/use(_:)``.
public protocol AssertionRecorder: Sendable {
    /// Keeps the failure. From any thread; must not throw away the process, and returns soon.
    func record(_ failure: AssertionFailure)
    /// True if the program is to end after the failure was recorded: what a debug build wants.
    var stopsProgram: Bool { get }
}

extension AssertionRecorder {
    /// True in a debug build.
    public var stopsProgram: Bool {
        #if DEBUG
            true
        #else
            false
        #endif
    }
}
