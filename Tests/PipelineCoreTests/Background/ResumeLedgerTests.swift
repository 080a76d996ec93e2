import PipelineCore
import SeededNumbers
import Testing

/// The budget of resumes, in virtual time.
@Suite struct ResumeLedgerTests {
    /// Delays in seconds of resumes that come at the times; each as soon as the one before was let begin when nil.
    private static func delays(_ budget: ResumeBudget, at times: [Double?], ledger start: ResumeLedger = ResumeLedger())
        -> [Double]
    {
        var ledger = start
        var last = Timestamp.at(0)
        return times.map { time in
            let now = time.map { Timestamp.at($0) } ?? last + .milliseconds(50)
            let decision = ledger.enter(.sample(budget), at: now)
            last = decision.start
            return decision.delay.seconds
        }
    }

    @Test("within the allowance nothing is delayed, beyond it the delay grows by the factor up to the longest")
    func doubling() {
        let delays = Self.delays(.tight, at: [0, nil, nil, nil, nil, nil, nil, nil])
        #expect(delays == [0, 0, 2, 4, 8, 10, 10, 10])
    }

    @Test("the window slides: what is older than it does not count")
    func slidingWindow() {
        #expect(Self.delays(.tight, at: [0, 30, 61, 91, 121.5]) == [0, 0, 0, 0, 0])
        #expect(Self.delays(.tight, at: [0, 30, 59]) == [0, 0, 2])
    }

    @Test("a delay that has run out, and as long again without a resume, falls back to the first")
    func fallsBack() {
        #expect(Self.delays(.ios, at: [0, 60, 180, 421]) == [60, 120, 240, 480])
        #expect(Self.delays(.ios, at: [0, 119.9]) == [60, 120])
        #expect(Self.delays(.ios, at: [0, 120]) == [60, 60])
    }

    @Test("a phone's budget delays the first resume by a minute and none by more than a day")
    func phone() {
        let delays = Self.delays(.ios, at: Array(repeating: nil, count: 14))
        #expect(delays.prefix(4) == [60, 120, 240, 480])
        #expect(delays.last == 86_400)
    }

    @Test("an unlimited budget delays nothing, and the machine does not count it")
    func unlimited() {
        var ledger = ResumeLedger(machine: .tight)
        for second in 0..<1000 {
            #expect(!ledger.enter(.sample(.unlimited), at: .at(Double(second) / 10)).isDeferred)
        }
        #expect(ledger.usage(of: nil, under: nil, at: .at(100)).used == 0)
        #expect(ledger.usage(of: "selfie", under: .unlimited, at: .at(100)).used == 1000)
    }

    @Test("the machine's budget holds beside each pipeline's")
    func machine() {
        var ledger = ResumeLedger(machine: .tight)
        let wide = ResumeBudget(
            allowance: 100, window: .seconds(60), base: .seconds(1), factor: 2, maximum: .seconds(9))
        let delays = ["a", "b", "c", "d"].enumerated().map { index, name in
            ledger.enter(.sample(wide, pipeline: name), at: .at(Double(index))).delay.seconds
        }
        #expect(delays == [0, 0, 2, 4])
    }

    @Test("one pipeline's resumes do not delay another's")
    func separate() {
        var ledger = ResumeLedger()
        for second in 0..<10 { _ = ledger.enter(.sample(.tight, pipeline: "a"), at: .at(Double(second))) }
        #expect(!ledger.enter(.sample(.tight, pipeline: "b"), at: .at(10)).isDeferred)
    }

