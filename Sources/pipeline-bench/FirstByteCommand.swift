import ArgumentParser
import CLibrary

/// The time that it takes from the start of a command until its first byte arrives at a server on loopback.
struct FirstByteCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "first-byte", abstract: "Run a command that talks to $SERVER; print the time to its first byte.")

    @Argument(help: "A shell command; SERVER in it stands for the URL.") var command: String
    @Option(help: "Runs.") var runs = 15
    @Option(help: "What stands before the line.") var title = ""

    func run() throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { raw in
                bind(listener, raw, length) == 0 && listen(listener, 16) == 0
                    && getsockname(listener, raw, &length) == 0
            }
        }
        guard isBound else { throw BenchFailure(end: "no socket") }
        let url = "http://127.0.0.1:\(UInt16(bigEndian: address.sin_port))"
        let times = (0...runs).map { _ in Self.measure(listener, command.replacing("SERVER", with: url)) }
        // The first run warms the caches.
        print("\(title): \(text(Array(times.dropFirst()).median * 1000, 1)) ms")
    }

    private static func measure(_ listener: Int32, _ command: String) -> Double {
        let started = Measured.now()
        let process = Measured.spawn(command)
        let connection = accept(listener, nil, nil)
        var buffer = [UInt8](repeating: 0, count: 65536)
        _ = recv(connection, &buffer, buffer.count, 0)
        let time = Measured.now() - started
        let answer = Array("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}".utf8)
        _ = send(connection, answer, answer.count, Int32(MSG_NOSIGNAL))
        close(connection)
        var status: Int32 = 0
        waitpid(process, &status, 0)
        return time
    }
}
