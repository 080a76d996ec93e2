import JSONPath
import PipelineCore
import PipelineEngine
import PipelineTestKit
import Testing

/// A failed item that was tolerated and is retried, and what other stages make of it.
@Suite struct RetriedItemsTests {
    /// What the first stage gives with what the second did with it, each as often as it was done.
    private final class World: Sendable {
        let mends = Mutexed(false)
        let done = Mutexed<[String]>([])
    }

    private static func bench(_ second: String) -> (EngineBench, World) {
        let world = World()
        let give = StageKind.scripted("give", captures: ["v"]) { reading, _, context async throws(StageFailure) in
            let value = try await context.evaluate { scope throws(EvaluationFailure) in
                try reading?.evaluate(in: scope) ?? .null
            }
            if value == "y", !world.mends.value { throw .definite(StepFailure("bad", status: 422)) }
            return .finished(["v": value])
        }
        let use = StageKind.scripted("use", captures: ["r"]) { reading, _, context async throws(StageFailure) in
            let value = try await context.evaluate { scope throws(EvaluationFailure) in
                try reading?.evaluate(in: scope) ?? .null
            }
            world.done.change { $0.append(value.string ?? "-") }
            return .finished(["r": value])
        }
        let stages = #"""
            { "id": "a", "kind": "give", "forEach": "split('x,y,z', ',')", "tolerate": 1, "reading": "${{ item }}" },
            { "id": "b", "kind": "use", \#(second) },
            { "id": "c", "kind": "use", "reading": "${{ join(flatten(stages.b.r), '') }}" }
            """#
        return (EngineBench(stages, kinds: [give, use]), world)
    }

    private static func retry(_ second: String) -> (first: [String], again: [String]) {
        let (bench, world) = bench(second)
        #expect(bench.end(of: bench.live()) == .success(.ended(.succeeded)))
        let first = world.done.value
        world.mends.set(true)
        #expect(bench.end(of: bench.live(again: .failed)) == .success(.ended(.succeeded)))
        return (first, Array(world.done.value.dropFirst(first.count)))
    }

    /// All was "done", and nothing was sent.
    @Test("what it gives now goes where the others went: new elements, other ones, and all that reads it by number")
    func goesOn() {
        let flat = Self.retry(#""forEach": "flatten(stages.a.v)", "concurrency": 1, "reading": "${{ item }}""#)
        #expect(flat.first == ["x", "z", "xz"] && flat.again == ["y", "z", "xyz"])
        let array = Self.retry(#""forEach": "stages.a.v", "concurrency": 1, "reading": "${{ item ?? '-' }}""#)
        #expect(array.first == ["x", "-", "z", "x-z"] && array.again == ["y", "xyz"])
        let list = #""forEach": "split('x,y,z', ',')", "concurrency": 1"#
        let number = Self.retry(list + #", "reading": "${{ stages.a.v[index] ?? '-' }}""#)
        #expect(number.first == ["x", "-", "z", "x-z"] && number.again == ["x", "y", "z", "xyz"])
        let judged = Self.retry(list + #", "when": "stages.a.v[index] != null", "reading": "${{ item }}""#)
        #expect(judged.first == ["x", "z", "xz"] && judged.again == ["x", "y", "z", "xyz"])
    }

    @Test("a crash at any commit of the retry loses no element", arguments: 1..<16)
    func crash(commits: Int) {
        let second = #""forEach": "flatten(stages.a.v)", "concurrency": 1, "reading": "${{ item }}""#
        let (bench, world) = Self.bench(second)
        #expect(bench.end(of: bench.live()) == .success(.ended(.succeeded)))
        world.mends.set(true)
        let before = bench.diary.all.count { $0.hasPrefix("commit") }
        let life = bench.live(again: .failed)
        bench.run { bench.diary.all.count { $0.hasPrefix("commit") } >= before + commits }
        life.process.kill()
        bench.memory.lose(life.process.owner)
        #expect(bench.end(of: bench.live()) == .success(.ended(.succeeded)))
        #expect(world.done.value.last == "xyz")
    }
}
