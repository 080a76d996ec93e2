import JSONPath
import PipelineCore
import PipelineEngine
import PipelineTestKit
import Testing

/// Stages that need, skip, repeat and clean up after each other.
@Suite("Graphs of stages") struct GraphTests {
    /// A stage that captures what it is given as `x`, fails when that is "bad", and notes it in the diary.
    private static func echo(_ seen: Mutexed<[String]>, pause: Duration? = nil) -> StageKind {
        StageKind.scripted("echo", captures: ["x"]) { reading, saved, context async throws(StageFailure) in
            let value = try await context.evaluate { scope throws(EvaluationFailure) in
                try reading?.evaluate(in: scope) ?? .null
            }
            if saved == nil {
                seen.change { $0.append(value.string ?? value.text) }
                if let pause, value != "bad" {
                    return .waiting("waited", until: .at(context.now + pause), WaitReason(.time))
                }
            }
            if value == "bad" { throw .definite(StepFailure("it is bad")) }
            if value == "busy" {
                throw .failed(AttemptFailure(StepFailure("it is busy"), kind: .answered))
            }
            return .finished(["x": value])
        }
    }

    private struct Run {
        let end: JobEnd?
        let bench: EngineBench
        let seen: [String]

        func state(_ stage: String) -> StepState? { bench.state(stage) }
        func state(_ stage: String, _ item: Int) -> StepState? {
            bench.job()?.steps[StepKey(stage: stage, item: item)]?.state
        }
        var kinds: [JobEvent.Kind] { bench.recorder.events.map(\.kind) }
    }

    private static func run(_ stages: String, finally: String? = nil, pause: Duration? = nil) -> Run {
        let seen = Mutexed<[String]>([])
        let cleaning = finally.map { "], \"finally\": [ \($0)" } ?? ""
        let bench = EngineBench(stages + cleaning, kinds: [echo(seen, pause: pause)])
        let end = try? bench.end(of: bench.live())?.get()
        #expect(bench.recorder.violations.isEmpty)
        return Run(end: end, bench: bench, seen: seen.value)
    }

    // MARK: when

