import JSONPath
import PipelineCore
import PipelineEngine
import PipelineTestKit
import Testing

/// Who is told of what, and when, in virtual time.
@Suite struct NotificationTests {
    /// A remote job that is asked every ten seconds and ends after so many.
    private static func remote(_ name: String, seconds: Double) -> StageKind {
        StageKind.scripted(name, work: .remoteJob(submits: false, isPushed: false)) {
            _, saved, context async throws(StageFailure) in
            let end = saved.flatMap { Int64($0) } ?? (context.now + .seconds(seconds)).milliseconds
            if context.now.milliseconds >= end { return .finished([:]) }
            return .waiting("\(end)", until: .at(context.now + .seconds(10)), WaitReason(.poll))
        }
    }

    private static func bench(
        _ stages: String, kinds: [StageKind], notify: String, sinks: ScriptedSinks, seed: UInt64 = 1
    ) -> EngineBench {
        EngineBench(stages, kinds: kinds, seed: seed, slowness: 0, notify: notify, sinks: sinks)
    }

    private static let quick = StageKind.scripted("quick") { _, _, _ in .finished([:]) }
    private static let all = #"[ { "on": ["started", "succeeded", "failed"], "desktop": true } ]"#

    private static func sent(_ bench: EngineBench, _ job: String = "j1") -> [String] {
        bench.memory.image.events(of: JobID(job)).filter { $0.kind == .notificationSent }
            .map { "\($0.data["on"]?.string ?? "") \($0.data["sink"]?.string ?? "") \($0.data["id"]?.string ?? "")" }
    }

