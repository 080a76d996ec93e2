import ExampleJournal
import Foundation
import JournalConformance
import PipelineKit

/// An empty journal, and what happens to the processes that use it.
struct ByteWorld: JournalWorld {
    let journal = ByteJournal()

    func open() -> any Journal { journal }
    func kill(_ owner: OwnerID, _ journal: any Journal) { self.journal.lose(owner) }
    func stop(_ owner: OwnerID) { journal.stop(owner) }
    func remove() {}
}

// Without a pipeline file the journal is tried; with one a job of it runs over the journal.
guard let file = CommandLine.arguments.dropFirst().first else {
    let violations = await JournalConformance.violations { ByteWorld() }
    for violation in violations { print(violation) }
    print("\(JournalConformance.all.count) promises, \(violations.count) violations")
    exit(violations.isEmpty ? 0 : 1)
}
do {
    let runner = try JobRunner(journal: ByteJournal(), owner: OwnerID("example"), stateFolder: "state")
    let result = try await runner.run(file)
    print(result.phase)
    for file in result.files { print(file.path) }
} catch let failure as StepFailure {
    print("\(failure.place ?? file): \(failure.title)")
    exit(65)
}
