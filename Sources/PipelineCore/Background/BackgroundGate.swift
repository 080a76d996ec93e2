/// The gate at which jobs that nobody waits for ask whether they may go on: one for all jobs of a process.
///
/// "May this job resume now, and if not, when?" Its answers come from ``ResumeLedger`` and ``ConditionEvaluator``, which are
/// values; a gate adds the clock, the sensors and the rows that other processes wrote.
package protocol BackgroundGate: Sendable {
    /// Enters a resume; what follows may begin at the decision's start. The caller journals the decision's record.
    func enter(_ request: ResumeRequest) async -> ResumeDecision
    /// Returns whether now is a good moment for a discretionary step.
    func judge(_ question: ConditionQuestion) async -> ConditionEvaluation
    /// A resume will come: others that come a little sooner may wait for it.
    func expect(_ resume: ExpectedResume) async
    /// The job ended or was let go: none of its resumes comes any more.
    func forget(_ job: JobID) async
    /// A person attends to a job: delays of its pipeline, and the machine's, begin again. Whether one was in force; then
    /// the caller journals the record, which ``ResumeRecord/attended(of:pipeline:at:)`` makes.
    func attend(_ record: ResumeRecord) async -> Bool
}
