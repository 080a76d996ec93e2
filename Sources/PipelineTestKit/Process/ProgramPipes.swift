import CLibrary
import CSpawn

/// The pipes of a program's outputs, and its start with them.
final class ProgramPipes: Sendable {
    private let output: (read: Int32, write: Int32)
    private let errors: (read: Int32, write: Int32)

    init() throws(BuiltProgram.StartError) {
        output = try Self.pipe()
        errors = try Self.pipe()
    }

    deinit {
        close(output.read)
        close(errors.read)
    }

    /// Starts the program with no descriptors but its three streams; nothing comes on standard input.
    func spawn(
        _ path: String, _ arguments: [String], environment: [String: String], folder: String?
    ) throws(BuiltProgram.StartError) -> pid_t {
        defer {
            close(output.write)
            close(errors.write)
        }
        return try Self.withStrings([path] + arguments) { words throws(BuiltProgram.StartError) in
            try Self.withStrings(environment.map { "\($0.key)=\($0.value)" }) {
                variables throws(BuiltProgram.StartError) in
                var process = pid_t()
                let code = spawn_program(&process, path, words, variables, folder, output.write, errors.write)
                guard code == 0 else {
                    throw BuiltProgram.StartError(description: "\(path): \(String(cString: strerror(code)))")
                }
                return process
            }
        }
    }

    /// Reads both pipes until nobody can write to them any more.
    func read(_ collect: (ArraySlice<UInt8>, _ isError: Bool) -> Void) {
        var waits = [output.read, errors.read].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while waits.contains(where: { $0.fd >= 0 }) {
            if poll(&waits, nfds_t(waits.count), -1) < 0 { continue }
            for index in waits.indices where waits[index].fd >= 0 && waits[index].revents != 0 {
                let count = systemRead(waits[index].fd, &buffer)
                if count > 0 { collect(buffer[..<count], index == 1) }
                if count == 0 || count < 0 && errno != EINTR { waits[index].fd = -1 }
            }
        }
    }

    private func systemRead(_ descriptor: Int32, _ buffer: inout [UInt8]) -> Int {
        CLibrary.read(descriptor, &buffer, buffer.count)
    }

    private static func pipe() throws(BuiltProgram.StartError) -> (read: Int32, write: Int32) {
        var ends: [Int32] = [-1, -1]
        let code = spawn_pipe(&ends)
        guard code == 0 else {
            throw BuiltProgram.StartError(description: "no pipe: \(String(cString: strerror(code)))")
        }
        return (ends[0], ends[1])
    }

    private static func withStrings<Value>(
        _ strings: [String], _ body: ([UnsafeMutablePointer<CChar>?]) throws(BuiltProgram.StartError) -> Value
    ) throws(BuiltProgram.StartError) -> Value {
        let pointers = strings.map { strdup($0) }
        defer { for pointer in pointers { free(pointer) } }
        return try body(pointers + [nil])
    }
}
