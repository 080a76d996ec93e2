import CLibrary
import CSpawn

/// A process that this one did not start, such as one that a program left behind.
package struct ForeignProcess: Sendable {
    package let processID: Int32

    package init(_ processID: Int32) { self.processID = processID }

    package var isRunning: Bool { kill(processID, 0) == 0 }

    /// Sends a signal and returns when the process has ended.
    package func end(by signal: Int32) async {
        // Held before the signal: the number may be another's once it has ended.
        let descriptor = spawn_watch_process(processID)
        kill(processID, signal)
        guard descriptor >= 0 else { return }
        let ended = Gate()
        LoopbackServer.startThread {
            var waits = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            while poll(&waits, 1, -1) < 0, errno == EINTR {}
            close(descriptor)
            ended.open()
        }
        await ended.wait()
    }
}
