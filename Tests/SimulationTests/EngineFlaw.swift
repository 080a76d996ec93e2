import PipelineCore
import PipelineTestKit
import Testing

/// A way in which an engine may be wrong, made with wrapped ports: each must be caught by the invariants.
struct EngineFlaw: Sendable, CustomTestStringConvertible {
    let name: String
    /// Put between an engine and its journal.
    var above: @Sendable (any Journal, SimulatedProcess) -> any Journal = { journal, _ in journal }
    /// Put between what the simulation sees and the memory.
    var below: @Sendable (any Journal) -> any Journal = { $0 }
    var stage: LedgerStage.Flaw?
    /// True if events are told as soon as they are on disk.
    var isLoud = false
    /// Where it shows.
    let scenario: Scenario
    /// What is said of it.
    let symptom: String

    var testDescription: String { name }

    static let none = EngineFlaw(name: "none", scenario: .oneWithKey, symptom: "")

    static let all = [
        EngineFlaw(
            name: "acts though 'sending' was not kept", above: { journal, _ in ForgetfulJournal(journal) },
            scenario: .oneWithKey, symptom: "a submit was sent while the journal holds 'intent'"),
        EngineFlaw(
            name: "acts before the commit is kept", above: { HastyJournal($0, of: $1) }, scenario: .oneByMatch,
            symptom: "a submit was sent"),
        EngineFlaw(
            name: "publishes before it acts", isLoud: true, scenario: .oneWithKey,
            symptom: "was told of before its stage was called"),
        EngineFlaw(
            name: "ignores the epoch", below: { EpochlessJournal($0) }, scenario: .oneWithKey,
            symptom: "was taken after"),
        EngineFlaw(
            name: "sends again blindly", stage: .resendsBlindly, scenario: .oneWithoutOnce,
            symptom: "jobs of one submit"),
        EngineFlaw(
            name: "keeps what servers say as it came", stage: .keepsSecrets, scenario: .impatient,
            symptom: "a secret stands in the journal"),
    ]
}
