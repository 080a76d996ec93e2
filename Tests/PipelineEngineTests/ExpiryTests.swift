import JSONPath
import PipelineCore
import PipelineEngine
import PipelineTestKit
import Testing

/// What expires is journaled, orders what begins, and is said when it is too late, in virtual time.
@Suite struct ExpiryTests {
    /// A stage that captures a link, good for so long, and an id.
    private static func linking(_ seconds: Double, made: Mutexed<Int> = Mutexed(0)) -> StageKind {
        StageKind.scripted("link", captures: ["url", "id"]) { _, _, context async throws(StageFailure) in
            made.change { $0 += 1 }
            return .finished([
                "url": .string(link(at: context.now + .seconds(seconds))), "id": .string("\(made.value)"),
            ])
        }
    }

    private static func link(at time: Timestamp) -> String {
        "https://store.test/a?Expires=\(time.milliseconds / 1000)&Signature=x"
    }

    private static func pausing(_ seconds: Double) -> StageKind {
        StageKind.scripted("pause") { _, checkpoint, context async throws(StageFailure) in
            if checkpoint != nil { return .finished([:]) }
            return .waiting("1", until: .at(context.now + .seconds(seconds)), WaitReason(.time))
        }
    }

    /// Notes what it reads.
    private static func reading(_ read: Mutexed<[String]>, status: Int? = nil) -> StageKind {
        StageKind.scripted("read") { reading, _, context async throws(StageFailure) in
            let value = try await context.evaluate { scope throws(EvaluationFailure) in
                try reading?.evaluate(in: scope) ?? .null
            }
            read.change { $0.append(value.string ?? value.text) }
            if let status { throw .definite(StepFailure("refused", status: status)) }
            return .finished([:])
        }
    }

