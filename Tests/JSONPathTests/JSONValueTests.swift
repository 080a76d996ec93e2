import JSONPath
import Testing

/// Objects, numbers, equality, and writing.
struct JSONValueTests {
    @Test("numbers are equal, ordered and hashed by value, exactly")
    func numbers() {
        func number(_ literal: String) -> JSONNumber { JSONNumber(literal: literal) }
        let equal = ["100", "1e2", "100.0", "1.00E+2", "1000e-1", "0.1e3"].map(number)
        #expect(Set(equal).count == 1)
        #expect(Set(["0", "-0", "0.0", "0e9", "-0.000"].map(number)).count == 1)
        #expect(number("9007199254740993") != number("9007199254740992.0"))
        #expect(number("0.1") != number("0.10000000000000001"))
        #expect(number("1e400") < number("1e401"))
        #expect(number("1e400") != number("1e401"))
        let ascending = ["-1e9", "-12", "-1.5", "-1", "-0.01", "0", "0.01", "0.1", "1", "1.5", "12", "1e9"].map(number)
        #expect(ascending.reversed().sorted() == ascending)
    }

    @Test("whole numbers are those that are whole, however written")
    func integers() {
        let texts = ["12", "1.20e1", "9223372036854775807", "-9223372036854775808.0", "1e18", "-0", "5e-0"]
        let values = [12, 12, Int.max, Int.min, 1_000_000_000_000_000_000, 0, 5]
        #expect(texts.map { JSONNumber(literal: $0).int } == values)
        for text in ["1.5", "9223372036854775808", "1e19", "1e999999999999999999999", "0.1", "1.0000000000000000001"] {
            #expect(JSONNumber(literal: text).int == nil)
        }
        #expect(JSONNumber(literal: "1e-2").double == 0.01)
    }

    @Test("a double is written as a number, and as null when JSON has no number for it")
    func doubles() {
        let values = [1.0, -0.0, 0.1, 1e300, .leastNonzeroMagnitude, 9_007_199_254_740_991, .infinity, .nan]
        let texts = ["1", "0", "0.1", "1e+300", "5e-324", "9007199254740991", "null", "null"]
        #expect(values.map { JSONNumber($0).literal } == texts)
    }

    @Test("equal objects have equal hashes whatever their order")
    func hashing() throws {
        let first = try JSON.parse(#"{"a":1.0,"b":[{"c":null}]}"#)
        let second = try JSON.parse(#"{"b":[{"c":null}],"a":1e0}"#)
        #expect(first == second)
        #expect(first.hashValue == second.hashValue)
        #expect(try first != JSON.parse(#"{"b":[{"c":null}],"a":2}"#))
        #expect(try first != JSON.parse(#"{"b":[{"c":null}],"d":1}"#))
    }

    @Test("an object of 100,000 members is built, looked up, changed and emptied, in order")
    func largeObject() {
        var object = JSONObject((0..<100_000).map { ("name \($0)", JSON.number(JSONNumber($0))) })
        for index in stride(from: 0, to: 100_000, by: 7) { #expect(object["name \(index)"]?.number?.int == index) }
        #expect(object["name 100000"] == nil)
        object["name 5"] = "new"
        object["name 3"] = nil
        #expect(object.names[3...4] == ["name 4", "name 5"])
        #expect(object["name 99999"] == 99_999)
        #expect(object.position(of: "name 99999") == 99_998)
    }

    @Test("removing from and adding to objects around the size of the index keeps every name")
    func indexThreshold() {
        var object = JSONObject()
        for index in 0..<40 { object["\(index)"] = JSON.number(JSONNumber(index)) }
        for index in stride(from: 0, to: 40, by: 2) { object["\(index)"] = nil }
        for index in 40..<60 { object["\(index)"] = JSON.number(JSONNumber(index)) }
        let expected = Array(stride(from: 1, to: 40, by: 2)) + Array(40..<60)
        #expect(object.names == expected.map(String.init))
        for index in expected { #expect(object["\(index)"]?.number?.int == index) }
    }

    @Test("pretty text has a member a line")
    func prettyText() {
        let value: JSON = ["a": [1, [], [:]], "b": ["c": "x"]]
        #expect(
            value.prettyText() == "{\n  \"a\": [\n    1,\n    [],\n    {}\n  ],\n  \"b\": {\n    \"c\": \"x\"\n  }\n}")
        #expect(JSON.array([1]).prettyText(indent: 1) == "[\n 1\n]")
    }

    @Test("control characters are escaped, line separators are not")
    func escaping() {
        let value: JSON = "\u{0}\u{1F}\u{7F}\"\\/\u{2028}é\u{2029}"
        #expect(value.text == "\"\\u0000\\u001f\u{7F}\\\"\\\\/\u{2028}é\u{2029}\"")
    }
}
