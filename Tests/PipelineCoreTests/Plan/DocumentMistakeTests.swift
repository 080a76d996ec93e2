import JSONPath
import PipelineCore
import Testing

@Suite("Mistakes of a document")
struct DocumentMistakeTests {
    private static let stages = #""stages": [ { "id": "w", "kind": "wait", "for": "1s" } ]"#

    private func mistakes(_ members: String) -> [Diagnostic] {
        let source = SourceText(name: "p.json", text: #"{ "pipeline": 1, \#(members) }"#)
        do throws(DefinitionError) {
            _ = try Planner(catalogue: SampleKinds.catalogue).plan(source)
            return []
        } catch {
            return error.diagnostics
        }
    }

    /// These said what is wrong, and not what is right.
    @Test(
        "have a hint, with an example of what is right",
        arguments: [
            (#""name": null, \#(stages)"#, #"in quotes, for example "daily-report": "#),
            (#""name": [], \#(stages)"#, #"in quotes, for example "daily-report": "#),
            (
                #""name": "a", "stages": [ { "id": null, "kind": "wait", "for": "1s" } ]"#,
                #"in quotes, for example "fetch": "#
            ),
            (#""name": "a", "description": null, \#(stages)"#, "write a text in quotes"),
            (
                #""name": "a", "services": { "s": { "url": "ftp://h" } }, \#(stages)"#,
                "write it like https://api.example.com/v1"
            ),
            (
                #""name": "a", "services": { "s": { "url": "http://h", "limits": { "requestsPerSecond": 0 } } }, \#(stages)"#,
                "for example 2"
            ),
            (#""name": "a", "retry": { "factor": 0.5 }, \#(stages)"#, "for example 2"),
            (#""name": "a", "concurrency": "many", \#(stages)"#, "for example 2"),
            (
                #""name": "a", "notify": [ { "on": ["estimated"], "desktop": true, "at": 2 } ], \#(stages)"#,
                "for example 0.99"
            ),
            (
                #""name": "a", "background": { "discretionary": "x" }, \#(stages)"#,
                "write true or false, without quotes"
            ),
        ])
    func hints(members: String, hint: String) {
        let mistakes = mistakes(members)
        #expect(mistakes.contains { $0.hint?.hasPrefix(hint) == true }, "\(mistakes)")
        #expect(mistakes.allSatisfy { $0.hint != nil }, "\(mistakes)")
    }

    /// The hint was the list of all keys, since a key that is there was no candidate.
    @Test(
        "a key that is spelt almost like one that is there already is told so",
        arguments: [
            (#""name": "a", "services": {}, "servces": {}, \#(stages)"#, "services", "/servces"),
            (#""name": "a", "stage": [], \#(stages)"#, "stages", "/stage"),
            (
                #""name": "a", "stages": [ { "id": "w", "kind": "wait", "for": "1s", "fr": "1s" } ]"#, "for",
                "/stages/0/fr"
            ),
        ])
    func keys(members: String, meant: String, pointer: String) {
        let mistakes = mistakes(members)
        #expect(mistakes.map(\.hint) == ["did you mean '\(meant)', which is there already?"])
        #expect(mistakes.map(\.pointer) == [pointer])
    }

    /// What the right expressions of a string read was not looked at before the wrong ones were mended.
    @Test(
        "all of a string with several expressions are told in one go",
        arguments: [
            (#""text": "${{ foo }} ${{ inputs.a }}""#, ["\"foo\" is no known name", "there is no input called 'a'"]),
            (
                #""text": "${{ inputs.a }} ${{ 1 + }}""#,
                ["there is no input called 'a'", "a value must stand here, and not the end"]
            ),
            (#""json": ["${{ foo }} ${{ inputs.a }}"]"#, ["\"foo\" is no known name", "there is no input called 'a'"]),
        ])
    func expressions(content: String, messages: [String]) {
        let mistakes = mistakes(
            #""name": "a", "stages": [ { "id": "w", "kind": "write", "to": "x", \#(content) } ]"#)
        #expect(mistakes.map(\.message) == messages)
    }
}
