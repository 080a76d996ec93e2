import PipelineKit
import Testing

@Suite("Values handed over to the background owner")
struct HandedValuesTests {
    @Test("stay when a later shell does not know them, and are replaced when it does")
    func over() {
        let first = HandedValues(secrets: ["A": "1", "B": "2"], inputs: ["pin": 7])
        let second = HandedValues(secrets: ["B": "3", "C": "4"]).over(first)
        #expect(second.secrets == ["A": "1", "B": "3", "C": "4"])
        #expect(second.inputs == ["pin": 7])
    }
}
