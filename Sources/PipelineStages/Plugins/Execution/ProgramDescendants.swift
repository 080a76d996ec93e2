import CLibrary
import SystemPackage

/// The processes that a program started and that left its process group (`setsid(2)`), found by a mark in their
/// environment, which they inherit (`proc_pid_environ(5)`).
///
/// One that clears its environment, or belongs to another user, is not found; elsewhere than on Linux none is.
struct ProgramDescendants: Sendable {
    /// The variable that carries the mark.
    static let variable = "PIPELINE_PROGRAM"

    let mark: String

    /// - Parameter mark: nil for one unlike every other run's, also those of other processes.
    init(mark: String? = nil) { self.mark = mark ?? String(UInt64.random(in: .min ... .max), radix: 36) }

    /// Ends those that are left with SIGKILL. One that forks meanwhile is looked for again, some times.
    func kill() {
        for _ in 0..<8 where !killOnce() { return }
    }

    /// Ends what an owner has left that died without ending it, and returns when all of it is gone.
    ///
    /// - Returns: false if some of it still runs after the time.
    func clear(within time: Duration) async -> Bool {
        let end = ContinuousClock.now + time
        while killOnce() {
            guard ContinuousClock.now < end else { return false }
            // Nothing tells when a process ends that is not our child.
            try? await Task.sleep(for: .milliseconds(10))
        }
        return true
    }

    /// Returns whether there was anything to end.
    private func killOnce() -> Bool {
        #if os(Linux)
            let found = Self.processes().filter(isMarked)
            for process in found { _ = SystemCall.kill(process, SIGKILL) }
            return !found.isEmpty
        #else
            return false
        #endif
    }

    private func isMarked(_ process: pid_t) -> Bool {
        guard let file = try? FileDescriptor.open("/proc/\(process)/environ", .readOnly) else { return false }
        defer { try? file.close() }
        let wanted = Array("\(Self.variable)=\(mark)".utf8)
        var (entry, isWhole) = ([UInt8](), true)
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while let count = try? buffer.withUnsafeMutableBytes({ try file.read(into: $0) }), count > 0 {
            for byte in buffer[..<count] {
                if byte == 0 {
                    if isWhole, entry == wanted { return true }
                    entry.removeAll(keepingCapacity: true)
                    isWhole = true
                } else if entry.count <= wanted.count {
                    entry.append(byte)
                } else {
                    isWhole = false
                }
            }
        }
        return isWhole && entry == wanted
    }

    /// The numbers of all processes that are to be seen, without ours.
    private static func processes() -> [pid_t] {
        guard let folder = opendir("/proc") else { return [] }
        defer { closedir(folder) }
        let own = getpid()
        var found: [pid_t] = []
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { name in
                name.withMemoryRebound(to: CChar.self, capacity: 1) { String(cString: $0) }
            }
            if let number = pid_t(name), number != own { found.append(number) }
        }
        return found
    }
}

private enum SystemCall {
    static func kill(_ process: pid_t, _ signal: Int32) -> Int32 {
        CLibrary.kill(process, signal)
    }
}
