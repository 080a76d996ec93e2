import JSONPath
import PipelineCore
import PipelineEngine
import PipelineTestKit
import Testing

/// Repeated stages whose elements come from the stage that is run again for fresh captures, in virtual time.
@Suite struct ElementRenewalTests {
    /// What a service gave and was asked for.
    private struct World: Sendable {
        /// The number of lists that it made.
        let lists = Mutexed(0)
        /// The links that were asked for, each after the item's number and its checkpoint.
        let asked = Mutexed<[String]>([])
        /// The items that are done, each by its number and the name of its file.
        let done = Mutexed<[String]>([])
    }

    /// Lists links of a generation each time: `x2` is the second link of file `x`. A queue leaves out the files that
    /// were fetched.
    private static func listing(_ world: World, _ names: [String], isQueue: Bool = false) -> StageKind {
        StageKind.scripted("list", captures: ["urls"]) { _, _, _ async throws(StageFailure) in
            world.lists.change { $0 += 1 }
            let generation = world.lists.value
            let fetched: Set<String> = isQueue ? Set(world.done.value.map { String($0.suffix(1)) }) : []
            let left = names.filter { !fetched.contains($0) }
            return .finished(["urls": .array(left.map { .string("\($0)\(generation)") })])
        }
    }

    /// Fetches a link, keeps a checkpoint, and is refused for those that have expired.
    private static func fetching(_ world: World, refusing refused: Set<String>) -> StageKind {
        StageKind.scripted("fetch") { reading, checkpoint, context async throws(StageFailure) in
            let value = try await context.evaluate { scope throws(EvaluationFailure) in
                try reading?.evaluate(in: scope) ?? .null
            }
            let (item, url) = (context.facts.step.item ?? -1, value.string ?? "")
            world.asked.change { $0.append("\(item) \(checkpoint ?? "-") \(url)") }
            try await context.commit("half")
            guard !refused.contains(url) else { throw .definite(StepFailure("refused", status: 403)) }
            world.done.change { $0.append("\(item)\(url.prefix(1))") }
            return .finished([:])
        }
    }

