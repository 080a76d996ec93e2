import ArgumentParser
import PipelineCore

/// The options of how jobs are run that a command starts or goes on with, and of what is shown of them.
struct DrivingOptions: ParsableArguments {
    @Flag(help: "Replace files that exist.")
    var overwrite = false

    @Flag(
        help: "Hand the job, with the values of its secrets, to the background owner and end; its id is printed.")
    var detach = false

    @Flag(help: "Stay with the job, but let it behave, and go on after a crash, as in the background.")
    var background = false

    @Flag(
        help: ArgumentHelp(
            "Count as attended though no terminal is there.",
            discussion: """
                A job is attended when standard input, output or error is a terminal, or with this flag, and never with \
                --background or --detach. What nobody attends to is held back as the document's 'background' says; a \
                document without it is run as if attended.
                """))
    var attended = false

    @OptionGroup var trace: TraceOptions

    @Flag(help: "Write events as JSON Lines.")
    var json = false

    var mode: JobMode { background || detach ? .background : .attached }

    func validate() throws {
        guard attended, mode == .background else { return }
        throw ValidationError(
            "--attended says that a person waits for the job, \(detach ? "--detach" : "--background") that nobody does: "
                + "give one of them.")
    }

    /// Returns whether a person waits for the command; nobody does for a job in the background.
    func interactivity(_ console: Console) -> Interactivity {
        Interactivity(hasTerminal: console.hasTerminal && mode == .attached, isAsserted: attended)
    }

    func session(_ common: CommonOptions, _ console: Console) -> JobSession.Options {
        JobSession.Options(
            isJSON: json, isPlain: common.plain, overwrites: overwrite, interactivity: interactivity(console),
            mode: mode, verbosity: trace.verbose)
    }
}

/// The values of a job's secret inputs, given again.
struct SecretInputOptions: ParsableArguments {
    @Option(
        name: [.customShort("i"), .customLong("input")],
        help: ArgumentHelp(
            "The value of a secret input, which is kept nowhere; @PATH reads a file, @- standard input.",
            valueName: "name=value"),
        completion: .secretInputs)
    var input: [String] = []

    func validate() throws { try StandardInput.check(InputOptions.pipes(input)) }

    /// The values that were given, for all jobs of the command.
    var assignments: SecretAssignments { SecretAssignments(input) }
}