    private static func flow(_ more: String, reading: String = "stages.a.url") -> String {
        #"""
        { "id": "a", "kind": "link" }, { "id": "p", "kind": "pause" },
        { "id": "b", "kind": "read", "needs": ["p"], "reading": "${{ \#(reading) }}" \#(more) }
        """#
    }

    @Test("a captured link's end is in the journal with the capture, and its earliest reader must act before")
    func journaled() throws {
        let bench = EngineBench(
            Self.flow(""), kinds: [Self.linking(600), Self.pausing(100), Self.reading(Mutexed([]))])
        let life = bench.live()
        bench.run { bench.state("p")?.name == .waiting }
        life.process.kill()
        bench.memory.lose(life.process.owner)
        let job = try #require(bench.job())
        let expires = try #require(job.steps[StepKey(stage: "a")]?.expires)
        let left = (expires - bench.simulation.now).seconds
        #expect(left > 590 && left <= 600)
        let pressing = try #require(job.pressing(StepKey(stage: "b"), in: try bench.plan()))
        #expect(pressing.holder == StepKey(stage: "a") && pressing.time == expires)
        #expect(pressing.mustActBefore == expires - .seconds(60))
        #expect(bench.end(of: bench.live()) == .success(.ended(.succeeded)))
        let ended = try #require(bench.job())
        #expect(
            ended.pressing(StepKey(stage: "b"), in: try bench.plan()) == nil, "nothing presses a job that has ended")
    }

    @Test("a link that ran out while nobody was there is refused with that said, and nothing is sent")
    func tooLate() throws {
        let read = Mutexed<[String]>([])
        let bench = EngineBench(Self.flow(""), kinds: [Self.linking(600), Self.pausing(100), Self.reading(read)])
        let life = bench.live()
        bench.run { bench.state("p")?.name == .waiting }
        life.process.kill()
        bench.memory.lose(life.process.owner)
        bench.pass(.seconds(3600))
        #expect(bench.end(of: bench.live()) == .success(.ended(.failed)))
        let failure = try #require(bench.job()?.failure?.failure)
        #expect(failure.title.hasPrefix("what stage 'a' captured expired at "))
        #expect(failure.hint?.contains("pipeline retry j1 --from a") == true)
        #expect(read.value.isEmpty)
    }

    @Test("a default in place of a capture does not send what has expired", arguments: ["", #", "renew": "a""#])
    func tolerated(renew: String) throws {
        let (made, read) = (Mutexed(0), Mutexed<[String]>([]))
        let bench = EngineBench(
            Self.flow(renew, reading: "stages.a.url ?? 'none'"),
            kinds: [Self.linking(600, made: made), Self.pausing(100), Self.reading(read)])
        let life = bench.live()
        bench.run { bench.state("p")?.name == .waiting }
        life.process.kill()
        bench.memory.lose(life.process.owner)
        bench.pass(.seconds(3600))
        if renew.isEmpty {
            #expect(bench.end(of: bench.live()) == .success(.ended(.failed)))
            #expect(bench.job()?.failure?.failure.title.hasPrefix("what stage 'a' captured expired at ") == true)
            #expect(read.value.isEmpty)
        } else {
            #expect(bench.end(of: bench.live()) == .success(.ended(.succeeded)))
            #expect(made.value == 2 && read.value.count == 1)
        }
    }

    @Test("with renew a link that ran out meanwhile is made anew")
    func renewed() {
        let (made, read) = (Mutexed(0), Mutexed<[String]>([]))
        let bench = EngineBench(
            Self.flow(#", "renew": "a""#),
            kinds: [Self.linking(600, made: made), Self.pausing(100), Self.reading(read)]
        )
        let life = bench.live()
        bench.run { bench.state("p")?.name == .waiting }
        life.process.kill()
        bench.memory.lose(life.process.owner)
        bench.pass(.seconds(3600))
        #expect(bench.end(of: bench.live()) == .success(.ended(.succeeded)))
        #expect(made.value == 2 && read.value.count == 1)
    }

    @Test("a stage that reads another capture than the link is not held up by it")
    func otherCapture() {
        let read = Mutexed<[String]>([])
        let bench = EngineBench(
            Self.flow("", reading: "stages.a.id"), kinds: [Self.linking(50), Self.pausing(100), Self.reading(read)])
        #expect(bench.end(of: bench.live()) == .success(.ended(.succeeded)))
        #expect(read.value == ["1"])
    }

    @Test("a link that was over when it came is no link to judge by: the service's clock is another")
    func otherClock() {
        let read = Mutexed<[String]>([])
        let bench = EngineBench(Self.flow(""), kinds: [Self.linking(-50), Self.pausing(100), Self.reading(read)])
        #expect(bench.end(of: bench.live()) == .success(.ended(.succeeded)))
        #expect(read.value.count == 1)
    }

    @Test("a refusal by the service says what had expired by then", arguments: [400, 403])
    func explained(status: Int) throws {
        // It begins in time, and the answer comes late.
        let late = StageKind.scripted("late") { reading, saved, context async throws(StageFailure) in
            if saved == nil { return .waiting("1", until: .at(context.now + .seconds(700)), WaitReason(.time)) }
            throw .definite(StepFailure("refused", status: status))
        }
        let bench = EngineBench(
            #"{ "id": "a", "kind": "link" }, { "id": "b", "kind": "late", "reading": "${{ stages.a.url }}" }"#,
            kinds: [Self.linking(600), late])
        #expect(bench.end(of: bench.live()) == .success(.ended(.failed)))
        let failure = try #require(bench.job()?.failure?.failure)
        #expect(failure.title.hasPrefix("refused; what stage 'a' captured expired at "))
        #expect(failure.hint?.contains("\"renew\": \"a\"") == true)
    }

    /// What a transfer has when it waits for its second attempt.
    enum Held: String, CaseIterable { case nothing, place, submit }

    /// A transfer that is told at its first attempt to wait for as long; notes what it reads.
    private static func told(toWait seconds: Int64, with held: Held, _ read: Mutexed<[String]>) -> StageKind {
        let isFirst = Mutexed(true)
        let wait = AttemptFailure(
            StepFailure("busy", status: 503), kind: .answered, retryAfter: .seconds(seconds))
        return StageKind.scripted(
            "read", work: .transfer, standsAlone: { $0 == Held.place.rawValue }
        ) { reading, _, context async throws(StageFailure) in
            let value = try await context.evaluate { scope throws(EvaluationFailure) in
                try reading?.evaluate(in: scope) ?? .null
            }
            read.change { $0.append(value.string ?? value.text) }
            try await context.commit(held.rawValue)
            let waits = isFirst.value
            isFirst.change { $0 = false }
            guard held == .submit else {
                if waits { throw .failed(wait) }
                return .finished([:])
            }
            _ = try await context.submit(body: []) { _ async throws(StageFailure) in
                waits ? .uncertain(wait.failure, retryAfter: wait.retryAfter) : .accepted([:])
            } reconcile: { _ async throws(StageFailure) in
                .resend
            }
            return .finished([:])
        }
    }

    private static let transfer = """
        { "id": "a", "kind": "link" }, { "id": "b", "kind": "read", "reading": "${{ stages.a.url }}" MORE }
        """

    /// The whole file went out to a link that was known to be over.
    @Test("a transfer that goes on with nothing but a link that ran out meanwhile is as one that begins")
    func goesOnTooLate() throws {
        let (made, read) = (Mutexed(0), Mutexed<[String]>([]))
        let bench = EngineBench(
            Self.transfer.replacing("MORE", with: ""),
            kinds: [Self.linking(600), Self.told(toWait: 700, with: .nothing, read)])
        #expect(bench.end(of: bench.live()) == .success(.ended(.failed)))
        let failure = try #require(bench.job()?.failure?.failure)
        #expect(failure.title.hasPrefix("what stage 'a' captured expired at "))
        #expect(failure.hint?.contains("\"renew\": \"a\"") == true)
        #expect(read.value.count == 1)
        let renewing = EngineBench(
            Self.transfer.replacing("MORE", with: #", "renew": "a""#),
            kinds: [Self.linking(600, made: made), Self.told(toWait: 700, with: .nothing, read)])
        #expect(renewing.end(of: renewing.live()) == .success(.ended(.succeeded)))
        #expect(made.value == 2 && read.value.count == 3 && Set(read.value.suffix(2)).count == 2)
    }

    @Test(
        "a transfer with a place of its own, or a submit that is open, goes on with a link that ran out",
        arguments: [Held.place, .submit])
    func goesOnAlone(held: Held) {
        let (made, read) = (Mutexed(0), Mutexed<[String]>([]))
        let bench = EngineBench(
            Self.transfer.replacing("MORE", with: #", "renew": "a""#),
            kinds: [Self.linking(600, made: made), Self.told(toWait: 700, with: held, read)])
        #expect(bench.end(of: bench.live()) == .success(.ended(.succeeded)))
        #expect(made.value == 1 && read.value.count == 2)
    }

    /// Four links, the later the item the sooner it expires.
    private static func links(_ start: Timestamp) -> JSON {
        .array((0..<4).map { .string(link(at: start + .seconds(4000 - Double($0) * 1000))) })
    }

    @Test("of items that can't all begin at once those begin first whose links end first")
    func itemsInOrder() {
        let read = Mutexed<[String]>([])
        let listing = StageKind.scripted("list", captures: ["urls"]) { _, _, context async throws(StageFailure) in
            .finished(["urls": Self.links(context.now)])
        }
        let bench = EngineBench(
            #"""
            { "id": "a", "kind": "list" },
            { "id": "b", "kind": "read", "forEach": "stages.a.urls", "concurrency": 1, "reading": "${{ index }}" }
            """#, kinds: [listing, Self.reading(read)])
        #expect(bench.end(of: bench.live()) == .success(.ended(.succeeded)))
        #expect(read.value == ["3", "2", "1", "0"])
    }

    @Test("what has expired by its author's word is void for a stage that only 'forEach' reads it for")
    func elements() {
        let read = Mutexed<[String]>([])
        let listing = StageKind.scripted("list", captures: ["urls"]) { _, _, _ async throws(StageFailure) in
            .finished(["urls": ["u", "v"]])
        }
        let bench = EngineBench(
            #"""
            { "id": "a", "kind": "list", "expires": { "in": "60s" } }, { "id": "p", "kind": "pause" },
            { "id": "b", "kind": "read", "needs": ["p"], "forEach": "stages.a.urls", "reading": "${{ item }}" }
            """#, kinds: [listing, Self.pausing(100), Self.reading(read)])
        #expect(bench.end(of: bench.live()) == .success(.ended(.failed)))
        #expect(bench.job()?.failure?.failure.title.hasPrefix("what stage 'a' captured expired at ") == true)
        #expect(read.value.isEmpty)
    }

    @Test("items that follow others' begin in the order in which these expire, and what is too late says so")
    func followedItems() throws {
        let read = Mutexed<[String]>([])
        let listing = StageKind.scripted("link", captures: ["url"]) { _, _, context async throws(StageFailure) in
            let item = context.facts.step.item ?? 0
            return .finished(["url": .string(Self.link(at: context.now + .seconds([2000, 50, 1000][item])))])
        }
        let bench = EngineBench(
            #"""
            { "id": "a", "kind": "link", "forEach": "split('x,y,z', ',')" }, { "id": "p", "kind": "pause" },
            { "id": "b", "kind": "read", "needs": ["p"], "forEach": { "stage": "a" }, "concurrency": 1,
              "continueOnFailure": true, "reading": "${{ stages.a.url }}" }
            """#, kinds: [listing, Self.pausing(100), Self.reading(read)])
        #expect(bench.end(of: bench.live()) == .success(.ended(.succeeded)))
        #expect(bench.job()?.steps[StepKey(stage: "a")]?.expires != nil)
        guard case .failed(let failure) = bench.job()?.steps[StepKey(stage: "b", item: 1)]?.state else {
            Issue.record("the item whose link had ended did not fail")
            return
        }
        #expect(failure.title.hasPrefix("what stage 'a' captured expired at "))
        let times = read.value.compactMap { LinkExpiry.time(of: $0) }
        #expect(times.count == 2 && times == times.sorted())
    }

    @Test("an upload that the service keeps for a while goes on before that, over a crash too, as an exception")
    func uploadAtService() throws {
        // The first try is cut off; the service keeps what it has for half an hour.
        let upload = StageKind.scripted("send", work: .transfer) { _, saved, context async throws(StageFailure) in
            if saved != nil { return .finished([:]) }
            context.mustAct(before: context.now + .seconds(1800))
            try await context.commit("half")
            throw .failed(AttemptFailure(StepFailure("cut"), kind: .silent))
        }
        let bench = EngineBench(
            #"{ "id": "a", "kind": "send" }"#, kinds: [upload], mode: .background,
            background: #"{ "budget": { "resumes": 0, "per": "1h", "base": "2h", "factor": 2, "max": "9h" } }"#)
        let life = bench.live()
        bench.run { bench.state("a")?.name == .waiting }
        life.process.kill()
        bench.memory.lose(life.process.owner)
        let expires = try #require(bench.job()?.steps[StepKey(stage: "a")]?.expires)
        #expect(bench.end(of: bench.live()) == .success(.ended(.succeeded)))
        #expect(bench.simulation.now < expires)
        #expect(bench.memory.image.resumes.contains { $0.charge == .expedited })
        #expect(bench.job()?.steps[StepKey(stage: "a")]?.expires == nil, "what has ended is not pressed")
    }
}
