import CLibrary
package import ArgumentParser
import Dispatch
import FoundationEssentials

/// `selfie-studio`: serves until SIGTERM or SIGINT comes.
package struct StudioCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "selfie-studio",
        abstract: "Turns video selfies into 3D face models, over HTTP.",
        discussion: """
            Videos come as Y4M, models go as Wavefront OBJ, with a preview and a page that turns it. When it is ready it prints one line, \
            "selfie-studio listening on http://127.0.0.1:PORT". Videos, models and idempotency keys are kept \
            over a restart; models that were not finished are computed again.
            """,
        subcommands: [DrawCommand.self]
    )

    @Option(help: "The port on 127.0.0.1; 0 takes a free one.")
    var port = 8787
    @Option(name: .customLong("data"), help: "The folder to keep everything in (default: in $XDG_STATE_HOME).")
    var dataFolder: String?
    @Option(help: "The bearer token that clients must send.")
    var token = "demo"
    @Option(help: "Scheme and authority in the addresses of uploads, if not http://127.0.0.1:PORT.")
    var origin: String?
    @Option(help: "How many seconds an upload without a connection can be continued.")
    var uploadPatience = 24 * 3600
    @Option(help: "Computations at a time.")
    var workers = 4

    @Option(help: "The least a computation takes, in seconds.")
    var seconds = 0.0
    @Option(help: "How long the answer to POST /models is held back, in seconds.")
    var submitSeconds = 0.0
    @Option(help: "Bytes per second of each upload and download, for example 2MB or 500KiB/s.")
    var rate: ByteCount?

    @Option(help: "Answer 503 with Retry-After to this share of the requests.")
    var failPercent = 0
    @Option(help: "Cut the connection after this many bytes of each transfer, the first time.")
    var cutAfter: ByteCount?
    @Flag(help: "With --cut-after: cut every request of a transfer.")
    var cutEveryTime = false
    @Flag(help: "Let every computation end in an error.")
    var failModels = false
    @Option(help: "Do the work of the first N POST /models, but close the connection instead of answering.")
    var loseAnswers = 0

    @Flag(help: "Also stop when standard input is closed.")
    var exitWithStdin = false

    package init() {}

    package func run() async throws {
        let stop = StopSignals(watchingInput: exitWithStdin)
        try await StudioServer.run(settings) { server in
            try Self.announce("selfie-studio listening on \(server.url)\n")
            await stop.wait()
        }
    }

    var settings: StudioSettings {
        var settings = StudioSettings(dataFolder: dataFolder ?? Self.defaultFolder, port: port, token: token)
        settings.origin = origin
        settings.uploadPatience = uploadPatience
        settings.workers = workers
        settings.minimumSeconds = seconds
        settings.submitSeconds = submitSeconds
        settings.rate = rate?.bytes
        settings.failPercent = failPercent
        settings.cutAfter = cutAfter?.bytes
        settings.cutsEveryTime = cutEveryTime
        settings.failsModels = failModels
        settings.lostAnswers = loseAnswers
        return settings
    }

    package func validate() throws {
        guard (0...65535).contains(port) else { throw ValidationError("--port is 0 to 65535.") }
        guard (0...100).contains(failPercent) else { throw ValidationError("--fail-percent is 0 to 100.") }
        guard seconds >= 0, submitSeconds >= 0 else { throw ValidationError("Seconds can't be negative.") }
    }

    /// XDG Base Directory Specification: `$XDG_STATE_HOME`, or `~/.local/state`.
    private static var defaultFolder: String {
        let environment = ProcessInfo.processInfo.environment
        let state = environment["XDG_STATE_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
        return (state ?? (environment["HOME"] ?? ".") + "/.local/state") + "/selfie-studio"
    }

    /// Past any buffer: somebody waits for this line.
    private static func announce(_ line: String) throws {
        let bytes = Array(line.utf8)
        _ = try DiskError.check("write", "standard output") { CInt(write(1, bytes, bytes.count)) }
    }
}