    @Test("the jobs that a process takes up as it starts are one resume; each further start is one more")
    func restarts() {
        var rows: [ResumeRecord] = []
        var delays: [[Double]] = []
        for start in 0..<3 {
            var ledger = ResumeLedger(records: rows)
            var starts: [Double] = []
            for job in 0..<5 {
                let now = Timestamp.at(Double(start * 5 + job))
                let decision = ledger.enter(
                    ResumeRequest(
                        pipeline: "selfie", job: JobID("j\(job)"), step: nil, reason: .restart,
                        budget: ResumeBudget(
                            allowance: 1, window: .seconds(3600), base: .seconds(60), factor: 2,
                            maximum: .seconds(3600))), at: now)
                rows.append(decision.record)
                starts.append((decision.start - .at(Double(start * 5))).seconds)
            }
            delays.append(starts)
        }
        #expect(delays == [[0, 1, 2, 3, 4], [60, 60, 60, 60, 60], [120, 120, 120, 120, 120]])
        #expect(rows.count { $0.charge == .counted } == 3)
        // The same job once more in one process is another one.
        var ledger = ResumeLedger()
        let charges = [0, 1].map { second in
            ledger.enter(
                ResumeRequest(pipeline: "p", job: JobID("j"), step: nil, reason: .restart, budget: .unlimited),
                at: .at(second)
            ).record.charge
        }
        #expect(charges == [.counted, .counted])
    }

    @Test("when a person attends the delay falls back to zero at once")
    func attended() {
        var ledger = ResumeLedger()
        for second in 0..<6 { _ = ledger.enter(.sample(.ios), at: .at(Double(second))) }
        #expect(ledger.usage(of: "selfie", under: .ios, at: .at(6)).nextDelay == .seconds(60 * 64))
        ledger.attend(pipeline: "selfie")
        #expect(ledger.usage(of: "selfie", under: .ios, at: .at(6)).nextDelay == .seconds(60))
    }

    @Test("a resume that must come sooner comes sooner, is entered as such, and counts")
    func expiry() {
        var ledger = ResumeLedger()
        let decision = ledger.enter(.sample(.ios, mustBeginBy: .at(20)), at: .at(0))
        #expect(decision.delay == .seconds(20))
        #expect(decision.record.charge == .expedited)
        #expect(decision.rationale.contains("expires"))
        #expect(ledger.enter(.sample(.ios), at: .at(21)).delay == .seconds(120))
        let late = ledger.enter(.sample(.ios, mustBeginBy: .at(10)), at: .at(30))
        #expect(late.delay == .zero)
    }

    @Test("work that crashes again and again is slowed down like any other")
    func crashLoop() {
        var ledger = ResumeLedger()
        var now = Timestamp.at(0)
        var starts = 0
        while now < .at(86_400) {
            now = ledger.enter(.sample(ResumeBudget(.limited(.standard), in: Scope()), reason: .restart), at: now).start
            now += .milliseconds(200)
            starts += 1
        }
        // The allowance of each hour and the delays beyond it, instead of 400,000.
        #expect(starts < 24 * 36)
        var phone = ResumeLedger()
        now = .at(0)
        starts = 0
        while now < .at(86_400) {
            now = phone.enter(.sample(.ios, reason: .restart), at: now).start + .milliseconds(200)
            starts += 1
        }
        #expect(starts < 12)
    }

    @Test("transfers that end within tolerance of one another are one resume")
    func coalescing() {
        var ledger = ResumeLedger()
        for index in 1...100 {
            ledger.expect(.transfer(job: JobID("j\(index)"), step: StepKey(stage: "upload")))
        }
        var starts: Set<Timestamp> = []
        for index in 1...100 {
            let request = ResumeRequest.sample(.ios, job: "j\(index)", step: "upload", tolerance: 5)
            starts.insert(ledger.enter(request, at: .at(Double(index) / 25)).start)
        }
        #expect(starts.count == 1)
        #expect(ledger.usage(of: "selfie", under: .ios, at: .at(5)).used == 1)
    }

    @Test("transfers of several pipelines that end within tolerance are one resume of the machine")
    func coalescingOfPipelines() {
        var ledger = ResumeLedger()
        let budget = ResumeBudget(.limited(.standard), in: Scope())
        func enterAll(tolerance: Double) -> Int {
            for index in 1...100 {
                ledger.expect(.transfer(job: JobID("j\(index)"), step: StepKey(stage: "upload")))
            }
            var counted = 0
            for index in 1...100 {
                let request = ResumeRequest.sample(
                    budget, pipeline: "p\(index % 10)", job: "j\(index)", step: "upload", tolerance: tolerance)
                let decision = ledger.enter(request, at: .at(Double(index) / 25))
                counted += decision.record.charge == .counted ? 1 : 0
                #expect(decision.delay <= .seconds(tolerance))
            }
            return counted
        }
        #expect(enterAll(tolerance: 5) == 1)
        #expect(ledger.usage(of: nil, under: nil, at: .at(5)).used == 1)
        ledger = ResumeLedger()
        #expect(enterAll(tolerance: 0) == 100)
    }

