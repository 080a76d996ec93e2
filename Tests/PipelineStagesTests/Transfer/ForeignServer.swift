import Foundation
import Testing

/// A server that others wrote, run by the Python that `PIPELINE_TEST_PYTHON` names.
final class ForeignServer {
    private let process = Process()
    let url: String

    /// The interpreter; nil unless the tests are asked for, which need packages that are not everywhere.
    static let python = ProcessInfo.processInfo.environment["PIPELINE_TEST_PYTHON"]
    static let isAvailable = python != nil

    static var howTo: Testing.Comment {
        "needs PIPELINE_TEST_PYTHON=VENV/bin/python with: pip install tuspyserver uvicorn 'moto[server]' aiohttp-tus"
    }

    /// Runs a script whose first line of output is the port on which it already listens.
    init(_ script: String, _ arguments: String...) throws {
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: Self.python ?? "python3")
        process.arguments = ["-c", script] + arguments
        process.standardOutput = output
        try process.run()
        var line: [UInt8] = []
        while let byte = try output.fileHandleForReading.read(upToCount: 1)?.first, byte != 10 { line.append(byte) }
        url = "http://127.0.0.1:" + String(decoding: line, as: UTF8.self)
    }

    var port: UInt16? { url.split(separator: ":").last.flatMap { UInt16($0) } }

    /// Ends it at once, whatever it is still waiting for.
    func stop() { kill(process.processIdentifier, SIGKILL) }
}
