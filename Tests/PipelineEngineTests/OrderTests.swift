import JSONPath
import PipelineCore
import PipelineEngine
import PipelineTestKit
import Testing

/// Commit, then act, then publish: nothing is done or told that is not on disk.
@Suite struct OrderTests {
    @Test("a step runs only after its start is committed, and is told of only after its end is")
    func commitBeforeActing() throws {
        let diary = Mutexed<Diary?>(nil)
        let kind = StageKind.scripted("work") { _, _, _ async throws(StageFailure) in
            diary.value?.note("act")
            return .finished(["x": 1])
        }
        let bench = EngineBench(#"{ "id": "a", "kind": "work" }"#, kinds: [kind])
        diary.set(bench.diary)
        #expect(bench.end(of: bench.live()) == .success(.ended(.succeeded)))
        let committed = try #require(bench.diary.index(of: "commit running"))
        let acted = try #require(bench.diary.index(of: "act"))
        #expect(committed < acted)
        let ended = try #require(bench.diary.index(of: "commit succeeded"))
        let told = try #require(bench.diary.index(of: "publish stage.succeeded"))
        #expect(acted < ended && ended < told)
        #expect(bench.recorder.violations.isEmpty)
    }

    @Test("each change of a step is committed, then acted on, then told of")
    func commitActPublish() {
        let diary = Mutexed<Diary?>(nil)
        let kind = StageKind.scripted("work") { _, saved, context async throws(StageFailure) in
            diary.value?.note("act \(context.facts.step.stage)")
            switch saved {
            case nil: return .waiting("waited", until: .at(context.now + .seconds(5)), WaitReason(.time))
            case "waited"?:
                try await context.commit("tried")
                let failure = StepFailure("not yet")
                throw .failed(AttemptFailure(failure, kind: .answered, retryAfter: .seconds(1)))
            default: return .finished([:])
            }
        }
        let bench = EngineBench(#"{ "id": "a", "kind": "work" }, { "id": "b", "kind": "work" }"#, kinds: [kind])
        diary.set(bench.diary)
        #expect(bench.end(of: bench.live()) == .success(.ended(.succeeded)))
        let steps = bench.diary.all.filter { $0 != "publish job.started" && $0 != "publish job.succeeded" }
        func round(_ stage: String) -> [String] {
            [
                "commit running", "act \(stage)", "publish stage.started", "commit waiting", "publish stage.waiting",
                "commit running", "act \(stage)", "publish stage.resumed", "commit running", "commit waiting",
                "publish attempt.failed", "publish stage.waiting", "commit running", "act \(stage)",
                "publish stage.resumed", "commit succeeded",
            ]
        }
        // The first stage's end and the second's start share a commit, so that both are told after it.
        let start = round("b").prefix(2) + ["publish stage.started"]
        let joined = round("a") + [start[0], "publish stage.succeeded"] + start.dropFirst()
        #expect(steps == joined + round("b").dropFirst(3) + ["publish stage.succeeded"])
    }

    @Test("what was committed is told in order when the job is let go in the middle")
    func toldWhenLetGo() {
        let kind = StageKind.scripted("work") { _, _, context async throws(StageFailure) in
            .waiting("", until: .at(context.now + .seconds(3600)), WaitReason(.time))
        }
        let stages = (0..<3).map { #"{ "id": "s\#($0)", "kind": "work", "needs": [] }"# }.joined(separator: ", ")
        for seed: UInt64 in 1...40 {
            let bench = EngineBench(stages, kinds: [kind], seed: seed)
            let life = bench.live()
            // Somewhere between the first commit and the last.
            bench.run { life.drive.value != nil && bench.recorder.events.count > Int(seed) % 7 }
            life.drive.value?.suspend(.interrupted)
            #expect(bench.end(of: life) == .success(.suspended(.interrupted)))
            let told = bench.diary.all.filter { $0.hasPrefix("publish") }
            #expect(told == bench.recorder.events.map { "publish \($0.kind.rawValue)" }, "seed \(seed)")
        }
    }

    @Test("a submit is sent after 'sending' is committed, and its captures come with 'submitted'")
    func ledger() throws {
        let diary = Mutexed<Diary?>(nil)
        let kind = StageKind.scripted("work", captures: ["id"]) { _, _, context async throws(StageFailure) in
            let outcome = try await context.submit(
                body: [1],
                send: { _ async throws(StageFailure) in
                    diary.value?.note("send")
                    return .accepted(["id": "7"])
                }, reconcile: { _ async throws(StageFailure) in .unsettled(reason: "") })
            guard case .submitted = outcome else { throw .definite(StepFailure("not submitted")) }
            return .finished([:])
        }
        let bench = EngineBench(#"{ "id": "a", "kind": "work" }"#, kinds: [kind])
        diary.set(bench.diary)
        #expect(bench.end(of: bench.live()) == .success(.ended(.succeeded)))
        let order = bench.diary.all.filter {
            $0 == "send" || ["intent", "sending", "submitted"].contains($0.dropFirst(7))
        }
        #expect(order == ["commit intent", "commit sending", "send", "commit submitted"])
        #expect(bench.state("a") == .succeeded(["id": "7"]))
    }

    @Test("a submit's intent is kept in one transaction with 'sending': nothing happens between them")
    func intentAndSending() {
        let bench = Mutexed<EngineBench?>(nil)
        let commits = Mutexed<[Int]>([])
        let note = { @Sendable in commits.change { $0.append(bench.value?.recorder.commits ?? 0) } }
        let kind = StageKind.scripted("work", captures: ["id"]) { _, _, context async throws(StageFailure) in
            note()
            _ = try await context.submit(
                body: [1],
                send: { _ async throws(StageFailure) in
                    note()
                    return .accepted(["id": "7"])
                }, reconcile: { _ async throws(StageFailure) in .unsettled(reason: "") })
            note()
            return .finished([:])
        }
        let made = EngineBench(#"{ "id": "a", "kind": "work" }"#, kinds: [kind])
        bench.set(made)
        #expect(made.end(of: made.live()) == .success(.ended(.succeeded)))
        #expect(commits.value.map { $0 - (commits.value.first ?? 0) } == [0, 1, 2])
        #expect(made.recorder.violations.isEmpty)
    }

    @Test("what a stage finds first is kept with its start, also when it begins with its job, and only then")
    func firstCheckpoint() throws {
        let called = Mutexed<[String?]>([])
        let found = Mutexed(0)
        let kind = StageKind(name: "send", summary: "", fields: []) { _ in
            let stage = ScriptedStage { saved, context throws(StageFailure) in
                called.change { $0.append(saved) }
                guard saved == "later" else {
                    return .waiting("later", until: .at(context.now + .seconds(5)), WaitReason(.time))
                }
                return .finished([:])
            }
            return AnyStage(
                stage, coding: .text,
                first: { scope in
                    found.change { $0 += 1 }
                    return scope.job?.key
                })
        }
        let bench = EngineBench(#"{ "id": "a", "kind": "send" }, { "id": "b", "kind": "send" }"#, kinds: [kind])
        #expect(bench.end(of: bench.live()) == .success(.ended(.succeeded)))
        #expect(called.value == ["j1", "later", "j1", "later"])
        #expect(found.value == 2)
        // Job and first start, first wait, second call, end and second start, and so on: none for the checkpoints.
        #expect(bench.recorder.commits == 6)
    }

    @Test("when a commit fails nothing is done any more")
    func commitFails() {
        let acts = Mutexed(0)
        let kind = StageKind.scripted("work") { _, _, _ async throws(StageFailure) in
            acts.change { $0 += 1 }
            return .finished([:])
        }
        let bench = EngineBench(
            #"{ "id": "a", "kind": "work" }, { "id": "b", "kind": "work" }"#, kinds: [kind])
        let life = bench.live()
        bench.run { bench.diary.index(of: "commit running") != nil }
        // Another owner: each write of this one is refused from now on.
        bench.memory.lose(life.process.owner)
        let other = bench.live()
        #expect(bench.end(of: other) == .success(.ended(.succeeded)))
        #expect(bench.end(of: life) == .success(.lost))
        #expect(acts.value <= 3)
        #expect(bench.recorder.violations.isEmpty)
    }

    @Test(
        "one who commits waits for its own write, not for all that others write after it",
        arguments: [1, 2, 3, 4] as [UInt64])
    func fairCommits(seed: UInt64) {
        let counts = Mutexed<[String: Int]>([:])
        let atFirstEnd = Mutexed<[String: Int]>([:])
        let kind = StageKind.scripted("busy") { _, saved, context async throws(StageFailure) in
            let stage = context.facts.step.stage
            guard saved != nil else {
                // They begin one after the other, so that commits never come all together.
                let delay = Duration.milliseconds(7 * (Int(stage.dropFirst()) ?? 0))
                return .waiting("begun", until: .at(context.now + .seconds(1) + delay), WaitReason(.time))
            }
            for count in 1...60 {
                try await context.commit("\(count)")
                counts.change { $0[stage] = count }
            }
            let now = counts.value
            atFirstEnd.change { if $0.isEmpty { $0 = now } }
            return .finished([:])
        }
        let stages = (0..<4).map { #"{ "id": "s\#($0)", "kind": "busy", "needs": [] }"# }.joined(separator: ", ")
        let bench = EngineBench(stages, kinds: [kind], seed: seed, slowness: 1)
        #expect(bench.end(of: bench.live()) == .success(.ended(.succeeded)))
        #expect(atFirstEnd.value.count == 4 && atFirstEnd.value.values.allSatisfy { $0 > 30 }, "\(atFirstEnd.value)")
    }
}
