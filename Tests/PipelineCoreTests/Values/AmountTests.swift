import JSONPath
import PipelineCore
import Testing

@Suite("An amount of money") struct AmountTests {
    /// Nineteen items of 0.1 had cost 1.9000000000000004, which left too little of 2 for the twentieth.
    @Test(
        "is added up in decimal",
        arguments: [(0.1, 20, 2), (0.1, 60, 6), (0.1, 33, 3.3), (1.1, 3, 3.3)] as [(Double, Int, Double)])
    func adds(each: Double, count: Int, sum: Double) {
        let total = (0..<count).reduce(Amount(0)) { total, _ in total + Amount(each) }
        #expect(total == Amount(sum) && total.double == sum)
        #expect((total - Amount(each)).double == (Double(count - 1) * each * 10).rounded() / 10)
        #expect(JSONNumber(total.double).literal == JSONNumber(sum).literal)
    }

    @Test(
        "comes back from the nearest double",
        arguments: [
            0, 1, 1.9, 0.000_000_001, 1.5e-7, 123_456_789.1, 123_456_789.123_456_789, 0.333_333_333, 1e15, 12e17, -2.5,
        ] as [Double])
    func comesBack(value: Double) {
        #expect(Amount(value).double == value)
        #expect(Amount(Amount(value).double) == Amount(value))
    }

    @Test(
        "is rounded to billionths, once",
        arguments: [(1.0 / 3, 0.333_333_333), (1.900_000_000_000_000_6, 1.9), (4e-10, 0), (5e-10, 1e-9), (1e-300, 0)]
            as [(Double, Double)])
    func rounds(value: Double, rounded: Double) {
        #expect(Amount(value).double == rounded)
    }

    @Test("of no number is nothing, and of one without bounds the largest")
    func extremes() {
        #expect(Amount(.nan) == Amount(0))
        #expect(Amount(.infinity) == Amount(1e20) && Amount(-1e300) == Amount(0) - Amount(1e20))
    }

    @Test("pays for as many more as the average says")
    func pays() {
        #expect((Amount(2) - Amount(1.9)).count(ofThoseLike: 19, costing: Amount(1.9)) == 1)
        #expect((Amount(2) - Amount(2)).count(ofThoseLike: 20, costing: Amount(2)) == 0)
        #expect(Amount(0.099_999_999).count(ofThoseLike: 19, costing: Amount(1.9)) == 0)
        #expect(Amount(8).count(ofThoseLike: 1, costing: Amount(2)) == 4)
        #expect(Amount(8).count(ofThoseLike: 1, costing: Amount(0)) == 0)
        #expect(Amount(1e20).count(ofThoseLike: 1_000_000, costing: Amount(1e-9)) == .max)
    }
}
