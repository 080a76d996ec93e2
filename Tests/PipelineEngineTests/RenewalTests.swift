import JSONPath
import PipelineCore
import PipelineEngine
import PipelineTestKit
import Testing

/// Captures that expire, and stages that are run again for fresh ones, in virtual time.
@Suite struct RenewalTests {
    /// A stage that captures `url`, a new one each time.
    private static func links(_ made: Mutexed<Int>) -> StageKind {
        StageKind.scripted("link", captures: ["url"]) { _, _, _ async throws(StageFailure) in
            made.change { $0 += 1 }
            return .finished(["url": .string("u\(made.value)")])
        }
    }

    /// A stage that reads a link, keeps a checkpoint, and is refused for as long as the links are among these.
    private static func fetching(_ used: Mutexed<[String]>, refusing refused: Set<String>, status: Int = 403)
        -> StageKind
    {
        StageKind.scripted("fetch") { reading, checkpoint, context async throws(StageFailure) in
            let url = try await context.evaluate { scope throws(EvaluationFailure) in
                try reading?.evaluate(in: scope) ?? .null
            }
            used.change { $0.append("\(checkpoint ?? "-") \(url.string ?? "")") }
            try await context.commit("half")
            guard refused.contains(url.string ?? "") else { return .finished([:]) }
            throw .definite(StepFailure("refused", status: status))
        }
    }

    private static func pause(_ length: Duration) -> StageKind {
        StageKind.scripted("pause") { _, checkpoint, context async throws(StageFailure) in
            if checkpoint != nil { return .finished([:]) }
            return .waiting("1", until: .at(context.now + length), WaitReason(.time))
        }
    }

    private static let fetch = #"{ "id": "b", "kind": "fetch", "reading": "${{ stages.a.url }}", "renew": "a" }"#

    @Test(
        "a link that is refused is made anew, and the stage goes on from its checkpoint",
        arguments: [401, 403, 404, 410])
    func refused(status: Int) {
        let (made, used) = (Mutexed(0), Mutexed<[String]>([]))
        let bench = EngineBench(
            #"{ "id": "a", "kind": "link" }, "# + Self.fetch,
            kinds: [Self.links(made), Self.fetching(used, refusing: ["u1"], status: status)])
        #expect(bench.end(of: bench.live()) == .success(.ended(.succeeded)))
        #expect(used.value == ["- u1", "half u2"])
        #expect(bench.job()?.steps[StepKey(stage: "b")]?.attempts == 2)
    }

