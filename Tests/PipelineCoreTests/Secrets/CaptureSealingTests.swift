import JSONPath
import Testing

@testable import PipelineCore

/// Shifts every byte by one and puts the secret's length in front: enough to tell sealed from plain.
private struct ShiftingSeal: SecretSeal {
    func seal(_ bytes: [UInt8], under secret: String) -> [UInt8] {
        [UInt8(secret.utf8.count)] + bytes.map { $0 &+ 1 }
    }

    func unseal(_ sealed: [UInt8], under secret: String) -> [UInt8]? {
        sealed.first == UInt8(secret.utf8.count) ? sealed.dropFirst().map { $0 &- 1 } : nil
    }
}

/// Keeps nothing, as without a key.
private struct LosingSeal: SecretSeal {
    func seal(_ bytes: [UInt8], under secret: String) -> [UInt8] { [] }
    func unseal(_ sealed: [UInt8], under secret: String) -> [UInt8]? { nil }
}

@Suite("Secrets that captured values repeat are sealed")
struct CaptureSealingTests {
    private let sealing = CaptureSealing([("KEY", "s3cret"), ("PIN", "48151623")], seal: ShiftingSeal())

    @Test(
        "and opened again as they were",
        arguments: [
            #""s3cret""#, #""a s3cret, czNjcmV0 and %733cret""#, "48151623", #"{"s3cret":[1,null,true,"x s3cret"]}"#,
            #""nothing to hide""#, "[1.50,2]", #""‹secret:KEY#zz› s3cret ‹""#,
        ])
    func roundTrip(text: String) throws {
        let value = try JSON.parse(text)
        let sealed = sealing.sealed(value)
        #expect(!sealed.text.contains("s3cret") && !sealed.text.contains("48151623"))
        #expect(sealing.opened(sealed).text == value.text)
    }

    /// Each makes one Character with the sign before or behind it.
    @Test(
        "whatever mark a service writes around them",
        arguments: [("", "\u{301}"), ("\u{600}", "\u{200D}x"), ("", "\u{FE0F}")])
    func marks(before: String, after: String) {
        let value = JSON.string(before + "s3cret" + after)
        let sealed = sealing.sealed(value)
        #expect(sealed != value)
        #expect(sealing.opened(sealed) == value)
        #expect(sealed.withoutSealed == .string(before + "‹secret:KEY›" + after))
    }

    @Test("and shown by their names")
    func shown() throws {
        let sealed = sealing.sealed(["url": "http://h/?k=s3cret&v=1", "pin": 48_151_623])
        #expect(sealed.withoutSealed == ["url": "http://h/?k=‹secret:KEY›&v=1", "pin": "‹secret:PIN›"])
    }

    @Test("under each value that a name has had, and stay closed when none fits")
    func changed() {
        let sealed = sealing.sealed("s3cret")
        let later = CaptureSealing([("KEY", "s3cret"), ("KEY", "changed-since")], seal: ShiftingSeal())
        #expect(later.opened(sealed) == "s3cret")
        #expect(CaptureSealing([("KEY", "changed-since")], seal: ShiftingSeal()).opened(sealed) == sealed)
    }

    private func scope(_ value: JSON, under secret: String, names: Set<String> = ["KEY"]) -> Scope {
        var scope = Scope(stages: ["a": ["url": value]], own: ["url": value], item: value)
        scope.open(with: CaptureSealing([("KEY", secret)], seal: ShiftingSeal()), names: names)
        return scope
    }

