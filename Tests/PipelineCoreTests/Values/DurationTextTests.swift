import PipelineCore
import Testing

@Suite struct DurationTextTests {
    @Test(
        "durations are read",
        arguments: [
            ("250ms", 250), ("30s", 30_000), ("5m", 300_000), ("1h30m", 5_400_000), ("7d", 604_800_000), ("0s", 0),
            ("1d2h3m4s5ms", 93_784_005), ("90m", 5_400_000), ("007s", 7000), ("36525d", 3_155_760_000_000),
        ] as [(String, Int64)])
    func reads(text: String, milliseconds: Int64) throws {
        #expect(try DurationText.parse(text) == .milliseconds(milliseconds))
    }

    @Test(
        "what cannot be read says how to write it",
        arguments: [
            ("30", "a duration needs a unit, and 30 has none", "say \"30s\" for 30 seconds"),
            ("1.5", "a duration needs a unit, and 1.5 has none", "say \"30s\" for 30 seconds"),
            ("", "\"\" is no duration", "durations look like \"250ms\", \"30s\", \"5m\", \"1h30m\", \"7d\""),
            ("fast", "\"fast\" is no duration", "durations look like \"250ms\", \"30s\", \"5m\", \"1h30m\", \"7d\""),
            (
                "1.5s", "\"1.5s\" is no duration",
                "durations look like \"250ms\", \"30s\", \"5m\", \"1h30m\", \"7d\"; there are no fractions: say \"1500ms\" for one and a half seconds"
            ),
            ("30 s", "\"30 s\" is no duration", "write \"30s\""),
            ("1 hour, 5 Minutes", "\"1 hour, 5 Minutes\" is no duration", "write \"1h5m\""),
            (
                "half an hour", "\"half an hour\" is no duration",
                "durations look like \"250ms\", \"30s\", \"5m\", \"1h30m\", \"7d\""
            ),
            (
                "30sec", "\"sec\" in the duration \"30sec\" is no unit of time",
                "did you mean \"s\"? The units are d, h, m, s and ms"
            ),
            (
                "2hours", "\"hours\" in the duration \"2hours\" is no unit of time",
                "did you mean \"h\"? The units are d, h, m, s and ms"
            ),
            (
                "2H", "\"H\" in the duration \"2H\" is no unit of time",
                "did you mean \"h\"? The units are d, h, m, s and ms"
            ),
            ("2w", "\"w\" in the duration \"2w\" is no unit of time", "the units are d, h, m, s and ms"),
            (
                "30m1h", "the units of the duration \"30m1h\" are out of order",
                "write each unit once, the larger first, like \"1h30m\""
            ),
            (
                "1h1h", "the units of the duration \"1h1h\" are out of order",
                "write each unit once, the larger first, like \"1h30m\""
            ),
            (
                "99999999999999999999s", "the duration \"99999999999999999999s\" is longer than 100 years",
                "leave the key out for no limit"
            ),
            (
                "9223372036854775807d", "the duration \"9223372036854775807d\" is longer than 100 years",
                "leave the key out for no limit"
            ),
            ("36525d1ms", "the duration \"36525d1ms\" is longer than 100 years", "leave the key out for no limit"),
        ])
    func refuses(text: String, message: String, hint: String) {
        #expect(throws: ValueSyntaxError(message, hint: hint)) { try DurationText.parse(text) }
    }

    @Test(
        "a description is read back to the same",
        arguments: [
            (0, "0s"), (1, "1ms"), (1000, "1s"), (5_400_000, "1h30m"), (604_800_000, "7d"), (93_784_005, "1d2h3m4s5ms"),
        ] as [(Int64, String)])
    func describes(milliseconds: Int64, text: String) throws {
        #expect(DurationText.describe(.milliseconds(milliseconds)) == text)
        #expect(try DurationText.parse(text) == .milliseconds(milliseconds))
    }

    @Test(
        "a wording for people is rounded",
        arguments: [
            (0, "0.0 s"), (0.44, "0.4 s"), (40.2, "40 s"), (119, "119 s"), (180, "3 min"), (6000, "100 min"),
            (7200, "2 h"), (129_600, "36 h"), (345_600, "4 d"), (1e300, "11574074074 d"),
        ])
    func wording(seconds: Double, text: String) {
        #expect(DurationText.rounded(seconds) == text)
    }

    @Test(
        "a wording with milliseconds below a second",
        arguments: [
            (0, "0.0 s"), (0.0004, "0.4 ms"), (0.001, "1 ms"), (0.00126, "1.3 ms"), (0.0349, "35 ms"), (0.25, "250 ms"),
            (0.9994, "999 ms"), (0.9996, "1.0 s"), (2.44, "2.4 s"), (1e300, "11574074074 d"),
        ])
    func fineWording(seconds: Double, text: String) {
        #expect(DurationText.fine(seconds) == text)
    }

    @Test("extreme durations stop at the ends of Int64")
    func saturates() {
        #expect(Duration.seconds(Int64.max).wholeMilliseconds == .max)
        #expect(Duration.seconds(Int64.min).wholeMilliseconds == .min)
        #expect(DurationText.describe(.milliseconds(Int64.min)).hasPrefix("-"))
    }
}
