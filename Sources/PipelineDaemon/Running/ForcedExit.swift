import Dispatch
import CLibrary

/// The last resort of a process that is to end.
enum ForcedExit {
    /// Ends the process after so many seconds if it has not ended by then.
    static func exit(after seconds: Int) {
        DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(seconds)) { _exit(0) }
    }
}
