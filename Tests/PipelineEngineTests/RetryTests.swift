import JSONPath
import PipelineCore
import PipelineEngine
import PipelineTestKit
import Testing

/// What a person's `retry` does with what has ended.
@Suite struct RetryTests {
    @Test("the retry of a job whose remote job failed or is gone submits a new one, under another key")
    func newSubmit() {
        let keys = Mutexed<[String]>([])
        let isGone = Mutexed(true)
        let kind = StageKind.scripted("remote", captures: ["id"]) { _, saved, context async throws(StageFailure) in
            if saved == nil {
                _ = try await context.submit(body: []) { record async throws(StageFailure) in
                    keys.change { $0.append(record.key) }
                    return .accepted(["id": .string("\(keys.value.count)")])
                } reconcile: { _ in
                    .resend
                }
                return .waiting("polled", until: .at(context.now + .seconds(5)), WaitReason(.poll))
            }
            if isGone.value { throw .remoteJobEnded(StepFailure("the job failed")) }
            return .finished([:])
        }
        let bench = EngineBench(#"{ "id": "a", "kind": "remote" }"#, kinds: [kind])
        #expect(bench.end(of: bench.live()) == .success(.ended(.failed)))
        #expect(bench.end(of: bench.live(again: .failed)) == .success(.ended(.failed)), "and so once more")
        isGone.set(false)
        #expect(bench.end(of: bench.live(again: .failed)) == .success(.ended(.succeeded)))
        #expect(keys.value.count == 3 && Set(keys.value).count == 3)
        #expect(bench.job()?.steps[StepKey(stage: "a")]?.captures["id"] == "3")
        #expect(bench.recorder.violations.isEmpty)
    }

    /// Three stages in a row, each for the items of the one before; what each call read of the one before it.
    private static func chain(_ read: Mutexed<[String]>, failing: Mutexed<Set<String>> = Mutexed([])) -> EngineBench {
        let run = Mutexed(0)
        let kind = StageKind.scripted("work", captures: ["x"]) { reading, saved, context async throws(StageFailure) in
            let step = "\(context.facts.step)"
            let before = try await context.evaluate { scope throws(EvaluationFailure) in
                try reading?.evaluate(in: scope) ?? .null
            }
            if saved != "1" {
                read.change { $0.append("\(step) reads \(before.string ?? "nothing")") }
                let stage = context.facts.step.stage
                return .waiting("1", until: .at(context.now + .seconds(stage == "a" ? 30 : 1)), WaitReason(.poll))
            }
            if failing.value.contains(step) {
                try await context.commit("failed")
                throw .definite(StepFailure("no"))
            }
            run.change { $0 += 1 }
            return .finished(["x": .string(step)])
        }
        return EngineBench(
            #"""
            { "id": "a", "kind": "work", "forEach": "split('p,q', ',')", "reading": "${{ item }}" },
            { "id": "b", "kind": "work", "forEach": { "stage": "a" }, "reading": "${{ stages.a.x }}" },
            { "id": "c", "kind": "work", "forEach": { "stage": "b" }, "reading": "${{ stages.b.x }}" }
            """#, kinds: [kind])
    }

    @Test("what follows the items of a stage that is done again waits for them", arguments: ["a", "b"])
    func chains(from stage: String) {
        let read = Mutexed<[String]>([])
        let bench = Self.chain(read)
        #expect(bench.end(of: bench.live()) == .success(.ended(.succeeded)))
        let first = read.value
        #expect(first.filter { $0.contains("nothing") } == [])
        read.set([])
        #expect(bench.end(of: bench.live(again: .from(stage))) == .success(.ended(.succeeded)))
        #expect(read.value.sorted() == first.filter { stage == "a" || !$0.hasPrefix("a") }.sorted())
        for value in read.value {
            let words = value.split(separator: " ")
            guard let place = read.value.firstIndex(of: value), words[0].hasPrefix("c") else { continue }
            let earlier = read.value[..<place]
            #expect(earlier.contains { $0.hasPrefix(words[2]) }, "\(value) came after what it reads")
        }
    }

    @Test("a retry begins again the items that failed, and what follows them, and nothing else")
    func items() {
        let read = Mutexed<[String]>([])
        let failing = Mutexed<Set<String>>(["b[1]"])
        let bench = Self.chain(read, failing: failing)
        #expect(bench.end(of: bench.live()) == .success(.ended(.failed)))
        #expect(bench.state("a")?.name == .succeeded && bench.state("b")?.name == .failed)
        #expect(bench.job()?.steps[StepKey(stage: "c", item: 0)]?.state.name == .succeeded, "the good one was finished")
        read.set([])
        failing.set([])
        #expect(bench.end(of: bench.live(again: .failed)) == .success(.ended(.succeeded)))
        #expect(read.value == ["b[1] reads a[1]", "c[1] reads b[1]"])
    }

    @Test("a Retry-After beyond the time for failing is waited for, not failed by")
    func retryAfter() {
        let calls = Mutexed<[Timestamp]>([])
        let kind = StageKind.scripted("busy") { _, _, context async throws(StageFailure) in
            let now = context.now
            calls.change { $0.append(now) }
            if calls.value.count > 1 { return .finished([:]) }
            throw .failed(
                AttemptFailure(StepFailure("busy"), kind: .answered, retryAfter: .seconds(7200)))
        }
        let retry = #""retry": { "attempts": 3, "for": "1m" }"#
        let bench = EngineBench(#"{ "id": "a", "kind": "busy", \#(retry) }"#, kinds: [kind])
        #expect(bench.end(of: bench.live()) == .success(.ended(.succeeded)))
        #expect(calls.value.count == 2 && calls.value[1] - calls.value[0] >= .seconds(7200))
    }

    @Test(
        "without a written budget nothing in the background is held back",
        arguments: [nil, "{}", #"{ "tolerance": "1m" }"#])
    func noBudget(background: String?) {
        let kind = StageKind.scripted("poll") { _, saved, context async throws(StageFailure) in
            let count = saved.flatMap { Int($0) } ?? 0
            if count == 100 { return .finished([:]) }
            return .waiting("\(count + 1)", until: .at(context.now + .seconds(1)), WaitReason(.poll))
        }
        let bench = EngineBench(
            #"{ "id": "a", "kind": "poll" }"#, kinds: [kind], mode: .background, background: background)
        let start = bench.simulation.now
        #expect(bench.end(of: bench.live()) == .success(.ended(.succeeded)))
        // A hundred waits of a second; with a budget of thirty an hour they took days.
        #expect(bench.simulation.now - start < .seconds(130))
    }
}
