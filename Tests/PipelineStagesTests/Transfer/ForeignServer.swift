import Foundation
import Testing

/// A server that others wrote, run by a Python that has it: that of the tests' own virtual environment, which
/// `.scripts/peers` makes, or the one that `PIPELINE_TEST_PYTHON` names.
final class ForeignServer {
    private let process = Process()
    let url: String

    /// The interpreter; nil where there is none, and in continuous integration.
    static let python: String? = {
        let environment = ProcessInfo.processInfo.environment
        if let named = environment["PIPELINE_TEST_PYTHON"] { return named }
        let folder = "\(root)/.build/peers"
        let isComplete = FileManager.default.fileExists(atPath: "\(folder)/complete")
        return isComplete && environment["CI"] == nil ? "\(folder)/bin/python" : nil
    }()
    static let isAvailable = python != nil

    /// The package's folder.
    private static let root = #filePath.components(separatedBy: "/Tests/").dropLast().joined(separator: "/Tests/")

    static var howTo: Testing.Comment { "needs servers that others wrote: 'make peers' gets them from PyPI" }

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
