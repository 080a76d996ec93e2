package import PipelineCore

/// Who runs the jobs of a batch's items: the scheduler of this process, or any worker of a journal that machines share.
package protocol ItemHost: Sendable {
    /// Begins the job of an item; when this returns a crash does not lose it.
    func begin(_ record: JobRecord, _ draft: JobDraft) async throws(JournalFailure)
    /// Begins an item's job again; when this returns a crash does not lose that.
    func retry(_ job: JobID, _ again: RestartScope) async throws(JournalFailure)
    /// Has the job of an item that was begun before go on.
    func goOn(_ job: JobID) async throws(JournalFailure)
    /// True if its jobs come to rest in this process, so that ``BatchRunner/rested(_:item:_:)`` hears of each.
    var runsHere: Bool { get }
    /// True if a job is taken up again, here or elsewhere, when the journal refused a write of it.
    var retakesRefused: Bool { get }
    /// How many items may be begun at this moment.
    var room: Int { get }
    /// Interrupts the items that this process runs for the batch alone, and returns once they have stopped.
    func interrupt() async
}
