import JSONPath
import PipelineCore
import PipelineEngine
import PipelineTestKit
import Testing

/// A clock that is set while a job waits, in virtual time. All waits went by the time of day: after a clock was set back
/// a day retries, polls and deadlines stood still for a day.
@Suite struct ClockTests {
    private static let day = Duration.seconds(86_400)

    /// What a clock may be set by: a day back, half a day ahead.
    static let shifts = [.zero - day, .seconds(43_200)]

    /// A stage that says once how it waits, and ends with the next call.
    private static func waiting(
        _ calls: Mutexed<[Timestamp]>, in bench: Mutexed<EngineBench?>, _ kind: WaitReason.Kind,
        _ wake: @escaping @Sendable (Timestamp) -> Timestamp
    ) -> StageKind {
        StageKind.scripted("wait") { _, saved, context async throws(StageFailure) in
            calls.change { [bench = bench.value] in $0.append(bench?.simulation.now ?? .epoch) }
            if saved != nil { return .finished([:]) }
            return .waiting("1", until: .at(wake(context.now)), WaitReason(kind))
        }
    }

    /// Runs the stage, sets the clock ten seconds into its wait, and gives how long the wait was.
    private static func length(
        of kind: WaitReason.Kind, clockSetBy shift: Duration, restarts: Bool = false,
        until wake: @escaping @Sendable (Timestamp) -> Timestamp
    ) -> Double {
        let calls = Mutexed<[Timestamp]>([])
        let holder = Mutexed<EngineBench?>(nil)
        let bench = EngineBench(#"{ "id": "a", "kind": "wait" }"#, kinds: [waiting(calls, in: holder, kind, wake)])
        holder.set(bench)
        defer { holder.set(nil) }
        var life = bench.live()
        bench.run { bench.state("a")?.name == .waiting }
        bench.pass(.seconds(10))
        if restarts {
            life.drive.value?.suspend(.interrupted)
            #expect(bench.end(of: life) == .success(.suspended(.interrupted)))
            life = bench.live(clockSetBy: shift)
        } else {
            life.process.clock.shift(by: shift)
        }
        #expect(bench.end(of: life) == .success(.ended(.succeeded)))
        guard calls.value.count == 2 else { return .infinity }
        return (calls.value[1] - calls.value[0]).seconds
    }

    @Test(
        "a wait for a length lasts as long as it was to, whatever the clock is set to",
        arguments: [WaitReason.Kind.poll, .retry, .refused, .settle], shifts)
    func lengths(kind: WaitReason.Kind, shift: Duration) {
        let seconds = Self.length(of: kind, clockSetBy: shift) { $0 + .seconds(60) }
        #expect(seconds >= 59 && seconds < 61, "\(seconds)")
    }

    @Test("a time that the author gave is waited for by the clock")
    func times() {
        let night: @Sendable (Timestamp) -> Timestamp = { _ in Timestamp(milliseconds: 1_790_000_000_000 + 7_200_000) }
        let later = Self.length(of: .time, clockSetBy: .seconds(-3600), until: night)
        #expect(later >= 3_600 && later <= 7_201, "it is asked at the time that was left, and waits on")
        let ahead = Self.length(of: .time, clockSetBy: .seconds(7_200), until: night)
        #expect(ahead >= 9 && ahead < 12, "\(ahead)")
    }

    @Test("what is kept of a wait is taken up by a clock that was set back meanwhile")
    func restart() {
        let seconds = Self.length(of: .refused, clockSetBy: .zero - Self.day, restarts: true) { $0 + .seconds(600) }
        #expect(seconds >= 590 && seconds < 612, "\(seconds)")
    }

    @Test(
        "a call under way goes on by the time that it began with, and so does the wait that it ends with",
        arguments: shifts)
    func calls(shift: Duration) {
        let seen = Mutexed<[Double]>([])
        let service = Mutexed<VirtualClock?>(nil)
        let kind = StageKind.scripted("call") { _, saved, context async throws(StageFailure) in
            if saved == nil, let service = service.value {
                try? await service.sleep(until: service.now + .seconds(20))
            }
            let elapsed = (context.now - context.facts.started).seconds
            seen.change { $0.append(elapsed) }
            if saved != nil { return .finished([:]) }
            return .waiting("1", until: .at(context.now + .seconds(60)), WaitReason(.poll))
        }
        let bench = EngineBench(#"{ "id": "a", "kind": "call", "deadline": "5m" }"#, kinds: [kind])
        service.set(VirtualClock(bench.simulation))
        defer { service.set(nil) }
        let start = bench.simulation.now
        let life = bench.live()
        bench.run { bench.state("a")?.name == .running }
        bench.pass(.seconds(5))
        life.process.clock.shift(by: shift)
        // Something else reaches the job meanwhile: it hears of the clock while the call goes on.
        life.drive.value?.checkInbox()
        #expect(bench.end(of: life) == .success(.ended(.succeeded)))
        #expect(seen.value.map { $0.rounded() } == [20, 80])
        #expect((bench.simulation.now - start).seconds.rounded() == 80)
    }

    @Test("a deadline passes when its time has elapsed, neither before nor after", arguments: shifts)
    func deadline(shift: Duration) {
        let kind = StageKind.scripted("wait") { _, _, context async throws(StageFailure) in
            .waiting("1", until: .callback(orAt: nil), WaitReason(.callback))
        }
        let bench = EngineBench(#"{ "id": "a", "kind": "wait", "deadline": "1h" }"#, kinds: [kind])
        let start = bench.simulation.now
        let life = bench.live()
        bench.run { bench.state("a")?.name == .waiting }
        bench.pass(.seconds(600))
        life.process.clock.shift(by: shift)
        #expect(bench.end(of: life) == .success(.ended(.failed)))
        #expect((bench.simulation.now - start).seconds.rounded() == 3600)
        // What it shows of its duration is what it took.
        let step = bench.job()?.steps[StepKey(stage: "a")]
        #expect(((step?.ended ?? .epoch) - (step?.started ?? .epoch)).seconds.rounded() == 3600)
    }

    @Test("tries go on and are given up by the time that passes", arguments: shifts)
    func retries(shift: Duration) {
        let calls = Mutexed(0)
        let kind = StageKind.scripted("fail") { _, _, _ async throws(StageFailure) in
            calls.change { $0 += 1 }
            throw .failed(AttemptFailure(StepFailure("busy"), kind: .answered))
        }
        let retry = #""retry": { "attempts": 1000, "for": "10m", "delay": "1m", "factor": 1, "jitter": "none" }"#
        let bench = EngineBench(#"{ "id": "a", "kind": "fail", \#(retry) }"#, kinds: [kind])
        let start = bench.simulation.now
        let life = bench.live()
        bench.run { calls.value == 3 }
        life.process.clock.shift(by: shift)
        #expect(bench.end(of: life) == .success(.ended(.failed)))
        // The eleventh would come some milliseconds too late.
        #expect(calls.value == 10)
        #expect((bench.simulation.now - start).seconds.rounded() == 540)
    }

    @Test("a sink that failed is tried again in time", arguments: shifts)
    func sinks(shift: Duration) {
        let sinks = ScriptedSinks { _, earlier, _ async throws(NotificationFailure) in
            if earlier < 4 { throw NotificationFailure("busy", isRetryable: true) }
        }
        let bench = EngineBench(
            #"{ "id": "a", "kind": "wait" }"#,
            kinds: [
                StageKind.scripted("wait") { _, saved, context async throws(StageFailure) in
                    if saved != nil { return .finished([:]) }
                    return .waiting("1", until: .at(context.now + .seconds(1200)), WaitReason(.poll))
                }
            ], notify: #"[ { "on": ["started"], "desktop": true } ]"#, sinks: sinks)
        let start = bench.simulation.now
        let life = bench.live()
        bench.run { bench.state("a")?.name == .waiting }
        bench.pass(.seconds(30))
        life.process.clock.shift(by: shift)
        bench.run { !sinks.deliveries.isEmpty }
        #expect(bench.simulation.now - start < .seconds(300))
        #expect(bench.end(of: life) == .success(.ended(.succeeded)))
    }

    @Test("a job that is parked goes on in time", arguments: shifts)
    func parked(shift: Duration) {
        let calls = Mutexed<[Timestamp]>([])
        let holder = Mutexed<EngineBench?>(nil)
        let kind = Self.waiting(calls, in: holder, .poll) { $0 + .seconds(600) }
        let bench = EngineBench(#"{ "id": "a", "kind": "wait" }"#, kinds: [kind], background: nil)
        holder.set(bench)
        defer { holder.set(nil) }
        let process = SimulatedProcess(bench.simulation, name: "daemon")
        let scheduler = JobScheduler(SchedulerTests.Jobs(bench, process), clock: process.clock)
        let task = process.lane.start { await scheduler.run() }
        scheduler.take(JobID("j1"))
        bench.run { bench.state("a")?.name == .waiting }
        bench.pass(.seconds(60))
        process.clock.shift(by: shift)
        #expect(bench.run { bench.job()?.ended != nil })
        #expect(calls.value.count == 2)
        let seconds = calls.value.count == 2 ? (calls.value[1] - calls.value[0]).seconds : 0
        #expect(seconds >= 599 && seconds < 603, "\(seconds)")
        scheduler.stop()
        #expect(bench.run { task.isEnded })
    }

    @Test("the sleep of the machine's own clock ends by the time that passes, or once the clock shows the time")
    func reading() {
        let begin = ClockReading(time: Timestamp(milliseconds: 1_000_000), elapsed: .seconds(50))
        let end = begin.time + .seconds(60)
        func left(_ clock: Double, _ passed: Double) -> Double {
            begin.left(
                until: end,
                at: ClockReading(time: begin.time + .seconds(clock), elapsed: begin.elapsed + .seconds(passed))
            ).seconds
        }
        #expect(left(10, 10) == 50)
        #expect(left(-86_390, 10) == 50, "set back a day")
        #expect(left(-86_340, 60) == 0)
        #expect(left(43_210, 10) <= 0, "set forward")
        #expect(begin.shift(since: begin) == nil)
        #expect(
            ClockReading(time: begin.time - .seconds(9), elapsed: .seconds(51)).shift(since: begin) == .seconds(-10))
    }
}