    /// The seal's own text was sent to services in the value's place, and the job succeeded.
    @Test(
        "and what stays closed has no value for any expression",
        arguments: ["stages.a.url", "self.url", "item"])
    func closed(path: String) throws {
        let sealed = sealing.sealed("a s3cret")
        let expression = try Expression.parse(path, in: SourceRange(start: 0, end: path.utf8.count))
        #expect(throws: EvaluationFailure.sealedSecret("KEY")) {
            _ = try expression.evaluate(in: scope(sealed, under: "changed-since"))
        }
        #expect(throws: Never.self) { try expression.evaluate(in: scope(sealed, under: "s3cret")) }
    }

    @Test("and what was not kept for want of a key fails with that said, but a service's own text does not")
    func lost() throws {
        let expression = try Expression.parse("stages.a.url ?? 'x'", in: SourceRange(start: 0, end: 19))
        let failure = #expect(throws: EvaluationFailure.self) {
            _ = try expression.evaluate(in: scope("pre-‹secret:KEY#›", under: "s3cret"))
        }
        #expect(failure?.message.contains("was not kept without PIPELINE_JOURNAL_KEY") == true)
        #expect(try expression.evaluate(in: scope("‹secret:OTHER#00›", under: "s3cret")) == "‹secret:OTHER#00›")
    }

    @Test("and a value that can't be kept is warned of, once")
    func warned() throws {
        let text = """
            { "pipeline": 1, "name": "test", "inputs": { "KEY": { "type": "string", "secret": true } },
              "stages": [ { "id": "a", "kind": "step" } ] }
            """
        let catalogue = Catalogue(kinds: JobStateTests.kinds, checkDecorators: { _, _ in })
        let plan = try Planner(catalogue: catalogue).plan(SourceText(name: "test.json", text: text))
        var values = JobValues(environment: [:], secretInputs: ["KEY": "s3cret"], seal: LosingSeal())
        values.renewSealing(for: [:], of: plan)
        let key = StepKey(stage: "a")
        let snapshot = JobSnapshot(
            record: JobSnapshotTests.record, steps: [key: StepRecord(state: .running(AttemptState()))], mode: .attached)
        var table = JobTable(snapshot, plan: plan, values: values, at: JobMoment(Samples.now))
        for _ in 0..<2 {
            let report = StepReport.progress(
                checkpoint: [], captures: ["url": "a s3cret"], isFarther: true, mayWait: false)
            report.keep(of: key, StepNotes(), counts: 0, in: &table)
        }
        let warnings = table.takeChanges().changes.compactMap { change -> String? in
            guard case .event(let event) = change, event.kind == .stageWarned else { return nil }
            return event.data["message"]?.string
        }
        let warning = "what repeats the secret KEY is not kept without PIPELINE_JOURNAL_KEY, and no stage can use it"
        #expect(warnings == [warning])
        #expect(table.currentScope(for: key).closed == ["KEY"])
    }

    @Test("and so are texts that were made of one, under that one")
    func parts() {
        let whole = #"[{"u":"ann","p":"pw-long-1"}]"#
        let sealing = CaptureSealing(
            [("ACC", whole)], parts: [("ACC", "pw-long-1"), ("OTHER", "pw-long-2")], seal: ShiftingSeal())
        let value: JSON = ["echo": "it was pw-long-1", "other": "pw-long-2"]
        let sealed = sealing.sealed(value)
        #expect(sealed.withoutSealed == ["echo": "it was ‹secret:ACC›", "other": "pw-long-2"])
        // Who goes on has the secret, and does not know its parts yet.
        #expect(CaptureSealing([("ACC", whole)], seal: ShiftingSeal()).opened(sealed) == value)
    }

    @Test("and of what a stage is repeated over, where that is made of a secret, all texts are such")
    func elements() throws {
        let whole = #"[{"u":"ann","p":"pw-long-1"}]"#
        let plan = try JobStateTests.plan(#"{ "id": "a", "kind": "step", "forEach": "parse(secrets.ACC)" }"#)
        func values(_ steps: [StepKey: StepRecord]) -> JobValues {
            var values = JobValues(environment: [:], secrets: ["ACC": whole], seal: ShiftingSeal())
            values.renewSealing(for: steps, of: plan)
            return values
        }
        let (key, item) = (StepKey(stage: "a"), StepKey(stage: "a", item: 0))
        let snapshot = JobSnapshot(
            record: JobSnapshotTests.record, steps: [key: StepRecord(state: .running(AttemptState()))], mode: .attached)
        let table = JobTable(snapshot, plan: plan, values: values([:]), at: JobMoment(Samples.now))
        var state = JobState(table, settings: JobSettings(), marks: EstimateMarks())
        let element: JSON = ["u": "ann", "p": "pw-long-1"]
        let found = ForEachItems(elements: [element], concurrencyLimit: nil)
        _ = try state.apply(.found(.items(key, .success(found))), at: JobMoment(Samples.now))
        let kept = try #require(state.snapshot.steps[item]?.value)
        #expect(kept.withoutSealed == ["u": "ann", "p": "‹secret:ACC›"])
        #expect(state.table.currentScope(for: item).item == element)
        #expect(values(state.snapshot.steps).secretParts.map(\.value) == ["pw-long-1"])
    }

    @Test("but those of fewer than four bytes stand in every other word, and stay")
    func short() {
        #expect(CaptureSealing([("N", "one")], seal: ShiftingSeal()).sealed("one") == "one")
    }
}
