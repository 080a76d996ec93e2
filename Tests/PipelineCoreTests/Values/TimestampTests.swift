import PipelineCore
import Testing

@Suite struct TimestampTests {
    @Test(
        "RFC 3339 is read",
        arguments: [
            ("1970-01-01T00:00:00Z", 0), ("2026-11-20T12:00:00.123Z", 1_795_176_000_123),
            ("2026-11-20T13:00:00+01:00", 1_795_176_000_000), ("2026-11-20T04:30:00-07:30", 1_795_176_000_000),
            ("2026-11-20t12:00:00z", 1_795_176_000_000), ("2026-11-20 12:00:00Z", 1_795_176_000_000),
            ("1969-12-31T23:59:59.999Z", -1), ("2000-02-29T00:00:00Z", 951_782_400_000),
            ("2026-11-20T12:00:00.1Z", 1_795_176_000_100), ("2026-11-20T12:00:00.123999Z", 1_795_176_000_123),
            ("1990-12-31T23:59:60Z", 662_688_000_000), ("0000-01-01T00:00:00Z", -62_167_219_200_000),
            ("9999-12-31T23:59:59.999Z", 253_402_300_799_999), ("1985-04-12T23:20:50.52Z", 482_196_050_520),
        ] as [(String, Int64)])
    func reads(text: String, milliseconds: Int64) throws {
        #expect(try Timestamp.parse(text).milliseconds == milliseconds)
    }

    @Test(
        "what is no time is refused",
        arguments: [
            "", "2026-11-20", "2026-11-20T12:00:00", "2026-02-29T00:00:00Z", "2100-02-29T00:00:00Z",
            "2026-13-01T00:00:00Z",
            "2026-11-31T00:00:00Z", "2026-11-20T24:00:00Z", "2026-11-20T12:60:00Z", "2026-11-20T12:00:61Z",
            "2026-11-20T12:00:00.Z", "2026-11-20T12:00:00+1:00", "2026-11-20T12:00:00Z ", "2026-11-20T12:00:00+24:00",
            "２026-11-20T12:00:00Z", "2026-00-10T00:00:00Z", "2026-11-00T00:00:00Z",
        ])
    func refuses(text: String) {
        #expect(
            throws: ValueSyntaxError(
                "\"\(text)\" is no time",
                hint: "times look like \"2026-11-20T12:00:00Z\" or \"2026-11-20T13:00:00+01:00\"")
        ) { try Timestamp.parse(text) }
    }

    @Test("every day from 1600 to 2400 is written and read back")
    func everyDay() throws {
        let first = try Timestamp.parse("1600-01-01T00:00:00Z").milliseconds / 86_400_000
        let last = try Timestamp.parse("2400-01-01T00:00:00Z").milliseconds / 86_400_000
        #expect(last - first == 2 * 146_097)
        for day in stride(from: first, through: last, by: 1) {
            let time = Timestamp(milliseconds: day * 86_400_000 + 1)
            #expect(try Timestamp.parse(time.description) == time)
        }
    }

    @Test("a text has milliseconds and UTC; beyond its years it stops")
    func writes() {
        #expect(Timestamp(milliseconds: 1_795_176_000_123).description == "2026-11-20T12:00:00.123Z")
        #expect(Timestamp(milliseconds: -1).description == "1969-12-31T23:59:59.999Z")
        #expect(Timestamp(milliseconds: .max).description == "9999-12-31T23:59:59.999Z")
        #expect(Timestamp(milliseconds: .min).description == "0000-01-01T00:00:00.000Z")
    }

    @Test(
        "HTTP dates are read in the three forms of RFC 9110",
        arguments: [
            "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
        ])
    func httpDates(text: String) {
        let time = Timestamp.httpDate(text)
        #expect(time?.milliseconds == 784_111_777_000)
        #expect(time?.httpDate == "Sun, 06 Nov 1994 08:49:37 GMT")
    }

    @Test("two-digit years are those from 1970 to 2069")
    func centuries() {
        #expect(Timestamp.httpDate("Friday, 20-Nov-26 12:00:00 GMT")?.description == "2026-11-20T12:00:00.000Z")
        #expect(Timestamp.httpDate("Monday, 20-Nov-80 12:00:00 GMT")?.description.hasPrefix("1980") == true)
    }

    @Test(
        "what is no HTTP date is nil",
        arguments: [
            "", "120", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 CET", "Sun, 31 Feb 1994 08:49:37 GMT",
            "Sun, 06 Nov 94 08:49:37 GMT", "Sun, 06 Foo 1994 08:49:37 GMT", "Sun, 06 Nov 1994 25:49:37 GMT",
            "Sun, -6 Nov 1994 08:49:37 GMT", "a b c d e", "a b c d GMT f",
        ])
    func noHTTPDate(text: String) {
        #expect(Timestamp.httpDate(text) == nil)
    }

    @Test("arithmetic is exact inside the range and stops at its ends")
    func arithmetic() {
        let time = Timestamp(milliseconds: 1000)
        #expect(time + .seconds(2) == Timestamp(milliseconds: 3000))
        #expect(time - .milliseconds(1500) == Timestamp(milliseconds: -500))
        #expect(Timestamp(milliseconds: 5000) - time == .seconds(4))
        #expect(Timestamp(milliseconds: .max) + .seconds(1) == Timestamp(milliseconds: .max))
        #expect(Timestamp(milliseconds: .min) - .seconds(1) == Timestamp(milliseconds: .min))
        #expect(time + .seconds(Int64.max) == Timestamp(milliseconds: .max))
        #expect(Timestamp(milliseconds: .max) - Timestamp(milliseconds: .min) == .milliseconds(Int64.max))
        #expect(time < time + .milliseconds(1))
    }

    @Test("what ended before it began, by a clock that was set back, took no time")
    func lengths() {
        let time = Timestamp(milliseconds: 1000)
        #expect((time + .milliseconds(2500)).seconds(since: time) == 2.5)
        #expect(time.seconds(since: time) == 0)
        #expect(time.seconds(since: time + .seconds(3600)) == 0)
    }
}