    @Test("a skipped stage's captures are null: who reads them is skipped too, unless it can do without")
    func skipping() {
        let run = Self.run(
            """
            { "id": "a", "kind": "echo", "when": "1 > 2", "reading": 1 },
            { "id": "reader", "kind": "echo", "reading": "${{ stages.a.x }}" },
            { "id": "further", "kind": "echo", "reading": "${{ stages.reader.x }}" },
            { "id": "default", "kind": "echo", "reading": "${{ stages.a.x ?? 'none' }}" },
            { "id": "compare", "kind": "echo", "reading": "${{ stages.a.x == null ? 'null' : 'there' }}" },
            { "id": "asks", "kind": "echo", "when": "stages.a.x == null", "reading": 2 },
            { "id": "named", "kind": "echo", "needs": ["a"], "reading": 3 }
            """)
        #expect(run.end == .ended(.succeeded))
        for skipped in ["a", "reader", "further"] { #expect(run.state(skipped) == .skipped) }
        #expect(run.state("default") == .succeeded(["x": "none"]))
        #expect(run.state("compare") == .succeeded(["x": "null"]))
        #expect(run.state("asks") == .succeeded(["x": 2]))
        #expect(run.state("named") == .succeeded(["x": 3]))
        #expect(run.kinds.count { $0 == .stageSkipped } == 3)
    }

    /// It failed: "'forEach' of stage 'each' gives null, not an array".
    @Test("a stage is skipped too whose 'forEach' or settings read a skipped stage, unless they can do without")
    func skippingElements() {
        let run = Self.run(
            """
            { "id": "a", "kind": "echo", "when": "1 > 2", "reading": 1 },
            { "id": "each", "kind": "echo", "forEach": "stages.a.x", "reading": "${{ item }}" },
            { "id": "flat", "kind": "echo", "forEach": "flatten(stages.a.x)", "reading": "${{ item }}" },
            { "id": "limit", "kind": "echo", "deadline": "${{ stages.a.x }}", "reading": 2 },
            { "id": "default", "kind": "echo", "forEach": "stages.a.x ?? []", "reading": "${{ item }}" },
            { "id": "warns", "kind": "echo", "warn": [ { "when": "stages.a.x > 1", "message": "m" } ], "reading": 3 }
            """)
        #expect(run.end == .ended(.succeeded))
        for skipped in ["each", "flat", "limit"] { #expect(run.state(skipped) == .skipped) }
        #expect(run.state("default") == .succeeded(["x": []]))
        #expect(run.state("warns") == .succeeded(["x": 3]))
    }

    @Test("a 'when' that reads the item is judged for each; what is skipped keeps its place as null")
    func whenOfItems() {
        let run = Self.run(
            """
            { "id": "a", "kind": "echo", "forEach": "split('p,q,r', ',')", "when": "item != 'q'",
              "reading": "${{ item }}" },
            { "id": "b", "kind": "echo", "reading": "${{ stages.a.x }}" }
            """)
        #expect(run.end == .ended(.succeeded))
        #expect(run.state("a", 1) == .skipped)
        #expect(run.state("b") == .succeeded(["x": ["p", nil, "r"]]))
        #expect(run.seen.sorted().prefix(2) == [#"["p",null,"r"]"#, "p"])
    }

    @Test("a 'when' that does not read the item is judged once, for the whole stage")
    func whenOfAll() {
        let run = Self.run(
            #"{ "id": "a", "kind": "echo", "forEach": "split('p,q', ',')", "when": "false", "reading": 1 }"#)
        #expect(run.end == .ended(.succeeded))
        #expect(run.state("a") == .skipped)
        #expect(run.state("a", 0) == nil)
    }

    // MARK: forEach

    @Test("no item at all is a success with empty arrays")
    func noItems() {
        let run = Self.run(#"{ "id": "a", "kind": "echo", "forEach": "parse('[]')", "reading": 1 }"#)
        #expect(run.end == .ended(.succeeded))
        #expect(run.state("a") == .succeeded(["x": []]))
    }

    @Test("as many items run at a time as the document says, also by an expression")
    func concurrency() {
        for (said, count) in [("", 4), (#""concurrency": 2,"#, 2), (#""concurrency": "${{ 1 + 2 }}","#, 3)] {
            let run = Self.run(
                """
                { "id": "a", "kind": "echo", \(said) "forEach": "split('a,b,c,d,e,f,g', ',')", "reading": "${{ item }}" }
                """, pause: .seconds(10))
            #expect(run.end == .ended(.succeeded))
            // Commits of the first wave come before anything is woken.
            let states = run.bench.diary.all
            let first = states.firstIndex(of: "commit succeeded") ?? 0
            #expect(states[..<first].count { $0 == "commit waiting" } == count, "\(said)")
        }
    }

    @Test("a concurrency that is no number fails the stage with that said")
    func wrongConcurrency() {
        let run = Self.run(
            """
            { "id": "a", "kind": "echo", "concurrency": "${{ job.id }}", "forEach": "split('a', ',')", "reading": 1 }
            """)
        #expect(run.end == .ended(.failed))
        #expect(
            run.bench.job()?.failure?.failure.title
                == #"${{ job.id }} gives "j1", and this must be a whole number from 1 to 1024"#)
    }

    @Test("all items are tried, what follows each follows it, and then the stage fails that names those that failed")
    func failingItems() {
        let run = Self.run(
            """
            { "id": "a", "kind": "echo", "concurrency": 1, "forEach": "split('p,bad,q,bad,r', ',')",
              "reading": "${{ item }}" },
            { "id": "b", "kind": "echo", "concurrency": 1, "forEach": { "stage": "a" },
              "reading": "${{ 'after ' + item }}" },
            { "id": "c", "kind": "echo", "reading": 1 }
            """, pause: .seconds(10))
        #expect(run.end == .ended(.failed))
        #expect(run.seen.filter { $0.hasPrefix("after") } == ["after p", "after q", "after r"])
        let failure = run.bench.job()?.failure
        #expect(failure?.step == StepKey(stage: "a"))
        #expect(failure?.failure.title == "2 of 5 items failed: 1, 3; item 1: it is bad")
        #expect(run.state("b", 4) == .succeeded(["x": "after r"]))
        #expect(run.state("c") == .pending)
    }

    @Test("as many items may fail as 'tolerate' says", arguments: [("1", true), (#""40%""#, true), (#""10%""#, false)])
    func tolerated(said: String, succeeds: Bool) {
        let run = Self.run(
            """
            { "id": "a", "kind": "echo", "tolerate": \(said), "forEach": "split('p,bad,q', ',')",
              "reading": "${{ item }}" }
            """)
        #expect(run.end == .ended(succeeds ? .succeeded : .failed))
        if succeeds { #expect(run.state("a") == .succeeded(["x": ["p", nil, "q"]])) }
    }

    @Test("with stopOnFailure an item that fails lets running ones end, starts no more and fails the stage")
    func failingItem() {
        let run = Self.run(
            """
            { "id": "a", "kind": "echo", "stopOnFailure": true, "concurrency": 2, "forEach": "split('bad,slow,never,never', ',')",
              "reading": "${{ item }}" },
            { "id": "b", "kind": "echo", "reading": 1 }
            """, pause: .seconds(10))
        #expect(run.end == .ended(.failed))
        #expect(run.state("a", 1) == .succeeded(["x": "slow"]))
        #expect(!run.seen.contains("never"))
        #expect(run.bench.job()?.failure?.failure.title.hasSuffix("it is bad") == true)
        #expect(run.state("b") == .pending)
    }

    /// It said "not all items of stage 'a' ran, since another stage failed".
    @Test("with stopOnFailure an item whose failure 'tolerate' allows is named by the stage that stops for it")
    func failingToleratedItem() {
        let run = Self.run(
            """
            { "id": "a", "kind": "echo", "stopOnFailure": true, "tolerate": 1, "concurrency": 1,
              "forEach": "split('p,bad,never', ',')", "reading": "${{ item }}" }
            """)
        #expect(run.end == .ended(.failed))
        #expect(run.seen == ["p", "bad"])
        #expect(
            run.bench.job()?.failure?.failure.title
                == "item 1: it is bad; with 'stopOnFailure' no more items began")
    }

    @Test(
        "with continueOnFailure all items run, and the failed one's captures are null",
        arguments: ["true", #""${{ 1 == 1 }}""#])
    func toleratedItem(flag: String) {
        let run = Self.run(
            """
            { "id": "a", "kind": "echo", "concurrency": 1, "continueOnFailure": \(flag),
              "forEach": "split('p,bad,r', ',')", "reading": "${{ item }}" },
            { "id": "b", "kind": "echo", "reading": "${{ stages.a.x }}" }
            """)
        #expect(run.end == .ended(.succeeded))
        #expect(run.state("b") == .succeeded(["x": ["p", nil, "r"]]))
    }

    @Test("a stage follows another's items as each has succeeded, and sees that item's value")
    func following() {
        let run = Self.run(
            """
            { "id": "a", "kind": "echo", "concurrency": 1, "forEach": "split('p,q', ',')", "reading": "${{ item }}" },
            { "id": "b", "kind": "echo", "forEach": { "stage": "a" },
              "reading": "${{ stages.a.x + '-' + item + '-' + string(index) }}" }
            """, pause: .seconds(10))
        #expect(run.end == .ended(.succeeded))
        #expect(run.state("b") == .succeeded(["x": ["p-p-0", "q-q-1"]]))
        #expect(run.seen == ["p", "p-p-0", "q", "q-q-1"] || run.seen == ["p", "q", "p-p-0", "q-q-1"])
    }

    @Test("an item that gave those that follow none keeps its place in their arrays, over a chain too")
    func followingFailures() {
        let run = Self.run(
            """
            { "id": "a", "kind": "echo", "forEach": "split('p,bad,q,r', ',')", "tolerate": 1, "when": "item != 'q'",
              "reading": "${{ item }}" },
            { "id": "b", "kind": "echo", "forEach": { "stage": "a" }, "reading": "${{ stages.a.x + string(index) }}" },
            { "id": "c", "kind": "echo", "forEach": { "stage": "b" }, "reading": "${{ stages.b.x + '!' }}" }
            """)
        #expect(run.end == .ended(.succeeded))
        #expect(run.state("a") == .succeeded(["x": ["p", nil, nil, "r"]]))
        #expect(run.state("b") == .succeeded(["x": ["p0", nil, nil, "r3"]]))
        #expect(run.state("c") == .succeeded(["x": ["p0!", nil, nil, "r3!"]]))
        #expect(run.state("b", 1) == nil)
    }

    // MARK: continueOnFailure

    @Test("a stage that may fail lets the others go on with null captures, and the job succeed")
    func toleratedStage() {
        let run = Self.run(
            """
            { "id": "a", "kind": "echo", "continueOnFailure": true, "reading": "bad" },
            { "id": "b", "kind": "echo", "reading": "${{ stages.a.x ?? 'nothing' }}" }
            """)
        #expect(run.end == .ended(.succeeded))
        #expect(run.state("b") == .succeeded(["x": "nothing"]))
    }

    @Test("a failure that an expression does not tolerate ends the job")
    func untolerated() {
        let run = Self.run(
            """
            { "id": "a", "kind": "echo", "continueOnFailure": "${{ 1 == 2 }}", "reading": "bad" },
            { "id": "b", "kind": "echo", "reading": 1 }
            """)
        #expect(run.end == .ended(.failed))
        #expect(run.state("b") == .pending)
    }

    // MARK: finally

    @Test("a failure that an expression tolerates is tolerated also when another expression is what fails")
    func toleratedSettings() {
        let run = Self.run(
            """
            { "id": "a", "kind": "echo", "reading": 7 },
            { "id": "b", "kind": "echo", "continueOnFailure": "${{ stages.a.x == 7 }}", "deadline": "${{ stages.a.x }}",
              "reading": 1 },
            { "id": "c", "kind": "echo", "reading": "${{ stages.b.x ?? 'none' }}" }
            """)
        #expect(run.end == .ended(.succeeded))
        #expect(run.state("b")?.name == .failed)
        #expect(run.seen == ["7", "none"])
    }

    @Test("'finally' runs in order after a success, a failure and a cancellation, and reads every capture")
    func cleaning() {
        let cleaning = """
            { "id": "one", "kind": "echo", "reading": "one ${{ stages.a.x ?? 'none' }}" },
            { "id": "two", "kind": "echo", "reading": "bad" },
            { "id": "three", "kind": "echo", "reading": "three ${{ stages.b.x ?? 'none' }}" }
            """
        let good = Self.run(
            #"{ "id": "a", "kind": "echo", "reading": "p" }, { "id": "b", "kind": "echo", "reading": "q" }"#,
            finally: cleaning)
        #expect(good.end == .ended(.succeeded), "a failure in 'finally' changes nothing")
        #expect(good.seen == ["p", "q", "one p", "bad", "three q"])
        #expect(good.kinds.contains(.stageFailed), "and is shown")
        let bad = Self.run(
            #"{ "id": "a", "kind": "echo", "reading": "p" }, { "id": "b", "kind": "echo", "reading": "bad" }"#,
            finally: cleaning)
        #expect(bad.end == .ended(.failed))
        #expect(bad.seen == ["p", "bad", "one p", "bad", "three none"])
    }

    @Test("'finally' reads what the items of a stage gave that failed: null where one failed")
    func cleaningAfterItems() {
        let run = Self.run(
            #"{ "id": "a", "kind": "echo", "forEach": "split('p,bad,q', ',')", "reading": "${{ item }}" }"#,
            finally: #"{ "id": "c", "kind": "echo", "reading": "${{ stages.a.x }}" }"#)
        #expect(run.end == .ended(.failed))
        #expect(run.seen.last == #"["p",null,"q"]"#)
    }

    /// They read null: what the failed item had made stayed at its service, the more the more was tolerated.
    @Test("'finally' reads what a tolerated item had made that failed, and no other stage does")
    func cleaningAfterToleratedItems() {
        let seen = Mutexed<[String]>([])
        let make = StageKind.scripted("make", captures: ["x"]) { reading, _, context async throws(StageFailure) in
            let value = try await context.evaluate { scope throws(EvaluationFailure) in
                try reading?.evaluate(in: scope) ?? .null
            }
            try await context.commit("made", captures: ["x": value])
            if value == "q" { throw .definite(StepFailure("it is bad")) }
            return .finished(["x": value])
        }
        let bench = EngineBench(
            #"""
            { "id": "a", "kind": "make", "forEach": "split('p,q,r', ',')", "tolerate": 1, "reading": "${{ item }}" },
            { "id": "b", "kind": "echo", "reading": "${{ stages.a.x }}" }
            ], "finally": [ { "id": "c", "kind": "echo", "reading": "${{ stages.a.x }}" }
            """#, kinds: [make, Self.echo(seen)])
        #expect(bench.end(of: bench.live()) == .success(.ended(.succeeded)))
        #expect(bench.state("a") == .succeeded(["x": ["p", nil, "r"]]))
        #expect(seen.value == [#"["p",null,"r"]"#, #"["p","q","r"]"#])
        #expect(bench.recorder.violations.isEmpty)
    }

    @Test("'finally' runs when the job is cancelled, and not when it is suspended")
    func cleaningAfterCancellation() {
        for stop in ["cancel", "suspend"] {
            let seen = Mutexed<[String]>([])
            let bench = EngineBench(
                #"{ "id": "a", "kind": "echo", "reading": "p" } ], "finally": [ { "id": "c", "kind": "tidy" }"#,
                kinds: [
                    Self.echo(seen, pause: .seconds(3600)),
                    StageKind.scripted("tidy") { _, _, _ async throws(StageFailure) in
                        seen.change { $0.append("tidied") }
                        return .finished([:])
                    },
                ])
            let life = bench.live()
            bench.run { bench.state("a")?.name == .waiting }
            if stop == "cancel" { life.drive.value?.cancel() } else { life.drive.value?.suspend(.interrupted) }
            let end = bench.end(of: life)
            #expect(end == .success(stop == "cancel" ? .ended(.cancelled) : .suspended(.interrupted)))
            #expect(seen.value == (stop == "cancel" ? ["p", "tidied"] : ["p"]))
        }
    }

    /// They read null: what the items had made was left behind.
    @Test("'finally' reads what the items had given of a stage that was cancelled, those under way too")
    func cleaningAfterCancelledItems() {
        let seen = Mutexed<[String]>([])
        let make = StageKind.scripted("make", captures: ["x"]) { reading, saved, context async throws(StageFailure) in
            let value = try await context.evaluate { scope throws(EvaluationFailure) in
                try reading?.evaluate(in: scope) ?? .null
            }
            if value == "p" { return .finished(["x": value]) }
            try await context.commit("made", captures: ["x": value])
            return .waiting("made", until: .at(context.now + .seconds(3600)), WaitReason(.time))
        }
        let bench = EngineBench(
            #"""
            { "id": "a", "kind": "make", "forEach": "split('p,q,r', ',')", "concurrency": 1, "reading": "${{ item }}" }
            ], "finally": [ { "id": "c", "kind": "echo", "reading": "${{ stages.a.x }}" }
            """#, kinds: [make, Self.echo(seen)])
        let life = bench.live()
        bench.run { bench.job()?.steps[StepKey(stage: "a", item: 1)]?.state.name == .waiting }
        life.drive.value?.cancel()
        #expect(bench.end(of: life) == .success(.ended(.cancelled)))
        #expect(seen.value == [#"["p","q",null]"#])
        #expect(bench.recorder.violations.isEmpty)
    }

    // MARK: warn

    @Test("a warning is an event, once for a stage and once for each item that it speaks of")
    func warning() {
        let run = Self.run(
            """
            { "id": "a", "kind": "echo", "reading": "p",
              "warn": [ { "when": "self.x == 'p'", "message": "it is ${{ self.x }}" },
                        { "when": "self.x == 'q'", "message": "not said" } ] },
            { "id": "b", "kind": "echo", "forEach": "split('p,q', ',')", "reading": "${{ item }}",
              "warn": [ { "when": "item == 'q'", "message": "item ${{ item }}" },
                        { "when": "len(self.x) == 2", "message": "two" } ] }
            """)
        #expect(run.end == .ended(.succeeded))
        let said = run.bench.recorder.events.filter { $0.kind == .stageWarned }.compactMap {
            $0.data["message"]?.string
        }
        #expect(said == ["it is p", "item q", "two"])
    }

    // MARK: retry

    @Test("numbers and durations of 'retry' may be expressions; the tries end as they say")
    func retries() {
        let run = Self.run(
            """
            { "id": "a", "kind": "echo", "reading": "busy",
              "retry": { "attempts": "${{ 1 + 2 }}", "delay": "${{ '10' + 's' }}", "factor": "${{ 1 }}",
                         "jitter": "none" } }
            """)
        #expect(run.end == .ended(.failed))
        #expect(run.seen.count == 3)
        let waits = run.bench.recorder.events.filter { $0.kind == .stageWaiting }
        #expect(waits.count == 2)
        if waits.count == 2 { #expect(waits[1].time - waits[0].time >= .seconds(10)) }
    }

    @Test("a value of 'retry', 'deadline' or 'discretionary' that is wrong fails the stage before it does anything")
    func wrongSettings() {
        for said in [
            #""retry": { "attempts": "${{ job.id }}" }"#, #""deadline": "${{ job.id }}""#,
            #""discretionary": "${{ job.id }}""#,
        ] {
            let run = Self.run("{ \"id\": \"a\", \"kind\": \"echo\", \"reading\": 1, \(said) }")
            #expect(run.end == .ended(.failed))
            #expect(run.seen.isEmpty)
            let title = run.bench.job()?.failure?.failure.title ?? ""
            #expect(title.hasPrefix(#"${{ job.id }} gives "j1", and "#), "\(title)")
        }
    }

    // MARK: secrets

    @Test("a capture that is secret is hidden in what is said later")
    func secretCapture() {
        let kind = StageKind(name: "token", summary: "", fields: []) { reading in
            reading.declare([CaptureDeclaration(name: "token", isSecret: true)])
            return AnyStage(
                ScriptedStage { _, _ throws(StageFailure) in .finished(["token": "sesame-open"]) }, coding: .text)
        }
        let failing = StageKind.scripted("fail") { _, _, context async throws(StageFailure) in
            throw .definite(StepFailure(context.redact("it said sesame-open")))
        }
        let bench = EngineBench(
            #"{ "id": "a", "kind": "token" }, { "id": "b", "kind": "fail" }"#, kinds: [kind, failing])
        #expect(bench.end(of: bench.live()) == .success(.ended(.failed)))
        #expect(bench.job()?.failure?.failure.title == "it said ‹secret:a.token›")
    }
}
