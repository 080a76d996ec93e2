import Assertions
import PipelineCore

extension JournalFailure {
    /// Reports something that can't happen, and is what the call throws then: nothing of it is kept.
    static func mistake(
        _ message: String, file: StaticString = #fileID, line: UInt = #line
    ) -> JournalFailure {
        Assertions.fail(message, file: file, line: line)
        return .other(message)
    }
}
