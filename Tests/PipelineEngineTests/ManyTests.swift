import JSONPath
import PipelineCore
import PipelineEngine
import PipelineTestKit
import Testing

/// Many jobs.
@Suite struct ManyTests {
    @Test("two hundred jobs at a time each come to their own end")
    func manyJobs() {
        let kind = StageKind.scripted("poll", captures: ["job"]) { _, saved, context async throws(StageFailure) in
            let count = saved.flatMap { Int($0) } ?? 0
            if count == 5 { return .finished(["job": .string(context.facts.job.text)]) }
            return .waiting("\(count + 1)", until: .at(context.now + .seconds(30)), WaitReason(.poll))
        }
        let bench = EngineBench(#"{ "id": "a", "kind": "poll" }"#, kinds: [kind])
        let start = bench.simulation.now
        let lives = (0..<200).map { bench.live(job: "j\($0)") }
        for life in lives { #expect(bench.end(of: life) == .success(.ended(.succeeded))) }
        for index in 0..<200 {
            #expect(bench.state("a", of: "j\(index)") == .succeeded(["job": .string("j\(index)")]))
        }
        #expect(bench.simulation.now - start < .seconds(160))
        #expect(bench.recorder.violations.isEmpty)
        #expect(bench.simulation.strays == 0)
    }

    @Test("an owner that dies between the start of a repeated stage and its items loses none of them")
    func diesBeforeItems() {
        let kind = StageKind.scripted("echo", captures: ["x"]) { reading, _, context async throws(StageFailure) in
            .finished(["x": try await context.evaluate { scope throws(EvaluationFailure) in scope.item ?? .null }])
        }
        let stage = #"{ "id": "a", "kind": "echo", "forEach": "split('p,q,r', ',')" }"#
        for passes in 1...40 {
            let bench = EngineBench(stage, kinds: [kind])
            let life = bench.live()
            life.process.after(passes: passes) {
                life.process.kill()
                life.drive.value?.suspend(.interrupted)
            }
            if bench.end(of: life) != .success(.ended(.succeeded)), bench.job()?.ended == nil {
                #expect(bench.end(of: bench.live()) == .success(.ended(.succeeded)), "passes \(passes)")
            }
            #expect(bench.state("a") == .succeeded(["x": ["p", "q", "r"]]), "passes \(passes)")
        }
    }
}
