import JSONPath
import PipelineCore
import Testing

@Suite("What is most likely a mistake")
struct WarningTests {
    private func warnings(_ stage: String) throws -> [Diagnostic] {
        let text = """
            { "pipeline": 1, "name": "demo", "description": "{{ inputs.file }}",
              "inputs": { "file": { "type": "file" }, "list": { "type": "json", "description": "$inputs.x" } },
              "stages": [ { "id": "w", "kind": "write", \(stage) } ] }
            """
        return try Planner(catalogue: SampleKinds.catalogue).plan(SourceText(name: "p.json", text: text)).warnings
            .diagnostics
    }

    @Test(
        "another tool's way to write an expression is told, with the way here",
        arguments: [
            ("a {{ inputs.file }} b", "{{ inputs.file }}", "${{ inputs.file }}"),
            ("${inputs.file}", "${inputs.file}", "${{ inputs.file }}"),
            ("to ${ file }", "${ file }", "${{ inputs.file }}"),
            ("{{ basename(inputs.file) }}", "{{ basename(inputs.file) }}", "${{ basename(inputs.file) }}"),
            ("x $inputs.file", "$inputs.file", "${{ inputs.file }}"), ("$file", "$file", "${{ inputs.file }}"),
            ("{{ anything }}", "{{ anything }}", "${{ anything }}"),
        ])
    func slips(text: String, slip: String, meant: String) throws {
        let found = try warnings(#""to": "x", "text": "\#(text)""#)
        #expect(found.map(\.message) == ["\"\(slip)\" is plain text here, not an expression"])
        #expect(found.first?.hint == "an expression is written \(meant)")
        #expect(found.first?.pointer == "/stages/0/text")
        #expect(found.first?.isWarning == true)
    }

    @Test(
        "what may well be text is not",
        arguments: [
            "${{ inputs.file }}", "$${{ inputs.file }}", "Hello {{ user }}!", "echo ${HOME} and $HOME", "costs $5",
            "$file[*].n[]", "{{", "${", "a{{b}}c", "${{ '{{ inputs.file }}' }}",
            " mutation M($file: Upload!) { send(file: $file) }",
        ])
    func text(text: String) throws {
        #expect(try warnings(#""to": "x", "text": "\#(text)""#).isEmpty)
    }

    @Test(
        "what is said of items is told in a stage that has none",
        arguments: ["tolerate\": 3", "stopOnFailure\": true"])
    func withoutItems(member: String) throws {
        let found = try warnings("\"text\": \"a\", \"to\": \"x\", \"\(member)")
        let name = member.prefix { $0 != "\"" }
        #expect(found.map(\.message) == ["'\(name)' does nothing in a stage without 'forEach'"])
        #expect(found.first?.pointer == "/stages/0/\(name)")
        #expect(try warnings(#""forEach": "inputs.list", "text": "a", "to": "${{ index }}", ""# + member).isEmpty)
    }

    @Test("one file for all items of a forEach is told, one for each is not")
    func targets() throws {
        let each = #""forEach": "inputs.list", "text": "a", "to": "#
        let found = try warnings(each + #""out.txt""#)
        #expect(found.map(\.message) == ["each item of stage 'w' writes the same file"])
        #expect(try warnings(each + #""${{ stem(inputs.file) }}.txt""#).count == 1)
        #expect(try warnings(each + #""${{ index }}.txt""#).isEmpty)
        #expect(try warnings(each + #""${{ item.name }}.txt""#).isEmpty)
    }
}
