public import PipelineCore
import PipelineJournal

/// A journal as programs use it: the port of the engine, and what is done to the store as a whole.
public protocol WorkspaceJournal: Journal, BackgroundHistory {
    /// The name under which this process owns jobs.
    var owner: OwnerID { get }
    /// Everything that is wrong with the store, a sentence each; empty when all is well.
    func checkIntegrity() async throws(JournalFailure) -> [String]
    /// Writes a whole copy of the store, while it is in use.
    func backup(to path: String) async throws(JournalFailure)
}

extension SQLiteJournal: WorkspaceJournal {}
