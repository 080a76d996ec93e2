import Foundation

/// Lets a few tests at a time have programs running: the runner starts all cases at once, a hundred rounds too.
actor Lanes {
    static let shared = Lanes(count: 2 * ProcessInfo.processInfo.activeProcessorCount + 2)

    private var free: Int
    private var waiting: [CheckedContinuation<Void, Never>] = []

    init(count: Int) { free = count }

    func enter() async {
        if free > 0 {
            free -= 1
        } else {
            await withCheckedContinuation { waiting.append($0) }
        }
    }

    /// The lane goes to the one who has waited longest.
    func leave() {
        if waiting.isEmpty { free += 1 } else { waiting.removeFirst().resume() }
    }
}
