import ArgumentParser
import JSONPath
import PipelineCore
import PipelineKit

/// `pipeline dashboard`: opens the pages of the jobs, served by the background owner where it does that, else by a program
/// of its own, so that no other command pays for its server.
struct DashboardCommand: WorkspaceCommand {
    static let configuration = CommandConfiguration(
        commandName: "dashboard", abstract: "Open the jobs in a browser.",
        discussion: """
            Prints a link that works once, and opens it where there is a desktop. It listens on this machine alone, and \
            shows without changing anything. Where 'pipeline daemon --dashboard' or a worker of this state folder serves \
            the pages, that is asked for a link, unless --listen says to serve them here too; how they are served is up \
            to its options then.

            Example: pipeline dashboard
            Example: pipeline dashboard --listen 127.0.0.1:8700 --actions
            """)

    @OptionGroup var common: CommonOptions

    @Option(help: ArgumentHelp("Where to listen; loopback and any port by default.", valueName: "addr"))
    var listen: String?

    @OptionGroup var pages: PageOptions

    @Flag(help: "Print the link, and open no browser.")
    var printOnly = false

    func run(in workspace: Workspace, console: Console) async throws -> ExitStatus {
        if listen == nil, let answer = try? BackgroundOwner(settings: workspace.settings).ask(.dashboard),
            let link = answer["link"]?.string,
            answer["journal"]?.string == workspace.settings.journalPlace
        {
            if let option = pages.arguments.first {
                console.note(
                    "\(option) does nothing here: the background owner serves the pages; give it to 'pipeline daemon' or "
                        + "the worker, or serve pages of your own with --listen 127.0.0.1:0")
            }
            console.data(link)
            if !printOnly { Browser.open(link, environment: workspace.settings.environment) }
            return .succeeded
        }
        var arguments = ["dashboard", "--state-dir", workspace.settings.stateFolder]
        if let listen { arguments += ["--listen", listen] }
        if printOnly { arguments.append("--print-only") }
        try BackgroundOwner.become(arguments + pages.arguments, workspace.settings)
    }
}

/// The options of how the pages of the jobs are served.
struct PageOptions: ParsableArguments {
    @Flag(help: "Let the pages retry, cancel, pause and resume jobs.")
    var actions = false

    @Option(
        help: ArgumentHelp("The file of the token that programs bring as a Bearer.", valueName: "file"),
        completion: .file())
    var tokenFile: String?

    @Option(help: ArgumentHelp("What stands before every path, behind a proxy that keeps it.", valueName: "path"))
    var basePath: String?

    @Option(help: ArgumentHelp("A host that a proxy in front of the pages names.", valueName: "host"))
    var allowHost: [String] = []

    /// For the program that serves.
    var arguments: [String] {
        (actions ? ["--actions"] : [])
            + (tokenFile.map { ["--token-file", AbsolutePath.of($0, in: AbsolutePath.workingDirectory)] } ?? [])
            + (basePath.map { ["--base-path", $0] } ?? []) + allowHost.flatMap { ["--allow-host", $0] }
    }
}