    @Test("what happened is told once, after it is kept, and journaled as told")
    func told() {
        let sinks = ScriptedSinks()
        let bench = Self.bench(#"{ "id": "a", "kind": "quick" }"#, kinds: [Self.quick], notify: Self.all, sinks: sinks)
        #expect(bench.end(of: bench.live()) == .success(.ended(.succeeded)))
        #expect(sinks.deliveries.map(\.notification.event) == [.started, .succeeded])
        #expect(sinks.deliveries.map(\.notification.title) == ["test started", "test succeeded"])
        #expect(Self.sent(bench).map { $0.prefix(16) } == ["started desktop ", "succeeded deskto"])
        #expect(bench.job()?.nextTelling == nil)
        #expect(bench.recorder.violations.isEmpty)
        let order = bench.diary.all
        let kept = order.firstIndex(of: "notification due succeeded")
        let marked = order.firstIndex(of: "notification sent succeeded")
        #expect(kept.map { kept in marked.map { kept < $0 } == true } == true)
    }

    @Test("a sink that an expression switches off is told nothing")
    func switches() {
        let sinks = ScriptedSinks()
        let bench = Self.bench(
            #"{ "id": "a", "kind": "quick" }"#, kinds: [Self.quick],
            notify: #"""
                [ { "on": ["started", "succeeded"], "desktop": "${{ job.id == 'x' }}" },
                  { "on": ["started", "succeeded"], "terminal": "${{ job.id == 'j1' }}" } ]
                """#, sinks: sinks)
        #expect(bench.end(of: bench.live()) == .success(.ended(.succeeded)))
        #expect(Self.sent(bench).map { $0.prefix(18) } == ["started terminal j", "succeeded terminal"])
    }

    @Test("a failure is told with what went wrong; a cancellation is not told")
    func failure() {
        let sinks = ScriptedSinks()
        let broken = StageKind.scripted("broken") { _, _, _ async throws(StageFailure) in
            throw .definite(StageFailureText.boom)
        }
        let bench = Self.bench(#"{ "id": "a", "kind": "broken" }"#, kinds: [broken], notify: Self.all, sinks: sinks)
        #expect(bench.end(of: bench.live()) == .success(.ended(.failed)))
        #expect(sinks.deliveries.map(\.notification.title) == ["test started", "test failed: boom"])
        #expect(sinks.deliveries.last?.notification.data["error"]?["title"] == "boom")
    }

    private enum StageFailureText {
        static let boom = StepFailure("boom")
    }

    private static let expected = #"[ { "on": ["estimated", "late"], "desktop": true } ]"#

    @Test("the estimated end is told when it comes, and that it takes too long past the last percent, each once")
    func estimated() {
        let sinks = ScriptedSinks()
        let bench = Self.bench(
            #"{ "id": "model", "kind": "remote", "estimate": "60s" }"#, kinds: [Self.remote("remote", seconds: 400)],
            notify: Self.expected, sinks: sinks)
        let start = bench.simulation.now
        #expect(bench.end(of: bench.live()) == .success(.ended(.succeeded)))
        #expect(sinks.deliveries.map(\.notification.event) == [.estimated, .late])
        // A guess is believed within a factor of e^0.5: half by 60 s, 99 of 100 by 60 · e^(0.5 · 2.33) = 192 s.
        let times = sinks.deliveries.map { ($0.time - start).seconds }
        #expect(abs((times.first ?? 0) - 60) < 4, "\(times)")
        #expect(abs((times.last ?? 0) - 192) < 12, "\(times)")
    }

    @Test("what the budget holds back is not expected to end before, nor called late")
    func heldBack() {
        let sinks = ScriptedSinks()
        let bench = EngineBench(
            #"{ "id": "model", "kind": "remote", "estimate": "60s" }"#, kinds: [Self.remote("remote", seconds: 60)],
            slowness: 0, mode: .background,
            background: #"{ "budget": { "resumes": 0, "per": "1h", "base": "1h", "max": "8h" } }"#,
            notify: Self.expected, sinks: sinks)
        let life = bench.live()
        bench.pass(.seconds(3500))
        #expect(bench.memory.image.resumes.count == 1 && sinks.deliveries.isEmpty)
        let start = bench.simulation.now
        #expect(bench.end(of: life) == .success(.ended(.succeeded)))
        #expect(bench.simulation.now - start < .seconds(120))
    }

    @Test("the quantile of 'at' is told")
    func quantile() {
        let sinks = ScriptedSinks()
        let bench = Self.bench(
            #"{ "id": "model", "kind": "remote", "estimate": "60s" }"#, kinds: [Self.remote("remote", seconds: 400)],
            notify: #"[ { "on": ["estimated"], "at": "${{ job.id == 'j1' ? 0.9 : 0.1 }}", "desktop": true } ]"#,
            sinks: sinks)
        let start = bench.simulation.now
        #expect(bench.end(of: bench.live()) == .success(.ended(.succeeded)))
        // 60 · e^(0.5 · 1.28)
        let time = sinks.deliveries.first.map { ($0.time - start).seconds } ?? 0
        #expect(abs(time - 114) < 6, "\(time)")
    }

    @Test("a job that ends before its estimated end tells nothing of it")
    func withdrawn() {
        let sinks = ScriptedSinks()
        let bench = Self.bench(
            #"{ "id": "model", "kind": "remote", "estimate": "10m" }"#, kinds: [Self.remote("remote", seconds: 30)],
            notify: Self.expected, sinks: sinks)
        #expect(bench.end(of: bench.live()) == .success(.ended(.succeeded)))
        #expect(sinks.deliveries.isEmpty)
        #expect(bench.job()?.notifications.values.map(\.state) == [.withdrawn, .withdrawn])
    }

    @Test("the time moves when a stage ends sooner than was thought")
    func moved() throws {
        let sinks = ScriptedSinks()
        let bench = Self.bench(
            #"""
            { "id": "a", "kind": "short", "estimate": "10m" }, { "id": "b", "kind": "long", "estimate": "60s" }
            """#,
            kinds: [Self.remote("short", seconds: 30), Self.remote("long", seconds: 400)],
            notify: #"[ { "on": ["estimated"], "desktop": true } ]"#, sinks: sinks)
        let start = bench.simulation.now
        let life = bench.live()
        bench.run { bench.job()?.notifications.isEmpty == false }
        let first = try #require(bench.job()?.notifications.values.first?.due)
        #expect((first - start).seconds > 600)
        #expect(bench.end(of: life) == .success(.ended(.succeeded)))
        let time = try #require(sinks.deliveries.first?.time)
        #expect(abs((time - start).seconds - 90) < 6, "\((time - start).seconds)")
        #expect(sinks.deliveries.count == 1)
    }

    @Test("a service's own words move it too, and passing time does not")
    func words() throws {
        let sinks = ScriptedSinks()
        let talking = StageKind.scripted("talking", work: .remoteJob(submits: false, isPushed: false)) {
            _, saved, context async throws(StageFailure) in
            let asked = saved.flatMap { Int($0) } ?? 0
            if asked == 60 { return .finished([:]) }
            if asked == 1 { context.report(.remote(share: nil, secondsLeft: 300)) }
            return .waiting("\(asked + 1)", until: .at(context.now + .seconds(10)), WaitReason(.poll))
        }
        let bench = Self.bench(
            #"{ "id": "model", "kind": "talking" }"#, kinds: [talking],
            notify: #"[ { "on": ["estimated"], "desktop": true } ]"#, sinks: sinks)
        let start = bench.simulation.now
        #expect(bench.end(of: bench.live()) == .success(.ended(.succeeded)))
        let time = try #require(sinks.deliveries.first.map { ($0.time - start).seconds })
        #expect(abs(time - 310) < 5, "\(time)")
    }

    @Test("of a transfer the bytes that are left and their rate tell the end, with no history at all")
    func bytes() throws {
        let sinks = ScriptedSinks()
        let clock = Mutexed<VirtualClock?>(nil)
        let moving = StageKind.scripted("moving", work: .transfer) { _, _, context async throws(StageFailure) in
            // A hundred bytes a second, and then the service keeps it waiting.
            for second in 0..<60 {
                context.report(.transfer(sent: Int64(second) * 100, received: 0, total: 6000))
                try? await clock.value?.sleep(until: context.now + .seconds(1))
            }
            try? await clock.value?.sleep(until: context.now + .seconds(100))
            return .finished([:])
        }
        let bench = Self.bench(
            #"{ "id": "a", "kind": "moving" }"#, kinds: [moving],
            notify: #"[ { "on": ["estimated"], "desktop": true } ]"#,
            sinks: sinks)
        clock.set(VirtualClock(bench.simulation))
        let start = bench.simulation.now
        let life = bench.live()
        bench.pass(.seconds(25))
        let due = try #require(bench.job()?.notifications.values.first?.due)
        #expect(abs((due - start).seconds - 60) < 3, "\((due - start).seconds)")
        #expect(bench.end(of: life) == .success(.ended(.succeeded)))
        let time = try #require(sinks.deliveries.first?.time)
        #expect(abs((time - start).seconds - 60) < 3, "\((time - start).seconds)")
        #expect(sinks.deliveries.count == 1)
    }

    @Test("what a transfer moved last before it stands still is told, though it came right after something else")
    func standstill() {
        let clock = Mutexed<VirtualClock?>(nil)
        let stalling = StageKind.scripted("stalling", work: .transfer) { _, _, context async throws(StageFailure) in
            for sent in [10, 20, 30] as [Int64] { context.report(.transfer(sent: sent, received: 0, total: 100)) }
            try? await clock.value?.sleep(until: context.now + .seconds(60))
            return .finished([:])
        }
        let bench = Self.bench(
            #"{ "id": "a", "kind": "stalling" }"#, kinds: [stalling], notify: "[]", sinks: ScriptedSinks())
        clock.set(VirtualClock(bench.simulation))
        let life = bench.live()
        bench.pass(.seconds(30))
        #expect(bench.diary.all.filter { $0.hasPrefix("progress") } == ["progress 10", "progress 30"])
        #expect(bench.end(of: life) == .success(.ended(.succeeded)))
        #expect(bench.diary.all.filter { $0.hasPrefix("progress") }.count == 2)
    }

    @Test("a sink that fails is tried again, later each time, and the job takes no notice")
    func failingSink() {
        let sinks = ScriptedSinks { notification, earlier, _ async throws(NotificationFailure) in
            if notification.event == .started, earlier < 3 {
                throw NotificationFailure("the sink is busy: hunter22", isRetryable: true)
            }
        }
        let bench = EngineBench(
            #"{ "id": "model", "kind": "remote" }"#, kinds: [Self.remote("remote", seconds: 300)],
            secrets: [:], slowness: 0, notify: Self.all, sinks: sinks)
        let start = bench.simulation.now
        #expect(bench.end(of: bench.live()) == .success(.ended(.succeeded)))
        #expect((bench.simulation.now - start).seconds < 312)
        #expect(sinks.deliveries.map(\.notification.event) == [.started, .succeeded])
        // 2.5 to 5 s, 7.5 to 15 s, 22.5 to 45 s.
        let time = sinks.deliveries.first.map { ($0.time - start).seconds } ?? 0
        #expect(time > 32 && time < 66, "\(time)")
        #expect(Self.sent(bench).count == 2)
    }

    @Test("a sink that never answers holds no job for long, and what it did not take is sent by the next owner")
    func hangingSink() {
        let sinks = ScriptedSinks { notification, earlier, process async throws(NotificationFailure) in
            guard earlier == 0, notification.event == .succeeded else { return }
            try? await process.clock.sleep(until: process.clock.now + .seconds(86_400))
            throw NotificationFailure("stopped", isRetryable: true)
        }
        let bench = Self.bench(#"{ "id": "a", "kind": "quick" }"#, kinds: [Self.quick], notify: Self.all, sinks: sinks)
        let start = bench.simulation.now
        #expect(bench.end(of: bench.live()) == .success(.ended(.succeeded)))
        #expect((bench.simulation.now - start).seconds < 7)
        #expect(sinks.deliveries.map(\.notification.event) == [.started])
        #expect(bench.job()?.nextTelling != nil)
        bench.pass(.seconds(60))
        #expect(bench.end(of: bench.live(onlyTells: true)) == .success(.ended(.succeeded)))
        #expect(sinks.deliveries.map(\.notification.event) == [.started, .succeeded])
        #expect(bench.job()?.nextTelling == nil)
    }

    @Test("a crash after a sink took it and before that is kept sends it again under the same id, and marks it once")
    func crash() {
        let sinks = ScriptedSinks { notification, earlier, process async throws(NotificationFailure) in
            // Dies once it is delivered, before anything is kept.
            if notification.event == .succeeded, earlier == 0 { process.after(passes: 1) { process.kill() } }
        }
        let bench = Self.bench(#"{ "id": "a", "kind": "quick" }"#, kinds: [Self.quick], notify: Self.all, sinks: sinks)
        let life = bench.live()
        _ = bench.end(of: life)
        #expect(life.process.isDead)
        #expect(bench.job()?.nextTelling != nil)
        #expect(bench.end(of: bench.live(onlyTells: true)) == .success(.ended(.succeeded)))
        let ids = sinks.deliveries.filter { $0.notification.event == .succeeded }.map(\.notification.id)
        #expect(ids.count == 2 && Set(ids).count == 1, "\(ids)")
        #expect(Self.sent(bench).filter { $0.hasPrefix("succeeded") }.count == 1)
    }

    @Test("what can't be sent is given up, and says why")
    func abandoned() {
        let sinks = ScriptedSinks { _, _, _ async throws(NotificationFailure) in
            throw NotificationFailure("no such place", isRetryable: false)
        }
        let bench = Self.bench(#"{ "id": "a", "kind": "quick" }"#, kinds: [Self.quick], notify: Self.all, sinks: sinks)
        #expect(bench.end(of: bench.live()) == .success(.ended(.succeeded)))
        let rows = bench.job()?.notifications.values.map { "\($0.state.rawValue) \($0.problem ?? "")" }
        #expect(rows == ["abandoned no such place", "abandoned no such place"])
        #expect(Self.sent(bench).isEmpty)
    }

    @Test("an unknown submit tells that a person is needed")
    func unknown() {
        let sinks = ScriptedSinks()
        let lost = StageKind.scripted("lost") { _, _, context async throws(StageFailure) in
            .unknown(nil, UnknownSubmit(key: "k", since: context.now, reason: "the answer was lost"))
        }
        let bench = Self.bench(
            #"{ "id": "a", "kind": "lost" }"#, kinds: [lost], notify: #"[ { "on": ["unknown"], "desktop": true } ]"#,
            sinks: sinks)
        #expect(bench.end(of: bench.live()) == .success(.unknown))
        #expect(
            sinks.deliveries.map(\.notification.title)
                == ["test needs you: it is not known whether the service took the submit of 'a'"])
    }
}
