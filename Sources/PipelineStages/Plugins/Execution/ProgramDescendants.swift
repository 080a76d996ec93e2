import CLibrary
import SystemPackage

/// The processes that a program started and that left its process group (`setsid(2)`), found by a mark in their
/// environment, which they inherit (`proc_pid_environ(5)`).
///
/// One that clears its environment, or belongs to another user, is not found; elsewhere than on Linux none is.
struct ProgramDescendants: Sendable {
    /// The variable that carries the mark.
    static let variable = "PIPELINE_PROGRAM"

    /// Unlike every other run's, also those of other processes.
    let mark: String

    init() { mark = String(UInt64.random(in: .min ... .max), radix: 36) }

    /// Ends those that are left with SIGKILL. One that forks meanwhile is looked for again, some times.
    func kill() {
        #if os(Linux)
            for _ in 0..<8 {
                let found = Self.processes().filter(isMarked)
                if found.isEmpty { return }
                for process in found { _ = SystemCall.kill(process, SIGKILL) }
            }
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
