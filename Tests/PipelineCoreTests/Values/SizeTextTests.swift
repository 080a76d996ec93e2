import PipelineCore
import Testing

@Suite struct SizeTextTests {
    @Test(
        "sizes are read",
        arguments: [
            ("64KiB", 65_536), ("8MiB", 8_388_608), ("1GB", 1_000_000_000), ("0B", 0), ("17B", 17),
            ("2TiB", 2_199_023_255_552),
        ] as [(String, Int64)])
    func reads(text: String, bytes: Int64) throws {
        #expect(try SizeText.parse(text) == bytes)
    }

    @Test(
        "what cannot be read says how to write it",
        arguments: [
            ("8", "a size needs a unit, and 8 has none", "say \"8MiB\" or, for bytes, \"8B\""),
            (
                "8mb", "\"mb\" in the size \"8mb\" is no unit of size",
                "did you mean \"MB\"? KB, MB, GB are powers of 1000, KiB, MiB, GiB of 1024"
            ),
            (
                "8M", "\"M\" in the size \"8M\" is no unit of size",
                "did you mean \"MB\"? KB, MB, GB are powers of 1000, KiB, MiB, GiB of 1024"
            ),
            (
                "8Mi", "\"Mi\" in the size \"8Mi\" is no unit of size",
                "did you mean \"MiB\"? KB, MB, GB are powers of 1000, KiB, MiB, GiB of 1024"
            ),
            (
                "8parsecs", "\"parsecs\" in the size \"8parsecs\" is no unit of size",
                "KB, MB, GB are powers of 1000, KiB, MiB, GiB of 1024"
            ),
            (
                "1.5GB", "\"1.5GB\" is no size",
                "sizes look like \"64KiB\", \"8MiB\", \"1GB\"; there are no fractions: say \"1500MB\" for 1.5 GB"
            ),
            ("1GB2MB", "\"1GB2MB\" is no size", "sizes look like \"64KiB\", \"8MiB\", \"1GB\""),
            ("-1MB", "\"-1MB\" is no size", "sizes look like \"64KiB\", \"8MiB\", \"1GB\""),
        ])
    func refuses(text: String, message: String, hint: String) {
        #expect(throws: ValueSyntaxError(message, hint: hint)) { try SizeText.parse(text) }
    }

    @Test("what overflows is refused", arguments: ["9223372036854775807KiB", "99999999999999999999B", "8388608TiB"])
    func overflow(text: String) {
        let error = ValueSyntaxError(
            "the size \"\(text)\" is larger than any file can be",
            hint: "sizes look like \"64KiB\", \"8MiB\", \"1GB\"")
        #expect(throws: error) { try SizeText.parse(text) }
    }

    @Test("rates are sizes a second", arguments: [("500KB/s", 500_000), ("2MiB/s", 2_097_152)] as [(String, Int64)])
    func rates(text: String, bytes: Int64) throws {
        #expect(try RateText.parse(text) == bytes)
    }

    @Test(
        "rates that cannot be read say how to write them",
        arguments: [
            ("500KB", "\"500KB\" is no rate", "say \"500KB/s\""),
            ("500", "a rate needs a unit, and 500 has none", "say \"500MiB/s\" or, for bytes, \"500B/s\""),
            ("500/s", "a rate needs a unit, and 500 has none", "say \"500MiB/s\" or, for bytes, \"500B/s\""),
            ("fast", "\"fast\" is no rate", "rates look like \"500KB/s\", \"2MiB/s\""),
            ("0B/s", "the rate \"0B/s\" lets nothing through", "leave the key out for no limit"),
        ])
    func refusesRates(text: String, message: String, hint: String) {
        #expect(throws: ValueSyntaxError(message, hint: hint)) { try RateText.parse(text) }
    }

    @Test("percentages are fractions of one")
    func percentages() throws {
        #expect(try PercentageText.parse("10%") == 0.1)
        #expect(try PercentageText.parse("2.5%") == 0.025)
        #expect(throws: ValueSyntaxError("\"10\" is no percentage", hint: "say \"10%\"")) {
            try PercentageText.parse("10")
        }
        for text in ["", "%", "-1%", "1e3%", "nan%", ".5%", "5.%", "1.2.3%"] {
            #expect(throws: ValueSyntaxError.self) { try PercentageText.parse(text) }
        }
        #expect(PercentageText.describe(0.126) == "13 %")
    }

    @Test(
        "descriptions",
        arguments: [
            (0, "0 B", "0B"), (1023, "1023 B", "1023B"), (1024, "1.0 KiB", "1KiB"), (8_388_608, "8.0 MiB", "8MiB"),
            (1_048_575, "1.0 MiB", "1048575B"), (1_000_000_000, "953.7 MiB", "1GB"),
            (1_610_612_736, "1.5 GiB", "1536MiB"),
        ] as [(Int64, String, String)])
    func describes(bytes: Int64, text: String, exact: String) throws {
        #expect(SizeText.describe(bytes) == text)
        #expect(SizeText.exact(bytes) == exact)
        #expect(try SizeText.parse(exact) == bytes)
    }

    @Test(
        "descriptions of rates",
        arguments: [(1_258_291.4, "1.2 MiB/s"), (999.9, "999 B/s"), (1024, "1.0 KiB/s")])
    func describesRates(rate: Double, text: String) {
        #expect(RateText.describe(rate) == text)
    }
}