    private static let stages = #"""
        { "id": "a", "kind": "list" },
        { "id": "b", "kind": "fetch", "forEach": "stages.a.urls", "concurrency": 1, "renew": "a",
          "reading": "${{ item }}" }
        """#

    private static func bench(_ world: World, isQueue: Bool = false) -> EngineBench {
        EngineBench(
            stages,
            kinds: [listing(world, ["x", "y", "z"], isQueue: isQueue), fetching(world, refusing: ["y1", "z1"])])
    }

    /// Each item asked for a list of its own, sent its old link again and failed.
    @Test("items that have not ended go on with their element of the fresh list, which is made once")
    func fresh() {
        let world = World()
        let bench = Self.bench(world)
        #expect(bench.end(of: bench.live()) == .success(.ended(.succeeded)))
        #expect(world.asked.value == ["0 - x1", "1 - y1", "1 half y2", "2 - z2"])
        #expect(world.lists.value == 2)
        #expect(bench.job()?.steps[StepKey(stage: "b", item: 0)]?.value == "x1")
        #expect(bench.job()?.steps[StepKey(stage: "b", item: 2)]?.value == "z2")
    }

    @Test("a fresh list of another length fails the stage, again after a retry, until all items begin again")
    func otherLength() {
        let world = World()
        let bench = Self.bench(world, isQueue: true)
        let title = "'forEach' of stage 'b' gives 2 elements, and gave 3 when its items began"
        for scope in [RestartScope.nothing, .failed] {
            #expect(bench.end(of: bench.live(again: scope)) == .success(.ended(.failed)))
            let failure = bench.job()?.failure
            #expect(failure?.step == StepKey(stage: "b") && failure?.failure.title == title)
            #expect(failure?.failure.hint?.contains("pipeline retry j1 --from b") == true)
            #expect(world.asked.value == ["0 - x1", "1 - y1"])
        }
        #expect(bench.end(of: bench.live(again: .from("b"))) == .success(.ended(.succeeded)))
        #expect(world.asked.value.suffix(2) == ["0 - y2", "1 - z2"])
    }

    /// One file was fetched twice, another never, and the job succeeded.
    @Test("a fresh list in another order fails the stage")
    func otherOrder() {
        let world = World()
        let listing = StageKind.scripted("list", captures: ["urls"]) { _, _, _ async throws(StageFailure) in
            world.lists.change { $0 += 1 }
            let names = world.lists.value == 1 ? ["x", "y", "z"] : ["z", "x", "y"]
            return .finished(["urls": .array(names.map { .string("\($0)?sig=\(world.lists.value)") })])
        }
        let bench = EngineBench(Self.stages, kinds: [listing, Self.fetching(world, refusing: ["y?sig=1"])])
        #expect(bench.end(of: bench.live()) == .success(.ended(.failed)))
        let title = "'forEach' of stage 'b' gives its elements in another order than when its items began"
        #expect(bench.job()?.failure?.failure.title == title)
        #expect(world.asked.value == ["0 - x?sig=1", "1 - y?sig=1"])
    }

    @Test("an item whose own link ended before it could begin gets its element of a fresh list")
    func ownLink() {
        let world = World()
        let listing = StageKind.scripted("list", captures: ["urls"]) { _, _, context async throws(StageFailure) in
            world.lists.change { $0 += 1 }
            let end = context.now.milliseconds / 1000 + 50
            let url = JSON.string("https://store.test/\(world.lists.value)?Expires=\(end)&Signature=x")
            return .finished(["urls": [url, url]])
        }
        let slow = StageKind.scripted("fetch") { reading, checkpoint, context async throws(StageFailure) in
            if checkpoint != nil { return .finished([:]) }
            let value = try await context.evaluate { scope throws(EvaluationFailure) in
                try reading?.evaluate(in: scope) ?? .null
            }
            world.asked.change { $0.append(String((value.string ?? "").prefix(20))) }
            return .waiting("1", until: .at(context.now + .seconds(100)), WaitReason(.time))
        }
        let stages = Self.stages.replacing(#""kind": "list""#, with: #""kind": "list", "expires": { "in": "1h" }"#)
        let bench = EngineBench(stages, kinds: [listing, slow])
        #expect(bench.end(of: bench.live()) == .success(.ended(.succeeded)))
        #expect(world.asked.value == ["https://store.test/1", "https://store.test/2"])
    }

    @Test("a crash at any commit lets no item stand for another element", arguments: 1..<28)
    func crash(commits: Int) {
        let world = World()
        let bench = Self.bench(world)
        kill(bench, after: commits)
        #expect(bench.end(of: bench.live()) == .success(.ended(.succeeded)))
        #expect(Set(world.done.value) == ["0x", "1y", "2z"])
    }

    /// Items took what stood at their number in a shorter list after a crash: files were never fetched, and the job
    /// succeeded.
    @Test("a crash at any commit lets no element of a list that has moved get lost", arguments: 1..<20)
    func crashOfQueue(commits: Int) throws {
        let world = World()
        let bench = Self.bench(world, isQueue: true)
        kill(bench, after: commits)
        let end = try #require(try bench.end(of: bench.live())?.get())
        let names = Set(world.done.value.map { $0.suffix(1) })
        #expect(end == .ended(.failed) || names == ["x", "y", "z"], "\(world.asked.value)")
    }

    /// The links were made anew for another stage, in another order. What had not begun took the element at its number
    /// after a crash, and only then.
    @Test("without renew the items keep the elements with which the stage began, over a crash too", arguments: 1..<30)
    func kept(commits: Int) {
        let world = World()
        let (first, second): (JSON, JSON) = (["x1", "y1"], ["y2", "x2"])
        let turned = StageKind.scripted("list", captures: ["urls"]) { _, _, _ async throws(StageFailure) in
            world.lists.change { $0 += 1 }
            return .finished(["urls": world.lists.value == 1 ? first : second])
        }
        let other = StageKind.scripted("other") { _, _, _ async throws(StageFailure) in
            if world.lists.value > 1 { return .finished([:]) }
            throw .definite(StepFailure("refused", status: 403))
        }
        let slow = StageKind.scripted("slow") { reading, checkpoint, context async throws(StageFailure) in
            if checkpoint == nil {
                return .waiting("1", until: .at(context.now + .seconds(10)), WaitReason(.time))
            }
            let value = try await context.evaluate { scope throws(EvaluationFailure) in
                try reading?.evaluate(in: scope) ?? .null
            }
            let name = String(value.string?.prefix(1) ?? "")
            world.done.change { $0.append("\(context.facts.step.item ?? -1)\(name)") }
            return .finished([:])
        }
        let bench = EngineBench(
            #"""
            { "id": "a", "kind": "list" },
            { "id": "b", "kind": "slow", "needs": [], "forEach": "stages.a.urls", "concurrency": 1,
              "reading": "${{ item }}" },
            { "id": "p", "kind": "slow", "needs": ["a"] },
            { "id": "c", "kind": "other", "needs": ["p"], "renew": "a" }
            """#, kinds: [turned, other, slow])
        kill(bench, after: commits)
        #expect(bench.end(of: bench.live()) == .success(.ended(.succeeded)))
        let items = Set(world.done.value.filter { !$0.hasPrefix("-") })
        #expect(items == ["0x", "1y"] || items == ["0y", "1x"])
    }

    private func kill(_ bench: EngineBench, after commits: Int) {
        let life = bench.live()
        bench.run { bench.diary.all.count { $0.hasPrefix("commit") } >= commits }
        life.process.kill()
        bench.memory.lose(life.process.owner)
    }
}
