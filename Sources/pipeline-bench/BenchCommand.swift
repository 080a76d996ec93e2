import ArgumentParser
import PipelineKit

/// Measures the program against its peers: whole processes side by side, and many jobs in one process.
@main struct BenchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pipeline-bench", abstract: "Measures pipeline; ratios count, not seconds.",
        subcommands: [
            CompareCommand.self, JobsCommand.self, WaitingCommand.self, CancelCommand.self, PostCancelCommand.self,
            PluginsCommand.self, ServeCommand.self, DocumentsCommand.self, PagesCommand.self, TransferCommand.self,
            PathCommand.self, FirstByteCommand.self, EstimatesCommand.self, OwnerCommand.self, CacheCommand.self,
            JournalsCommand.self, BodiesCommand.self, DashboardCommand.self,
        ])

    static func main() async {
        // As the programs that it measures.
        ProcessMemory.share()
        await main(nil)
    }
}
