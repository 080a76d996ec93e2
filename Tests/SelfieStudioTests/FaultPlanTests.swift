import Testing

@testable import SelfieStudio

@Suite("Faults on purpose")
struct FaultPlanTests {
    @Test("Of each hundred requests exactly the percentage fails", arguments: [0, 1, 30, 50, 99, 100])
    func failPercent(percent: Int) {
        let plan = plan { $0.failPercent = percent }
        for _ in 0..<3 {
            let failed = (0..<100).count(where: { _ in plan.failsRequest() })
            #expect(failed == percent)
        }
    }

    @Test("A transfer is cut the first time only")
    func cutOnce() {
        let plan = plan { $0.cutAfter = 10 }
        #expect(plan.cut("a") == 10)
        plan.wasCut("a")
        #expect(plan.cut("a") == nil)
        #expect(plan.cut("b") == 10)
    }

    @Test("A transfer is cut every time if that is asked for")
    func cutAlways() {
        let plan = plan {
            $0.cutAfter = 10
            $0.cutsEveryTime = true
        }
        plan.wasCut("a")
        #expect(plan.cut("a") == 10)
    }

    @Test("As many answers are lost as are asked for")
    func lostAnswers() {
        let plan = plan { $0.lostAnswers = 2 }
        #expect((0..<4).map { _ in plan.losesAnswer() } == [true, true, false, false])
    }

    @Test(
        "Sizes and rates have units",
        arguments: [("500", 500), ("2MB", 2_000_000), ("64KiB", 65536), ("1MB/s", 1_000_000), ("3B", 3)]
    )
    func sizes(text: String, bytes: Int) {
        #expect(ByteCount(argument: text)?.bytes == bytes)
    }

    @Test(
        "What is no size is refused",
        arguments: ["", "MB", "-1", "0", "1 MB", "1mb", "99999999999999999999", "9999999999GB/s/s"])
    func noSizes(text: String) {
        #expect(ByteCount(argument: text) == nil)
    }

    private func plan(_ change: (inout StudioSettings) -> Void) -> FaultPlan {
        var settings = StudioSettings(dataFolder: "/nowhere")
        change(&settings)
        return FaultPlan(settings)
    }
}
