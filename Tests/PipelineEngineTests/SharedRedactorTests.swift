import JSONPath
import PipelineCore
import Testing

@testable import PipelineEngine

@Suite("The secrets that calls of a job share")
struct SharedRedactorTests {
    @Test("hides what was made of one, and nothing that was made of anything else")
    func made() {
        let redactor = SharedRedactor()
        redactor.add([("A", "user:pass-4711")])
        redactor.add(["user", "pass-4711"], madeOf: ["A"])
        redactor.add("open-1234", madeOf: ["B"])
        redactor.add("Bearer user:pass-4711", madeOf: ["A"])
        #expect(redactor.redact("by user with pass-4711") == "by ‹secret:A› with ‹secret:A›")
        #expect(redactor.redact("Bearer user:pass-4711") == "Bearer ‹secret:A›", "it is found in it as it is")
        #expect(redactor.redact("open-1234") == "open-1234")
    }

    /// A body with a token and a PIN out of one secret showed the PIN, once the token was found in it.
    @Test("hides numbers and short texts too, and all of one value however many they are")
    func leaves() {
        let redactor = SharedRedactor()
        redactor.add([("A", #"{"token":"tok-4711","pin":9021,"id":"x7"}"#)])
        redactor.add(["token": "tok-4711", "pin": 9021, "id": "x7"], madeOf: ["A"])
        #expect(
            redactor.redact(#"{"a":"tok-4711","b":9021,"c":"x7"}"#)
                == #"{"a":"‹secret:A›","b":‹secret:A›,"c":"‹secret:A›"}"#)
        let many = (0..<5 * SharedRedactor.mostMade).map { "piece-\($0)-of-it" }
        redactor.add(.array(many.map { .string($0) }), madeOf: ["A"])
        #expect(redactor.redact(many[0]) == "‹secret:A›")
    }

    /// A signature for each of 16,000 items would make each of them dearer than the one before.
    @Test("forgets what was made long ago, and never a secret")
    func bound() {
        let redactor = SharedRedactor()
        redactor.add([("A", "the-secret")])
        let count = 10 * SharedRedactor.mostMade
        for number in 0..<count { redactor.add(.string("made-\(number)-of-it"), madeOf: ["A"]) }
        for number in (count - SharedRedactor.mostMade)..<count {
            #expect(redactor.redact("made-\(number)-of-it") == "‹secret:A›")
        }
        #expect(redactor.redact("made-1-of-it") == "made-1-of-it")
        #expect(redactor.redact("the-secret") == "‹secret:A›")
    }
}
