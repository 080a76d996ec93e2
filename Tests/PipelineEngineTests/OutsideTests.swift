import JSONPath
import PipelineCore
import PipelineEngine
import PipelineTestKit
import Testing

/// What people and circumstances do to a job from outside.
@Suite struct OutsideTests {
    private static func waiting(cancelled: Mutexed<[String?]>? = nil) -> StageKind {
        StageKind.scripted(
            "wait",
            cancel: { checkpoint, _ async throws(StageFailure) in cancelled?.change { $0.append(checkpoint) } }
        ) { checkpoint, saved, context async throws(StageFailure) in
            if saved != nil { return .finished([:]) }
            return .waiting("begun", until: .at(context.now + .seconds(3600)), WaitReason(.time))
        }
    }

    @Test("cancelling a job that waits tells its service, with the checkpoint, and what never began is cancelled too")
    func cancel() {
        let cancelled = Mutexed<[String?]>([])
        let bench = EngineBench(
            #"{ "id": "a", "kind": "wait" }, { "id": "b", "kind": "wait" }"#,
            kinds: [Self.waiting(cancelled: cancelled)])
        let life = bench.live()
        bench.run { bench.state("a")?.name == .waiting }
        life.drive.value?.cancel()
        #expect(bench.end(of: life) == .success(.ended(.cancelled)))
        #expect(cancelled.value == ["begun"])
        #expect(bench.state("b") == .cancelled)
        #expect(bench.recorder.events.last?.kind == .jobCancelled)
    }

