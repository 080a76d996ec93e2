import Synchronization

/// Reports what should never happen: it stops a debug build, and in release it is recorded while the program goes on.
///
/// The recorder is the one global of the package: assertions stand in places that nobody could hand one to.
public enum Assertions {
    private static let recorder = Mutex<(any AssertionRecorder)?>(nil)

    /// Has failures recorded there from now on. An executable calls it once, before anything else can fail.
    public static func use(_ new: any AssertionRecorder) { recorder.withLock { $0 = new } }

    /// Reports that something which should never happen did. The caller goes on as well as it can.
    ///
    /// Without a recorder nothing is kept, and nothing stops: the caller's own error says what happened.
    public static func fail(
        _ message: String, job: String? = nil, step: String? = nil, file: StaticString = #fileID, line: UInt = #line
    ) {
        guard let recorder = recorder.withLock({ $0 }) else { return }
        recorder.record(AssertionFailure(message: message, file: "\(file)", line: Int(line), job: job, step: step))
        if recorder.stopsProgram { fatalError(message, file: file, line: line) }
    }
}
