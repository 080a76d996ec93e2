import JSONPath
import PipelineCore
import PipelineTestKit
import Testing

/// A pipeline to be simulated, with what must come of it.
struct Scenario: Sendable, CustomTestStringConvertible {
    let name: String
    let document: String
    /// The captures that each stage must end with, of those that are compared.
    let outputs: [String: String]
    /// The files that it must leave, with their content; empty for a scenario that needs no folder.
    var files: [String: String] = [:]
    /// What its network does.
    var faults = NetworkFault.allCases
    /// True if a submit may be left for a person.
    var mayBeUnknown = false
    /// True if a person who looks at the service can settle it.
    var isResolvable = false
    /// True if answers that failed may use up the tries.
    var mayFail = false
    /// True if the service sends each result when a job has ended.
    var isCalledBack = false
    /// True if another owner may take over while the first is stopped.
    var mayFreeze = true
    /// The stages from one of which a person has the ended job done again, in every other schedule; empty for one with a
    /// value, and seldom.
    var restarts: [String] = []

    var testDescription: String { name }

    static let input = "selfie"
    static let all = [oneWithKey, oneByName, oneByMatch, oneWithoutOnce, chain, fan, impatient] + computes

    private static let patient = #""retry": { "attempts": 1000, "for": "7d" }"#

    static let oneWithKey = Scenario(
        name: "one submit with a key", document: single(#""once": "key""#), outputs: ["model": model(input)])

    static let oneByName = Scenario(
        name: "one submit by name", document: single(#""once": "name""#), outputs: ["model": model(input)])

    static let oneByMatch = Scenario(
        name: "one submit found in a list", document: single(#""once": "match""#), outputs: ["model": model(input)],
        mayFreeze: false)

    static let oneWithoutOnce = Scenario(
        name: "one submit that can't be settled", document: single(#""once": "none""#),
        outputs: ["model": model(input)], mayBeUnknown: true)

    static let impatient = Scenario(
        name: "few tries",
        document: """
            { "pipeline": 1, "name": "impatient", "retry": { "attempts": 2, "for": "1h" }, "stages": [
              { "id": "model", "kind": "ledger", "token": "${{ secrets.TOKEN }}", "once": "key", "input": "\(input)" } ] }
            """,
        outputs: ["model": model(input)], mayBeUnknown: true, mayFail: true)

    static let chain = Scenario(
        name: "three in a row",
        document: """
            { "pipeline": 1, "name": "chain", \(patient), "stages": [
              { "id": "first", "kind": "ledger", "token": "${{ secrets.TOKEN }}", "once": "key", "input": "\(input)" },
              { "id": "second", "kind": "ledger", "token": "${{ secrets.TOKEN }}", "once": "name", "input": "${{ stages.first.value }} again" },
              { "id": "third", "kind": "ledger", "token": "${{ secrets.TOKEN }}", "once": "match", "input": "${{ stages.second.value }}!" } ] }
            """,
        outputs: [
            "first": model(input), "second": model("\(model(input)) again"),
            "third": model("\(model("\(model(input)) again"))!"),
        ], mayFreeze: false)

    static let fan = Scenario(
        name: "four at a time and one after them",
        document: """
            { "pipeline": 1, "name": "fan", \(patient), "stages": [
              { "id": "a", "kind": "ledger", "token": "${{ secrets.TOKEN }}", "once": "key", "needs": [], "input": "a" },
              { "id": "b", "kind": "ledger", "token": "${{ secrets.TOKEN }}", "once": "name", "needs": [], "input": "b" },
              { "id": "c", "kind": "ledger", "token": "${{ secrets.TOKEN }}", "once": "key", "needs": [], "input": "c" },
              { "id": "d", "kind": "ledger", "token": "${{ secrets.TOKEN }}", "once": "key", "needs": [], "input": "poison", "continueOnFailure": true },
              { "id": "e", "kind": "ledger", "token": "${{ secrets.TOKEN }}", "once": "key", "needs": ["a", "b", "c", "d"],
                "input": "${{ stages.a.value }} ${{ stages.b.value }} ${{ stages.c.value }}" } ] }
            """,
        outputs: ["e": model("\(model("a")) \(model("b")) \(model("c"))")])

    /// Two stages of which somebody is told; not one of `all`, since it has a test and a number of its own.
    static let told = Scenario(
        name: "notifications",
        document: """
            { "pipeline": 1, "name": "told", \(patient),
              "notify": [ { "on": ["started", "succeeded", "failed", "unknown"], "desktop": true },
                          { "on": ["estimated", "late"], "at": 0.7, "terminal": true } ],
              "stages": [
              { "id": "first", "kind": "ledger", "token": "${{ secrets.TOKEN }}", "once": "key", "input": "\(input)", "estimate": "10s" },
              { "id": "second", "kind": "ledger", "token": "${{ secrets.TOKEN }}", "once": "name", "input": "${{ stages.first.value }} again", "estimate": "20s" } ] }
            """,
        outputs: ["first": model(input), "second": model("\(model(input)) again")], mayFreeze: false)

    private static func single(_ once: String) -> String {
        """
        { "pipeline": 1, "name": "single", \(patient), "stages": [
          { "id": "model", "kind": "ledger", "token": "${{ secrets.TOKEN }}", \(once), "input": "\(input)" } ] }
        """
    }
}
