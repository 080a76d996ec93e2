import Foundation
import PipelineTestKit
import Testing

/// What others wrote to read metrics and traces with: promtool, and a Python that has the libraries, of the virtual
/// environment that `.scripts/readers` makes, or the one that `PIPELINE_TEST_READERS` names.
enum ForeignReader {
    static let promtool = "/usr/bin/promtool"
    static let hasPromtool = FileManager.default.isExecutableFile(atPath: promtool)
    static var promtoolHowTo: Testing.Comment { "needs promtool: 'apt-get install prometheus'" }

    static let python: String? = {
        let environment = ProcessInfo.processInfo.environment
        if let named = environment["PIPELINE_TEST_READERS"] { return named }
        let root = #filePath.components(separatedBy: "/Tests/").dropLast().joined(separator: "/Tests/")
        let folder = "\(root)/.build/readers"
        let isComplete = FileManager.default.fileExists(atPath: "\(folder)/complete")
        return isComplete && environment["CI"] == nil ? "\(folder)/bin/python" : nil
    }()
    static var howTo: Testing.Comment { "needs readers that others wrote: 'make readers' gets them from PyPI" }

    /// Runs a script in Python; its standard input is the file.
    static func run(_ script: String, on file: String) async throws -> ProgramEnd {
        let shell = BuiltProgram(path: "/bin/sh")
        return try await shell.run(["-c", "exec \"$0\" -c \"$1\" < \"$2\"", python ?? "python3", script, file])
    }

    /// Has promtool check a page of metrics.
    static func check(_ file: String) async throws -> ProgramEnd {
        let shell = BuiltProgram(path: "/bin/sh")
        return try await shell.run(["-c", "exec \"$0\" check metrics < \"$1\"", promtool, file])
    }
}