    @Test("a pipeline whose budget is used up does not get on with another's resume")
    func coalescingKeepsBudgets() {
        var ledger = ResumeLedger()
        for second in 0..<2 { _ = ledger.enter(.sample(.tight, pipeline: "a"), at: .at(Double(second))) }
        ledger.expect(.transfer(job: JobID("j9"), step: StepKey(stage: "x")))
        _ = ledger.enter(.sample(.tight, pipeline: "b", tolerance: 5), at: .at(3))
        let delayed = ledger.enter(.sample(.tight, pipeline: "a", tolerance: 1), at: .at(3))
        #expect(delayed.record.charge == .counted)
        #expect(delayed.delay == .seconds(2))
    }

    @Test("a transfer that nothing else is expected beside is not held back")
    func alone() {
        var ledger = ResumeLedger()
        ledger.expect(.transfer(job: JobID("j1"), step: StepKey(stage: "model")))
        #expect(!ledger.enter(.sample(.tight, tolerance: 30), at: .at(0)).isDeferred)
    }

    @Test("a timer waits for another that falls due within its tolerance, not longer")
    func timers() {
        var ledger = ResumeLedger()
        ledger.expect(.timer(job: JobID("j2"), step: StepKey(stage: "x"), due: .at(4), tolerance: .seconds(1)))
        ledger.expect(.timer(job: JobID("j3"), step: StepKey(stage: "x"), due: .at(40), tolerance: .seconds(1)))
        let first = ledger.enter(.sample(.tight, reason: .poll, tolerance: 6), at: .at(0))
        #expect(first.start == .at(4))
        let second = ledger.enter(.sample(.tight, job: "j2", step: "x", reason: .poll, tolerance: 1), at: .at(3.5))
        #expect(second.start == .at(4))
        #expect(second.record.charge == .joined)
    }

    @Test("the rows of the journal give the same ledger again", arguments: 0..<40)
    func replay(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var ledger = ResumeLedger(machine: .tight)
        var rows: [ResumeRecord] = []
        var now = 0.0
        for _ in 0..<60 {
            now += random.unit() * 12
            let name = random.unit() < 0.5 ? "a" : "b"
            if random.unit() < 0.05 {
                ledger.attend(pipeline: name)
                rows.append(.attended(of: JobID("j"), pipeline: name, at: .at(now)))
                continue
            }
            let request = ResumeRequest.sample(
                random.unit() < 0.2 ? .ios : .tight, pipeline: name, tolerance: random.unit() * 3,
                mustBeginBy: random.unit() < 0.1 ? .at(now + 1) : nil)
            rows.append(ledger.enter(request, at: .at(now)).record)
        }
        let again = ResumeLedger(machine: .tight, records: rows)
        for name in ["a", "b", nil] {
            for later in [0.0, 1, 5, 30] {
                let time = Timestamp.at(now + later)
                let budget = name == nil ? nil : ResumeBudget.tight
                #expect(
                    again.usage(of: name, under: budget, at: time)
                        == ledger.usage(of: name, under: budget, at: time))
            }
        }
    }

    @Test("whatever comes, no delay is longer than the longest, and no start is before its question", arguments: 0..<40)
    func bounds(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var ledger = ResumeLedger(machine: .unlimited)
        var now = Timestamp.at(0)
        var inWindow: [Timestamp] = []
        for _ in 0..<200 {
            now += .seconds(random.unit() * 15)
            let tolerance = random.unit() * 2
            let decision = ledger.enter(.sample(.tight, tolerance: tolerance), at: now)
            #expect(decision.start >= now)
            #expect(decision.delay <= .seconds(10))
            inWindow.removeAll { $0 <= now - .seconds(60) }
            if inWindow.count < 2 { #expect(decision.delay <= .seconds(tolerance)) }
            if decision.record.charge != .joined { inWindow.append(now) }
        }
    }
}
