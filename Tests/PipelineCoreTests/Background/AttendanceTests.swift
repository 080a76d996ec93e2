import JSONPath
import PipelineCore
import Testing

@Suite struct AttendanceTests {
    @Test("a person is there with a terminal, or when it is said")
    func attended() {
        for (hasTerminal, isAsserted, expected) in [
            (true, false, Interactivity.attended), (false, true, .attended), (true, true, .attended),
            (false, false, .unattended),
        ] {
            #expect(Interactivity(hasTerminal: hasTerminal, isAsserted: isAsserted) == expected)
        }
    }

    @Test("a job that nobody attends is held back if its document says how, and only then")
    func held() throws {
        let (stated, silent) = (try Self.background(#""background": {},"#), try Self.background(""))
        for (interactivity, mode, document, expected) in [
            (Interactivity.attended, JobMode.attached, stated, false), (.attended, .attached, silent, false),
            (.unattended, .attached, stated, true), (.unattended, .attached, silent, false),
            (.unattended, .background, silent, false), (.attended, .background, stated, true),
        ] {
            #expect(interactivity.isHeld(by: document, mode: mode) == expected)
        }
    }

    private static func background(_ member: String) throws -> BackgroundDefinition {
        let text = """
            { "pipeline": 1, "name": "p", \(member)
              "stages": [ { "id": "w", "kind": "wait", "for": "1s" } ] }
            """
        let planner = Planner(catalogue: SampleKinds.catalogue)
        return try planner.plan(SourceText(name: "p.json", text: text)).definition.background
    }
}
