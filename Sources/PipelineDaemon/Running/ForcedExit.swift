import Dispatch
import CLibrary

/// The last resort of a process that is to end.
enum ForcedExit {
    /// Ends the process after so many seconds if it has not ended by then.
    ///
    /// - Parameters:
    ///   - patience: for how many seconds more at most `isHeld` can put it off.
    ///   - isHeld: asked each second from then on.
    static func exit(after seconds: Int, patience: Int = 65, while isHeld: @escaping @Sendable () -> Bool) {
        DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(seconds)) {
            guard patience > 0, isHeld() else { _exit(0) }
            Self.exit(after: 1, patience: patience - 1, while: isHeld)
        }
    }
}
