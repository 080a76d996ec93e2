import Encodings
import Testing

@Suite("A duration as a number") struct DurationNumbersTests {
    /// `results` and `why --json` wrote 1.7349999999999999: whole seconds and the rest were added up.
    @Test("of whole milliseconds has their digits and no more")
    func seconds() {
        for milliseconds in Array(0...5000) + [86_399_999, -1735] {
            let seconds = Duration.milliseconds(milliseconds).seconds
            #expect(seconds == Double(milliseconds) / 1000 && "\(seconds)".count <= 9, "\(milliseconds): \(seconds)")
        }
        #expect(Duration.milliseconds(1735).seconds == 1.735)
        #expect(Duration.microseconds(1500).seconds == 0.0015)
        #expect(Duration.seconds(Int64.max).seconds == Double(Int64.max))
    }
}
