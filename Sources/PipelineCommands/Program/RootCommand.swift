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
        version: ProgramVersion.program,
        // So many that a flat list is not read.
        groupedSubcommands: [
            CommandGroup(
                name: "Job",
                subcommands: [
                    RunCommand.self, ResumeCommand.self, RetryCommand.self, PauseCommand.self, CancelCommand.self,
                    ResolveCommand.self, SignalCommand.self, RemoveCommand.self, PruneCommand.self,
                ]),
            CommandGroup(
                name: "Inspection",
                subcommands: [
                    ListCommand.self, ShowCommand.self, WhyCommand.self, WatchCommand.self, LogsCommand.self,
                    ResultsCommand.self, StatsCommand.self, BudgetCommand.self, DashboardCommand.self,
                ]),
            CommandGroup(
                name: "Document",
                subcommands: [
                    InitCommand.self, ValidateCommand.self, PlanCommand.self, TestCommand.self, SchemaCommand.self,
                ]),
            CommandGroup(
                name: "System",
                subcommands: [
                    DaemonCommand.self, WorkerCommand.self, WorkersCommand.self, JournalCommand.self,
                    DoctorCommand.self, PluginsCommand.self, ConfigCommand.self, CompletionsCommand.self,
                    ManualCommand.self,
                ]),
        ])
}
