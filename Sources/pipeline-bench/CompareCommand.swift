import ArgumentParser

/// Runs two commands in turn and prints the ratio of their costs, pair by pair.
struct CompareCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "compare", abstract: "Run two shell commands in turn; print medians and the ratio of each pair.")

    @Argument(help: "What is measured.") var command: String
    @Argument(help: "The peer.") var peer: String
    @Option(help: "Pairs.") var runs = 7
    @Option(help: "What stands before the line.") var title = ""
    @Option(help: "A shell command run before each of the two, not measured.") var before: String?

    @Flag(help: "Without a first pair that warms the caches.") var cold = false

    func run() throws {
        var ours: [Measured] = []
        var theirs: [Measured] = []
        for turn in (cold ? 1 : 0)...runs {
            if let before { _ = Measured.run(before) }
            let first = Measured.run(command)
            if let before { _ = Measured.run(before) }
            let second = Measured.run(peer)
            // The first pair warms the caches.
            if turn > 0 {
                ours.append(first)
                theirs.append(second)
            }
        }
        let failed = (ours + theirs).count { $0.status != 0 }
        func ratio(_ value: (Measured) -> Double) -> String {
            text(zip(ours, theirs).map { value($0) / max(value($1), 1e-9) }.median)
        }
        let cpu = "cpu \(text(ours.map(\.cpu).median, 3)) s, \(ratio(\.cpu)) of the peer's"
        let wall = "wall \(text(ours.map(\.wall).median, 3)) s, \(ratio(\.wall))"
        let memory = "peak \(text(ours.map(\.memory).median, 1)) MiB against \(text(theirs.map(\.memory).median, 1))"
        print("\(title): \(cpu); \(wall); \(memory)\(failed > 0 ? "; \(failed) RUNS FAILED" : "")")
    }
}
