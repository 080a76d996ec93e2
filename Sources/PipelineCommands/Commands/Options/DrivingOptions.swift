import ArgumentParser
import PipelineCore

/// How jobs are driven that a command starts or goes on with, and what is shown of them.
struct DrivingOptions: ParsableArguments {
    @Flag(help: "Replace files that exist.")
    var overwrite = false

    @Flag(
        help: "Hand the job, with the values of its secrets, to the background owner and end; its id is printed.")
    var detach = false

    @Flag(help: "Stay with the job, but let it behave, and go on after a crash, as in the background.")
    var background = false

    @Flag(help: "Count as attended though no terminal is there.")
    var attended = false

    @Flag(help: "Write events as JSON Lines.")
    var json = false

    var mode: JobMode { background || detach ? .background : .attached }

    func session(_ common: CommonOptions) -> JobSession.Options {
        JobSession.Options(isJSON: json, isPlain: common.plain, overwrites: overwrite)
    }
}

/// The values of a job's secret inputs, given anew.
struct SecretInputOptions: ParsableArguments {
    @Option(
        name: [.customShort("i"), .customLong("input")],
        help: ArgumentHelp("The value of a secret input, which is kept nowhere.", valueName: "name=value"),
        completion: .secretInputs)
    var input: [String] = []
}