    @Test(
        "a service that can't be told of the cancellation at once is told again, for as long as a person may wait",
        arguments: [
            (AttemptFailure.Kind.held(.closed), Duration.seconds(40), 2), (.held(.closed), .seconds(90), 1),
            (.answered, nil, 4), (.silent, nil, 4), (.definite, nil, 1),
        ] as [(AttemptFailure.Kind, Duration?, Int)])
    func cancelAgain(kind: AttemptFailure.Kind, retryAfter: Duration?, count: Int) {
        let told = Mutexed<[Timestamp]>([])
        let waits = StageKind.scripted(
            "wait",
            cancel: { _, context async throws(StageFailure) in
                told.change { $0.append(context.now) }
                if retryAfter != nil, told.value.count > 1 { return }
                throw .failed(AttemptFailure(StepFailure("it is closed"), kind: kind, retryAfter: retryAfter))
            }
        ) { _, _, context async throws(StageFailure) in
            .waiting("begun", until: .at(context.now + .seconds(3600)), WaitReason(.time))
        }
        let bench = EngineBench(#"{ "id": "a", "kind": "wait" }"#, kinds: [waits])
        let life = bench.live()
        bench.run { bench.state("a")?.name == .waiting }
        life.drive.value?.cancel()
        #expect(bench.end(of: life) == .success(.ended(.cancelled)))
        #expect(told.value.count == count)
        if let retryAfter, count == 2 { #expect(told.value[1] - told.value[0] == retryAfter) }
        let isTold = retryAfter == .seconds(40)
        #expect(bench.recorder.events.contains { $0.kind == .stageWarned } == !isTold)
    }

    @Test("cancelling a job that runs stops its stage before the service is told")
    func cancelRunning() {
        let order = Mutexed<[String]>([])
        let kind = StageKind.scripted(
            "run", cancel: { _, _ async throws(StageFailure) in order.change { $0.append("told") } }
        ) { _, _, context async throws(StageFailure) in
            try? await context.sleepForEver()
            order.change { $0.append("stopped") }
            throw .stopped
        }
        let bench = EngineBench(#"{ "id": "a", "kind": "run" }"#, kinds: [kind])
        let life = bench.live()
        bench.run { bench.state("a")?.name == .running }
        bench.pass(.seconds(5))
        life.drive.value?.cancel()
        #expect(bench.end(of: life) == .success(.ended(.cancelled)))
        #expect(order.value == ["stopped", "told"])
    }

    @Test("a stage that finishes while it is being cancelled keeps its end")
    func finishesWhileCancelled() {
        let kind = StageKind.scripted("run") { _, _, context async throws(StageFailure) in
            try? await context.sleepForEver()
            return .finished([:])
        }
        let bench = EngineBench(#"{ "id": "a", "kind": "run" }"#, kinds: [kind])
        let life = bench.live()
        bench.run { bench.state("a")?.name == .running }
        bench.pass(.seconds(1))
        life.drive.value?.cancel()
        #expect(bench.end(of: life) == .success(.ended(.succeeded)))
        #expect(bench.state("a") == .succeeded([:]))
    }

    @Test("a suspended job keeps its wait, has no owner, and goes on")
    func suspend() {
        let bench = EngineBench(#"{ "id": "a", "kind": "wait" }"#, kinds: [Self.waiting()])
        let life = bench.live()
        bench.run { bench.state("a")?.name == .waiting }
        life.drive.value?.suspend(.interrupted)
        #expect(bench.end(of: life) == .success(.suspended(.interrupted)))
        #expect(bench.job()?.cause == .interrupted)
        #expect(bench.end(of: bench.live()) == .success(.ended(.succeeded)))
    }

    /// Of the pause the journal said nothing: 'logs' and the pages did not know of it.
    @Test(
        "a job that nobody runs is let go for a cause, and an event says so",
        arguments: [SuspensionCause.paused, .extension])
    func letGo(cause: SuspensionCause) {
        let bench = EngineBench(#"{ "id": "a", "kind": "wait" }"#, kinds: [Self.waiting()])
        let life = bench.live()
        bench.run { bench.state("a")?.name == .waiting }
        life.drive.value?.leave()
        _ = bench.end(of: life)
        let other = SimulatedProcess(bench.simulation, name: "other")
        let task = other.lane.start {
            let engine = Engine(ports: bench.ports(of: other))
            if cause == .paused {
                try? await engine.pause(JobID("j1"))
            } else {
                _ = try? await engine.suspend(JobID("j1"), lacking: "nobody knows it")
            }
        }
        bench.run { task.isEnded }
        #expect(bench.job()?.cause == cause)
        let event = bench.recorder.events.last
        #expect(event?.kind == .jobSuspended && event?.data["cause"] == .string(cause.rawValue))
        #expect(event?.sequence == bench.job()?.sequence)
        #expect(bench.diary.all.last == "publish job.suspended")
    }

    @Test("a pause posted by another process suspends the job, and the next resume goes on")
    func pause() {
        let bench = EngineBench(#"{ "id": "a", "kind": "wait" }"#, kinds: [Self.waiting()])
        let life = bench.live()
        bench.run { bench.state("a")?.name == .waiting }
        bench.post(.pause)
        life.drive.value?.checkInbox()
        #expect(bench.end(of: life) == .success(.suspended(.paused)))
        #expect(bench.end(of: bench.live()) == .success(.ended(.succeeded)))
    }

    @Test("a cancellation whose owner died before it heard of it is done by the next owner")
    func cancelOutlivesOwner() {
        let bench = EngineBench(#"{ "id": "a", "kind": "wait" }"#, kinds: [Self.waiting()])
        let life = bench.live()
        bench.run { bench.state("a")?.name == .waiting }
        bench.post(.cancel)
        life.process.kill()
        life.drive.value?.suspend(.interrupted)
        _ = bench.end(of: life)
        #expect(bench.end(of: bench.live()) == .success(.ended(.cancelled)))
    }

    /// It went with the pause: the job was resumed, and succeeded.
    @Test("a cancellation that comes while the owner lets the job go is done by the next owner")
    func cancelWhileLettingGo() {
        let cancel = Mutexed<(@Sendable () async -> Void)?>(nil)
        let kind = StageKind.scripted("slow") { _, _, context async throws(StageFailure) in
            guard let cancels = cancel.value else { return .finished([:]) }
            do { try await context.sleepForEver() } catch {}
            cancel.set(nil)
            await cancels()
            throw .stopped
        }
        let bench = EngineBench(#"{ "id": "a", "kind": "slow" }"#, kinds: [kind])
        cancel.set { _ = try? await bench.memory.post(.cancel, to: JobID("j1")) }
        let life = bench.live()
        bench.run { bench.state("a")?.name == .running }
        bench.pass(.seconds(1))
        life.drive.value?.suspend(.paused)
        #expect(bench.end(of: life) == .success(.suspended(.paused)))
        #expect(bench.end(of: bench.live()) == .success(.ended(.cancelled)))
    }

    @Test("a secret that is gone at a resume suspends the job with that cause; given again, it goes on")
    func secretGone() {
        let kind = StageKind.scripted("wait") { reading, saved, context async throws(StageFailure) in
            let token = try await context.evaluate { scope throws(EvaluationFailure) in
                try reading?.evaluate(in: scope) ?? .null
            }
            guard token == "s3cret" else { throw .definite(StepFailure("the wrong token")) }
            if saved != nil { return .finished([:]) }
            return .waiting("1", until: .at(context.now + .seconds(60)), WaitReason(.poll))
        }
        let bench = EngineBench(
            #"{ "id": "a", "kind": "wait", "reading": "${{ secrets.TOKEN }}" }"#, kinds: [kind],
            secrets: ["TOKEN": "s3cret"])
        let life = bench.live()
        bench.run { bench.state("a")?.name == .waiting }
        life.drive.value?.suspend(.interrupted)
        _ = bench.end(of: life)
        bench.secrets.set("TOKEN", nil)
        #expect(bench.end(of: bench.live()) == .success(.suspended(.secret)))
        #expect(bench.job()?.suspension(isOwned: false) == .secret)
        bench.secrets.set("TOKEN", "s3cret")
        #expect(bench.end(of: bench.live()) == .success(.ended(.succeeded)))
        #expect(!bench.recorder.hasWritten(["s3cret"]))
    }

    @Test("a secret that the document can do without, and that the job began with, is missed at a resume all the same")
    func foundSecretGone() {
        let used = Mutexed<[JSON]>([])
        let kind = StageKind.scripted("wait") { reading, saved, context async throws(StageFailure) in
            let token = try await context.evaluate { scope throws(EvaluationFailure) in
                try reading?.evaluate(in: scope) ?? .null
            }
            used.change { $0.append(token) }
            if saved != nil { return .finished([:]) }
            return .waiting("1", until: .at(context.now + .seconds(60)), WaitReason(.poll))
        }
        func bench(_ secrets: [String: String]) -> EngineBench {
            EngineBench(
                #"{ "id": "a", "kind": "wait", "reading": "${{ secrets.TOKEN ?? secrets.OTHER ?? 'demo' }}" }"#,
                kinds: [kind], secrets: secrets)
        }
        let began = bench(["TOKEN": "s3cret"])
        let life = began.live()
        began.run { began.state("a")?.name == .waiting }
        life.process.kill()
        _ = began.end(of: life)
        began.secrets.set("TOKEN", nil)
        #expect(began.end(of: began.live()) == .success(.suspended(.secret)))
        #expect(began.recorder.events.last?.data["detail"] == "the secret TOKEN is not set")
        #expect(began.job()?.suspension(isOwned: false) == .secret)
        began.secrets.set("TOKEN", "n3wer")
        #expect(began.end(of: began.live()) == .success(.ended(.succeeded)))
        #expect(used.value == ["s3cret", "n3wer"], "nothing was done without it")
        #expect(began.job()?.record.beginning.foundSecrets == ["TOKEN"])
        #expect(!began.recorder.hasWritten(["s3cret", "n3wer"]))

        // What was not there at the start is not missed.
        let without = bench([:])
        let first = without.live()
        without.run { without.state("a")?.name == .waiting }
        first.drive.value?.suspend(.interrupted)
        #expect(without.end(of: first) == .success(.suspended(.interrupted)))
        #expect(without.end(of: without.live()) == .success(.ended(.succeeded)))
        #expect(without.job()?.record.beginning.foundSecrets == [])
    }

    @Test("a stage that says it was stopped, and was not, is tried again")
    func stopsByItself() {
        let calls = Mutexed(0)
        let kind = StageKind.scripted("odd") { _, _, _ async throws(StageFailure) in
            calls.change { $0 += 1 }
            if calls.value < 3 { throw .stopped }
            return .finished([:])
        }
        let bench = EngineBench(#"{ "id": "a", "kind": "odd" }"#, kinds: [kind])
        #expect(bench.end(of: bench.live()) == .success(.ended(.succeeded)))
        #expect(calls.value == 3)
    }

    @Test("a refused submit of a job that is resumed by name is sent again, an abandoned one is settled first")
    func refusedAgain() {
        let sends = Mutexed(0)
        let kind = StageKind.scripted("work") { _, _, context async throws(StageFailure) in
            let outcome = try await context.submit(
                body: [],
                send: { _ async throws(StageFailure) in
                    sends.change { $0 += 1 }
                    return sends.value == 1 ? .refused(StepFailure("no quota")) : .accepted([:])
                }, reconcile: { _ async throws(StageFailure) in .unsettled(reason: "") })
            guard case .submitted = outcome else { throw .definite(StepFailure("not submitted")) }
            return .finished([:])
        }
        let bench = EngineBench(#"{ "id": "a", "kind": "work" }"#, kinds: [kind])
        #expect(bench.end(of: bench.live()) == .success(.ended(.failed)))
        #expect(bench.end(of: bench.live(again: .failed)) == .success(.ended(.succeeded)))
        #expect(sends.value == 2)
    }
}

extension EngineBench {
    /// Leaves a request in the journal, as a command in another process does.
    func post(_ request: JobRequest) {
        let isPosted = Mutexed(false)
        SimulatedLane(simulation).start { [memory] in
            _ = try? await memory.post(request, to: JobID("j1"))
            isPosted.set(true)
        }
        run { isPosted.value }
    }
}