    @Test("what is refused with a fresh link too is a failure; other statuses are one at once")
    func refusedAgain() {
        let (made, used) = (Mutexed(0), Mutexed<[String]>([]))
        let kinds = [Self.links(made), Self.fetching(used, refusing: ["u1", "u2"])]
        let bench = EngineBench(#"{ "id": "a", "kind": "link" }, "# + Self.fetch, kinds: kinds)
        #expect(bench.end(of: bench.live()) == .success(.ended(.failed)))
        #expect(used.value.count == 2)
        let other = [Self.links(made), Self.fetching(used, refusing: ["u3"], status: 400)]
        let second = EngineBench(#"{ "id": "a", "kind": "link" }, "# + Self.fetch, kinds: other)
        #expect(second.end(of: second.live()) == .success(.ended(.failed)))
        #expect(used.value.count == 3)
    }

    /// A token that ended a second time failed the stage, though hundreds of good polls lay between.
    @Test("after progress fresh captures are made once more when they are refused again")
    func refusedAfterProgress() {
        let (made, failed) = (Mutexed(0), Mutexed<[Bool]>([]))
        let polling = StageKind.scripted("fetch") { _, _, context async throws(StageFailure) in
            failed.change { $0.append(context.facts.hasFailed) }
            switch failed.value.count {
            case 1, 3: throw .definite(StepFailure("expired", status: 401))
            case 2:
                try await context.commit("1", progressed: true)
                return .waiting("1", until: .at(context.now + .seconds(9)), WaitReason(.poll))
            default: return .finished([:])
            }
        }
        let bench = EngineBench(#"{ "id": "a", "kind": "link" }, "# + Self.fetch, kinds: [Self.links(made), polling])
        #expect(bench.end(of: bench.live()) == .success(.ended(.succeeded)))
        #expect(made.value == 3 && failed.value == [false, true, false, true])
    }

    /// In a line that was longer than the token lived the first refusal was renewed, and the second was final.
    @Test("what expires while it waits for its turn is renewed each time, and then goes first")
    func expiredInLine() {
        let (made, calls) = (Mutexed(0), Mutexed<[String]>([]))
        let waiting = StageKind.scripted("fetch") { _, _, context async throws(StageFailure) in
            let isGood = context.facts.freshness.expiry.map { $0.time > context.now } ?? false
            calls.change { $0.append("\(isGood ? "good" : "over"), \(context.facts.freshness.urgency)") }
            switch calls.value.count {
            case 1...5:
                throw .failed(AttemptFailure(StepFailure("it expired"), kind: .held(.renewal)))
            case 6: throw .definite(StepFailure("refused", status: 401))
            default: return .finished([:])
            }
        }
        let link = StageKind.scripted("link", captures: ["url"]) { _, _, context async throws(StageFailure) in
            made.change { $0 += 1 }
            calls.change { $0[$0.count - 1] += ", \(context.facts.freshness.urgency)" }
            return .finished(["url": .string("u\(made.value)")])
        }
        let bench = EngineBench(
            #"{ "id": "a", "kind": "link", "expires": { "in": 20 } }, "# + Self.fetch, kinds: [link, waiting])
        calls.change { $0.append("begins") }
        #expect(bench.end(of: bench.live()) == .success(.ended(.succeeded)))
        let renewed = [String](repeating: "good, renewed, renewal", count: 4)
        #expect(calls.value == ["begins, usual", "good, usual, renewal"] + renewed + ["good, renewed"])
    }

    @Test("for a cancellation nothing is renewed: its request goes out as it is")
    func cancelled() {
        let (expiries, made) = (Mutexed<[Bool]>([]), Mutexed(0))
        let polling = StageKind.scripted(
            "fetch", cancel: { _, context in expiries.change { $0.append(context.facts.freshness.expiry != nil) } }
        ) { _, _, context async throws(StageFailure) in
            expiries.change { $0.append(context.facts.freshness.expiry != nil) }
            return .waiting("1", until: .at(context.now + .seconds(60)), WaitReason(.poll))
        }
        let bench = EngineBench(
            #"{ "id": "a", "kind": "link", "expires": { "in": 20 } }, "# + Self.fetch,
            kinds: [Self.links(made), polling])
        let life = bench.live()
        bench.run { expiries.value.count == 1 && bench.state("b")?.name == .waiting }
        life.drive.value?.cancel()
        #expect(bench.end(of: life) == .success(.ended(.cancelled)))
        #expect(expiries.value == [true, false])
    }

    @Test("what expires before its turn comes as often in a row as retry allows fails, once a request between is none")
    func neverInTime() {
        let (made, calls) = (Mutexed(0), Mutexed(0))
        let waiting = StageKind.scripted("fetch") { _, _, context async throws(StageFailure) in
            calls.change { $0 += 1 }
            // A service that was closed meanwhile says nothing of the line.
            let kind: AttemptFailure.Kind = calls.value == 4 ? .held(.closed) : .held(.renewal)
            throw .failed(AttemptFailure(StepFailure("it expired", hint: "raise the limits"), kind: kind))
        }
        let bench = EngineBench(#"{ "id": "a", "kind": "link" }, "# + Self.fetch, kinds: [Self.links(made), waiting])
        #expect(bench.end(of: bench.live()) == .success(.ended(.failed)))
        #expect(calls.value == 3 + 1 + 5 + 1 && made.value == 1 + 3 + 5)
        #expect(bench.job()?.failure?.failure.hint == "raise the limits")
    }

    /// After a crash the captures of before were gone: the other stage read null, and failed for good.
    @Test("a crash while a stage runs again takes nothing from the others that read it", arguments: 1..<30)
    func crash(commits: Int) {
        let (made, used, read) = (Mutexed(0), Mutexed<[String]>([]), Mutexed<[String]>([]))
        let link = StageKind.scripted("link", captures: ["url"]) { _, checkpoint, context async throws(StageFailure) in
            if made.value > 0, checkpoint == nil {
                return .waiting("1", until: .at(context.now + .seconds(20)), WaitReason(.time))
            }
            made.change { $0 += 1 }
            return .finished(["url": .string("u\(made.value)")])
        }
        let watch = StageKind.scripted("watch") { reading, checkpoint, context async throws(StageFailure) in
            let url = try await context.evaluate { scope throws(EvaluationFailure) in
                try reading?.evaluate(in: scope) ?? .null
            }
            read.change { $0.append(url.string ?? "null") }
            let polls = (checkpoint?.utf8.count ?? 0) + 1
            if polls > 9 { return .finished([:]) }
            let polled = String(repeating: "p", count: polls)
            return .waiting(polled, until: .at(context.now + .seconds(3)), WaitReason(.poll))
        }
        let bench = EngineBench(
            #"""
            { "id": "a", "kind": "link" }, \#(Self.fetch),
            { "id": "c", "kind": "watch", "needs": [], "reading": "${{ stages.a.url ?? null }}" }
            """#, kinds: [link, Self.fetching(used, refusing: ["u1"]), watch])
        let life = bench.live()
        bench.run { bench.diary.all.count { $0.hasPrefix("commit") } >= commits }
        life.process.kill()
        bench.memory.lose(life.process.owner)
        #expect(bench.end(of: bench.live()) == .success(.ended(.succeeded)))
        #expect(!read.value.contains("null"))
    }

    @Test("a submit that was refused for its link is sent again with a fresh one, under a key of its own")
    func refusedSubmit() {
        let (made, used) = (Mutexed(0), Mutexed<[String]>([]))
        let order = StageKind.scripted("fetch") { reading, _, context async throws(StageFailure) in
            let url = try await context.evaluate { scope throws(EvaluationFailure) in
                try reading?.evaluate(in: scope) ?? .null
            }
            let outcome = try await context.submit(body: Array((url.string ?? "").utf8)) {
                record async throws(StageFailure) in
                used.change { $0.append("\(url.string ?? "") \(record.generation)") }
                return url == "u1" ? .refused(StepFailure("refused", status: 403)) : .accepted([:])
            } reconcile: { _ async throws(StageFailure) in
                .resend
            }
            guard case .submitted = outcome else { throw .definite(StepFailure("not submitted")) }
            return .finished([:])
        }
        let bench = EngineBench(#"{ "id": "a", "kind": "link" }, "# + Self.fetch, kinds: [Self.links(made), order])
        #expect(bench.end(of: bench.live()) == .success(.ended(.succeeded)))
        #expect(used.value == ["u1 1", "u2 2"])
        #expect(bench.job()?.submits[StepKey(stage: "b")]?.phase == .submitted)
    }

    @Test("what a stage sends its own key with is sent under another one when it runs again")
    func ownKey() {
        let (keys, used) = (Mutexed<[String]>([]), Mutexed<[String]>([]))
        let link = StageKind.scripted("link", captures: ["url"]) { reading, _, context async throws(StageFailure) in
            let key = try await context.evaluate { scope throws(EvaluationFailure) in
                try reading?.evaluate(in: scope) ?? .null
            }
            keys.change { $0.append(key.string ?? "") }
            return .finished(["url": .string("u\(keys.value.count)")])
        }
        let bench = EngineBench(
            #"{ "id": "a", "kind": "link", "reading": "${{ self.key }}" }, "# + Self.fetch,
            kinds: [link, Self.fetching(used, refusing: ["u1"])])
        #expect(bench.end(of: bench.live()) == .success(.ended(.succeeded)))
        #expect(keys.value.count == 2 && Set(keys.value).count == 2)
    }

    @Test("captures that have expired are made anew before the stage begins, and without renew that is said")
    func expired() {
        let (made, used) = (Mutexed(0), Mutexed<[String]>([]))
        let link = #"{ "id": "a", "kind": "link", "expires": { "in": "60s" } }, { "id": "p", "kind": "pause" }, "#
        let kinds = [Self.links(made), Self.pause(.seconds(100)), Self.fetching(used, refusing: [])]
        let bench = EngineBench(
            link + Self.fetch.replacing("\"renew\"", with: "\"needs\": [\"p\"], \"renew\""), kinds: kinds)
        #expect(bench.end(of: bench.live()) == .success(.ended(.succeeded)))
        #expect(used.value == ["- u2"])
        let without = EngineBench(
            link + Self.fetch.replacing("\"renew\": \"a\"", with: "\"needs\": [\"p\"]"), kinds: kinds)
        #expect(without.end(of: without.live()) == .success(.ended(.failed)))
        let failure = without.job()?.failure?.failure
        #expect(failure?.title.hasPrefix("what stage 'a' captured expired at ") == true)
        #expect(failure?.hint?.contains("\"renew\": \"a\"") == true)
        #expect(used.value.count == 1)
    }

    @Test("captures that had expired when they came are not asked for again and again")
    func useless() {
        let (made, used) = (Mutexed(0), Mutexed<[String]>([]))
        let kinds = [Self.links(made), Self.fetching(used, refusing: [])]
        let bench = EngineBench(
            #"{ "id": "a", "kind": "link", "expires": { "at": "2001-01-01T00:00:00Z" } }, "# + Self.fetch, kinds: kinds)
        #expect(bench.end(of: bench.live()) == .success(.ended(.failed)))
        #expect(bench.job()?.failure?.failure.title.contains("had expired when it ended") == true)
        #expect(made.value == 1)
    }

    @Test("a stage whose fresh captures do not come fails, and the job ends")
    func sourceFails() {
        let (made, used) = (Mutexed(0), Mutexed<[String]>([]))
        let once = StageKind.scripted("link", captures: ["url"]) { _, _, _ async throws(StageFailure) in
            made.change { $0 += 1 }
            if made.value > 1 { throw .definite(StepFailure("gone")) }
            return .finished(["url": "u1"])
        }
        let bench = EngineBench(
            #"{ "id": "a", "kind": "link", "continueOnFailure": true }, "# + Self.fetch,
            kinds: [once, Self.fetching(used, refusing: ["u1"])])
        #expect(bench.end(of: bench.live()) == .success(.ended(.failed)))
        #expect(bench.job()?.failure?.failure.title.contains("did not succeed") == true)
        #expect(used.value.count == 1)
    }

    @Test("a crash at any commit of a renewal changes nothing", arguments: 1..<16)
    func renewingCrash(commits: Int) {
        let (made, used) = (Mutexed(0), Mutexed<[String]>([]))
        let bench = EngineBench(
            #"{ "id": "a", "kind": "link" }, "# + Self.fetch,
            kinds: [Self.links(made), Self.fetching(used, refusing: ["u1"])])
        let first = bench.live()
        bench.run { bench.diary.all.count { $0.hasPrefix("commit") } >= commits }
        first.process.kill()
        bench.memory.lose(first.process.owner)
        #expect(bench.end(of: bench.live()) == .success(.ended(.succeeded)))
        #expect(used.value.last?.hasSuffix("u1") == false)
    }
}
