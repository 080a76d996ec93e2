import ArgumentParser

/// The root: names the commands, does nothing itself.
struct RootCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pipeline", abstract: "Runs jobs made of network stages: upload, compute, download.",
        discussion: """
            A pipeline is a JSON file. 'pipeline run FILE' starts a job and stays with it; whatever stops it, \
            'pipeline resume' goes on where it was. 'pipeline help' has pages on format, expressions, exit-codes and \
            environment.

            Example: pipeline run selfie.json -i video=me.y4m
            """,
        version: ProgramVersion.text,
        subcommands: [
            RunCommand.self, ResumeCommand.self, ListCommand.self, ShowCommand.self, ResultsCommand.self,
            LogsCommand.self,
            CancelCommand.self, PauseCommand.self, RetryCommand.self, ResolveCommand.self, RemoveCommand.self,
            ValidateCommand.self,
            PlanCommand.self, TestCommand.self, SchemaCommand.self, InitCommand.self,
            BudgetCommand.self, StatsCommand.self,
            WatchCommand.self, WhyCommand.self, PruneCommand.self, DoctorCommand.self, PluginsCommand.self,
            DaemonCommand.self, DashboardCommand.self, WorkerCommand.self, WorkersCommand.self, JournalCommand.self,
            SignalCommand.self,
            ConfigCommand.self, CompletionsCommand.self, ManualCommand.self,
        ])
}
