import Foundation
import PipelineTestKit
import Testing

/// A real terminal: a window of tmux of a server of its own, in which a shell command runs.
final class Terminal: Sendable {
    /// Where tmux is; nil where it is not installed, and tests that need it are left out.
    static let program = ["/usr/bin/tmux", "/usr/local/bin/tmux", "/opt/homebrew/bin/tmux"]
        .first { FileManager.default.isExecutableFile(atPath: $0) }
    static let isMissing = program == nil && ProcessInfo.processInfo.environment["CI"] == nil

    struct Timeout: Error, CustomStringConvertible {
        let description: String
    }

    let folder: String
    private let tmux: BuiltProgram
    private let socket: String

    /// - Parameter command: what the window's shell runs; the window stays when it has ended.
    init(_ command: String, columns: Int = 100, rows: Int = 24, environment: [String: String] = [:]) async throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "terminal-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        tmux = BuiltProgram(path: try #require(Self.program, "tmux is not installed"))
        socket = folder + "/tmux"
        let products = try BuiltProgram.productFolder()
        let own = [
            "PATH": "\(products):/usr/bin:/bin", "TERM": "screen-256color", "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8",
            "SHELL": "/bin/sh",
        ]
        let variables = BuiltProgram.environment(home: folder, own.merging(environment) { $1 })
        let end = try await tmux.run(
            [
                "-u", "-S", socket, "-f", "/dev/null", "new-session", "-d", "-x", "\(columns)", "-y", "\(rows)",
                "trap : INT\n\(command)\necho \"ended with $?\"; exec cat",
            ], environment: variables, folder: folder)
        guard end.cause == .exited(0) else { throw Timeout(description: "\(end)") }
    }

    /// Returns what the window shows, without blank lines at the end.
    func screen(colors: Bool = false) async throws -> [String] {
        let end = try await run(["capture-pane", "-p"] + (colors ? ["-e"] : []))
        var lines = end.output.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        while lines.last?.allSatisfy(\.isWhitespace) == true { lines.removeLast() }
        return lines
    }

    /// The screen as soon as it is as wanted.
    func screen(
        colors: Bool = false, within limit: Duration = .seconds(30), where isWanted: ([String]) -> Bool
    ) async throws -> [String] {
        let start = ContinuousClock.now
        while true {
            let lines = try await screen(colors: colors)
            if isWanted(lines) { return lines }
            guard ContinuousClock.now - start < limit else {
                throw Timeout(description: "the screen is still\n" + lines.joined(separator: "\n"))
            }
        }
    }

    func resize(columns: Int, rows: Int) async throws {
        _ = try await run(["resize-window", "-x", "\(columns)", "-y", "\(rows)"])
    }

    /// Presses keys, by tmux's names for them.
    func type(_ keys: String, literally: Bool = false) async throws {
        _ = try await run(["send-keys"] + (literally ? ["-l", "--"] : []) + [keys])
    }

    func write(_ name: String, _ text: String) throws {
        try text.write(toFile: "\(folder)/\(name)", atomically: true, encoding: .utf8)
    }

    /// Ends the window and all that runs in it.
    func close() async {
        _ = try? await run(["kill-server"])
        try? FileManager.default.removeItem(atPath: folder)
    }

    private func run(_ arguments: [String]) async throws -> ProgramEnd {
        let environment = ["LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "PATH": "/usr/bin:/bin"]
        return try await tmux.run(["-u", "-S", socket] + arguments, environment: environment)
    }
}
