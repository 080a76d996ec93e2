import Testing

@testable import SelfieStudio

@Suite("Ranges of RFC 9110 §14")
struct ByteRangeTests {
    @Test(
        "A range field asks for a part, for all, or for nothing there is",
        arguments: [
            ("bytes=0-9", ByteRange.part(0..<10)),
            ("bytes=90-", .part(90..<100)),
            ("bytes=90-1000", .part(90..<100)),
            ("bytes=-10", .part(90..<100)),
            ("bytes=-1000", .part(0..<100)),
            ("Bytes= 5-5", .part(5..<6)),
            ("bytes=100-", .unsatisfiable),
            ("bytes=-0", .unsatisfiable),
            ("bytes=99999999999999999999-", .unsatisfiable),
            ("bytes=9-5", .whole),
            ("bytes=0-1,5-6", .whole),
            ("bytes=-", .whole),
            ("bytes=a-b", .whole),
            ("lines=0-9", .whole),
            ("bytes", .whole),
        ]
    )
    func parses(field: String, expected: ByteRange) {
        #expect(ByteRange(field, size: 100) == expected)
    }

    @Test("No field asks for all")
    func whole() {
        #expect(ByteRange(nil, size: 100) == .whole)
    }
}
