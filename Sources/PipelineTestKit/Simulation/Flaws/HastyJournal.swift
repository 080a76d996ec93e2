package import PipelineSimulation
package import PipelineCore
import Synchronization

/// Wrong on purpose: acknowledges a commit at once and keeps it later, as a disk with a lying cache does.
package final class HastyJournal: ForwardingJournal {
    private struct State {
        var waiting: [([JournalChange], Lease)] = []
        var isWriting = false
    }

    package let base: any Journal
    private let process: SimulatedProcess
    private let state = Mutex(State())

    package init(_ base: any Journal, of process: SimulatedProcess) {
        self.base = base
        self.process = process
    }

    package func commit(_ changes: [JournalChange], under lease: Lease) async throws(JournalFailure) {
        let begins = state.withLock { state in
            state.waiting.append((changes, lease))
            defer { state.isWriting = true }
            return !state.isWriting
        }
        if begins { process.lane.start { [self] in await write() } }
    }

    private func write() async {
        while true {
            try? await process.clock.sleep(until: process.clock.now + .milliseconds(20))
            let next: ([JournalChange], Lease)? = state.withLock { state in
                if state.waiting.isEmpty || process.isDead { state.isWriting = false }
                return state.isWriting ? state.waiting.removeFirst() : nil
            }
            guard let next else { return }
            try? await base.commit(next.0, under: next.1)
        }
    }
}
