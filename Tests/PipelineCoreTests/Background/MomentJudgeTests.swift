import JSONPath
import PipelineCore
import SeededNumbers
import Testing

/// Good and bad moments for work that can wait.
@Suite struct MomentJudgeTests {
    private static let good = DeviceConditions(hasExternalPower: true, isMetered: false, load: 0.1)

    @Test("a tolerance is a share of the wait, or a length, and no longer than clocks can hold")
    func tolerance() throws {
        typealias Tolerance = BackgroundDefinition.Tolerance
        #expect(Tolerance.fraction(0.25).length(of: .seconds(60)) == .seconds(15))
        #expect(Tolerance.fraction(0.25).length(of: .seconds(-60)) == .zero)
        #expect(Tolerance.duration(.seconds(5)).length(of: .seconds(60)) == .seconds(5))
        let largest = try PercentageText.parse("99999999999999999%")
        #expect(Tolerance.fraction(largest).length(of: .seconds(86_400 * 36_525)) == .seconds(86_400 * 36_525))
    }

    private static func judge(
        _ conditions: DeviceConditions, waited: Double = 0, used: Int = 0, mustBeginBy: Timestamp? = nil,
        budget: ResumeBudget = .tight
    ) -> ConditionEvaluation {
        let question = ConditionQuestion(
            pipeline: "p", since: .at(0), mustBeginBy: mustBeginBy, budget: budget)
        return ConditionEvaluator.judge(
            ConditionFacts(question: question, conditions: conditions, used: used, now: .at(waited)))
    }

    @Test("with power, a free network and an idle machine it begins at once")
    func goodMoment() {
        let judgement = Self.judge(Self.good)
        #expect(judgement.isGood)
        #expect(judgement.askAgain == nil)
        #expect(judgement.lines.count == ConditionPolicy.standard.count + 1)
    }

    @Test(
        "one veto is enough",
        arguments: [
            DeviceConditions(hasExternalPower: false, battery: 0.15, isMetered: false, load: 0),
            DeviceConditions(hasExternalPower: true, isMetered: true, load: 0),
            DeviceConditions(
                hasExternalPower: true, isMetered: false, load: 0, quietHours: QuietHours(from: 1320, until: 420),
                minuteOfDay: 1400),
        ])
    func vetoes(conditions: DeviceConditions) {
        let judgement = Self.judge(conditions)
        #expect(!judgement.isGood)
        #expect(judgement.askAgain != nil)
        #expect(judgement.verdicts.contains { $0.opinion.decision == .mustNotProceed })
    }

    @Test("without a veto the weighted mean decides")
    func mean() {
        #expect(!Self.judge(DeviceConditions(hasExternalPower: false, battery: 0.3, load: 3), used: 2).isGood)
        #expect(Self.judge(DeviceConditions(hasExternalPower: true, load: 3), waited: 8640).isGood)
    }

    @Test("a machine that says nothing about itself stops nothing")
    func unknown() {
        #expect(Self.judge(DeviceConditions()).isGood)
        #expect(Self.judge(DeviceConditions(), budget: .unlimited).isGood)
    }

    @Test("the time that it has waited is worded as everywhere")
    func waited() {
        let rationale = Self.judge(Self.good, waited: 6000).verdicts.first?.opinion.rationale
        #expect(rationale?.hasPrefix("it has waited 100 min and may wait until ") == true)
    }

    @Test("quiet hours say when they end")
    func quietHours() {
        let hours = QuietHours(from: 1320, until: 420)
        let judgement = Self.judge(
            DeviceConditions(hasExternalPower: true, quietHours: hours, minuteOfDay: 415))
        #expect(judgement.askAgain == .at(300))
    }

    @Test("nothing starves: whatever the conditions, it begins in a day, or when it must", arguments: 0..<30)
    func patience(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var now = 0.0
        let limit = random.unit() < 0.5 ? 3600 + random.unit() * 50_000 : nil
        var asked = 0
        while true {
            let conditions = DeviceConditions(
                hasExternalPower: random.unit() < 0.3, battery: random.unit(), isMetered: random.unit() < 0.9,
                load: random.unit() * 4, quietHours: QuietHours(from: 0, until: 1439),
                minuteOfDay: Int(random.unit() * 1439))
            let judgement = Self.judge(
                conditions, waited: now, used: 2, mustBeginBy: limit.map { .at($0) })
            asked += 1
            guard !judgement.isGood, let again = judgement.askAgain else { break }
            #expect(again.offset > now)
            now = again.offset
        }
        #expect(now <= min(86_400, limit ?? .infinity) + 0.001)
        #expect(asked < 200)
    }

    @Test("quiet hours are read in their one form")
    func reading() throws {
        #expect(try QuietHours.parse("22:00-07:30") == QuietHours(from: 1320, until: 450))
        #expect(QuietHours(from: 1320, until: 450).text == "22:00-07:30")
        #expect(QuietHours(from: 540, until: 600).minutesLeft(at: 600) == nil)
        for wrong in ["", "22:00", "22:00-22:00", "25:00-07:00", "22-07", "22:60-07:00"] {
            #expect(throws: ValueSyntaxError.self) { try QuietHours.parse(wrong) }
        }
    }
}
