import JSONPath
import PipelineCore
import Testing

/// What is computed of a job, and names that must never change.
@Suite struct JobSnapshotTests {
    static let record = JobRecord(
        id: JobID("0j"), pipeline: "test", key: "key", started: Samples.now, source: "", sourceName: "", digest: "",
        inputs: [:], environment: [:], folders: JobFolders(document: "/", output: "/"), overwrites: false)

    private func job(_ states: StepState..., tolerant: Set<Int> = []) -> JobSnapshot {
        let steps = states.enumerated().map { index, state in
            (StepKey(stage: "s\(index)"), StepRecord(state: state, toleratesFailure: tolerant.contains(index)))
        }
        return JobSnapshot(record: Self.record, steps: Dictionary(uniqueKeysWithValues: steps), mode: .attached)
    }

    private let running = StepState.running(AttemptState())
    private let waiting = StepState.waiting(AttemptState(), .at(Samples.now), WaitReason(.poll))
    private let unknown = StepState.unknown(AttemptState(), Samples.lost)

    @Test("the phase is computed from the steps and the owner")
    func phase() {
        #expect(job(running, waiting).phase(isOwned: true) == .running)
        #expect(job(.pending).phase(isOwned: true) == .waiting)
        #expect(job(.succeeded([:]), .pending).phase(isOwned: true) == .waiting)
        #expect(job(.succeeded([:])).phase(isOwned: true) == .running)
        #expect(job(waiting, .succeeded([:])).phase(isOwned: true) == .waiting)
        #expect(job(waiting).phase(isOwned: false) == .suspended)
        #expect(job(running).phase(isOwned: false) == .suspended)
        #expect(job(unknown, .pending).phase(isOwned: false) == .unknown)
        #expect(job(unknown, waiting).phase(isOwned: false) == .suspended)
    }

    // Workers took such a job up and let it go without end, and nothing showed it as unknown.
    @Test("a repeated stage's own step says nothing of the job's phase: its items do")
    func repeatedPhase() {
        func job(_ items: StepState...) -> JobSnapshot {
            var steps = [StepKey(stage: "c"): StepRecord(state: running)]
            for (item, state) in items.enumerated() {
                steps[StepKey(stage: "c", item: item)] = StepRecord(state: state)
            }
            var job = JobSnapshot(record: Self.record, steps: steps, mode: .attached)
            for change: JournalChange in [.taken(.background), .released(nil)] { job.apply(change) }
            return job
        }
        let stopped = job(unknown, .succeeded([:]))
        #expect(stopped.phase(isOwned: false) == .unknown && !stopped.goesOnByItself && !stopped.isQueued)
        #expect(stopped.suspension(isOwned: false) == nil)
        #expect(job(unknown, waiting).phase(isOwned: false) == .suspended)
        #expect(job(unknown, running).phase(isOwned: false) == .suspended)
        #expect(job(waiting).phase(isOwned: true) == .waiting)
    }

    /// A batch that stopped waited for ever for such an item to come to rest.
    @Test("what is unknown waits for no place, and keeps what does from no pause")
    func waitsForPlaceAlone() {
        let held = StepState.waiting(AttemptState(), .at(Samples.now), WaitReason(.full))
        #expect(job(held, .pending).steps.waitForPlaceAlone && job(held, unknown).steps.waitForPlaceAlone)
        #expect(!job(held, waiting).steps.waitForPlaceAlone && !job(held, running).steps.waitForPlaceAlone)
        #expect(!job(unknown).steps.waitForPlaceAlone)
    }

    @Test("an item was cut off where all of its unknown submits went out before another owner took it up")
    func cutOff() {
        var attempt = AttemptState()
        attempt.takenUp = Samples.now
        func isCutOff(_ sent: Int...) -> Bool? {
            let states = sent.map { _ in StepState.unknown(attempt, Samples.lost) }
            var steps: [StepKey: StepRecord] = [:]
            var submits: [StepKey: SubmitRecord] = [:]
            for (index, (state, seconds)) in zip(states, sent).enumerated() {
                let key = StepKey(stage: "c", item: index)
                steps[key] = StepRecord(state: state)
                submits[key] = SubmitRecord(key: "k", generation: 1, digest: "", phase: .unknown)
                submits[key]?.lastSent = Samples.now + .seconds(seconds)
            }
            var job = JobSnapshot(record: Self.record, steps: steps, mode: .attached)
            for (key, submit) in submits { job.apply(.submit(key, submit)) }
            return ItemOutcome(unknownIn: job).failure?.wasCutOff
        }
        #expect(isCutOff(-1, -5) == true)
        #expect(isCutOff(-1, 1) == false)
        #expect(isCutOff(1) == false)
    }

    @Test("a job of the background goes on by itself unless a person is to do something first")
    func goesOnByItself() {
        func job(_ state: StepState, _ changes: JournalChange...) -> JobSnapshot {
            changes.reduce(into: self.job(state)) { $0.apply($1) }
        }
        #expect(!job(.pending).goesOnByItself)
        #expect(!job(.pending, .taken(.attached), .released(nil)).goesOnByItself)
        #expect(job(.pending, .taken(.background), .released(nil)).goesOnByItself)
        #expect(!job(.succeeded([:]), .taken(.background), .ended(Samples.now)).goesOnByItself)
        #expect(!job(unknown, .taken(.background), .released(nil)).goesOnByItself)
        #expect(job(unknown, .taken(.background), .released(nil), .requested(.cancel)).goesOnByItself)
        let itself: Set<SuspensionCause> = [.noNetwork, .secret, .crashed, .extension]
        for cause in SuspensionCause.allCases {
            var suspended = job(.pending, .taken(.background), .released(cause))
            #expect(suspended.goesOnByItself == itself.contains(cause))
            suspended.post(.cancel)
            #expect(suspended.goesOnByItself)
        }
    }

    /// A cancellation that was posted while its job was let go went with the pause: the job was gone on with, and paid for.
    @Test("a job that is let go has paused, unless another program is to go on with it, and is still to be cancelled")
    func letGo() {
        for cause in SuspensionCause.allCases {
            for request in [JobRequest.pause, .cancel] {
                var job = job(waiting)
                job.post(request)
                for change in job.letGo(cause, at: JobMoment(Samples.now)) { job.apply(change) }
                let isKept = request == .cancel || cause == .extension
                #expect(job.request == (isKept ? request : nil) && job.sequence == 1)
                let isOfBatch = [.tooManyFailures, .sameFailure, .spent].contains(cause)
                #expect(job.cause == (isOfBatch ? .paused : cause))
            }
        }
    }

    @Test("a pause takes the place of no cancellation, and a cancellation that of a pause")
    func requests() {
        var job = job(waiting)
        job.post(.pause)
        job.post(.cancel)
        job.post(.pause)
        #expect(job.request == .cancel)
        job.apply(.answered(.pause))
        #expect(job.request == .cancel)
        job.apply(.answered(.cancel))
        #expect(job.request == nil)
    }

    @Test("an ended job's phase is its outcome, whoever owns it")
    func ended() {
        for (state, expected): (StepState, JobPhase) in [
            (.succeeded([:]), .succeeded), (.failed(Samples.failure), .failed), (.cancelled, .cancelled),
            (.skipped, .succeeded),
        ] {
            var job = job(.succeeded([:]), state)
            job.apply(.ended(Samples.now))
            #expect(job.phase(isOwned: true) == expected)
            #expect(job.phase(isOwned: false) == expected)
        }
        var tolerated = job(.failed(Samples.failure), tolerant: [0])
        tolerated.apply(.ended(Samples.now))
        #expect(tolerated.phase(isOwned: false) == .succeeded)
    }

    @Test("the failure of a job is the first by time")
    func failure() {
        var job = job(.failed(StepFailure("late")), .failed(StepFailure("early")))
        job.steps[StepKey(stage: "s0")]?.ended = Samples.now + .seconds(1)
        job.steps[StepKey(stage: "s1")]?.ended = Samples.now
        #expect(job.failure?.failure.title == "early")
    }

    // Items in which there was nothing to pay once counted as items whose cost nobody knows.
    @Test("an item costs nothing where each stage with a cost was skipped or had no items; nil is for one that ran")
    func cost() throws {
        let plan = try JobStateTests.plan(
            """
            { "id": "s0", "kind": "step" }, { "id": "s1", "kind": "step", "cost": "1" },
            { "id": "s2", "kind": "step", "forEach": "[]", "cost": "1" }
            """)
        let done = StepState.succeeded([:])
        func cost(_ states: StepState...) -> Double? {
            let steps = states.enumerated().map { (StepKey(stage: "s\($0.offset)"), StepRecord(state: $0.element)) }
            let job = JobSnapshot(record: Self.record, steps: Dictionary(uniqueKeysWithValues: steps), mode: .attached)
            return ItemOutcome(endOf: job, in: plan, at: Samples.now).cost
        }
        #expect(cost(done, .skipped, .skipped) == 0)
        #expect(cost(done, .skipped, done) == 0)
        #expect(cost(done, done, .skipped) == nil)
        #expect(cost(done, .failed(Samples.failure), .skipped) == nil)
        #expect(cost(done) == nil, "no stage says a cost")
    }

    // `results` showed -3600 s once a clock was set back by an hour.
    @Test("an item that ended before it began, by a clock that was set back, took no time")
    func length() throws {
        let plan = try JobStateTests.plan(#"{ "id": "s0", "kind": "step" }"#)
        let job = job(.succeeded([:]))
        let started = job.record.started
        #expect(ItemOutcome(endOf: job, in: plan, at: started - .seconds(3600)).seconds == 0)
        #expect(ItemOutcome(endOf: job, in: plan, at: started + .seconds(2)).seconds == 2)
    }

    @Test("a job without an owner is suspended with its cause, crashed when nobody wrote one")
    func suspension() {
        var job = job(waiting)
        #expect(job.suspension(isOwned: true) == nil)
        #expect(job.suspension(isOwned: false) == .crashed)
        job.apply(.released(.paused))
        #expect(job.suspension(isOwned: false) == .paused)
        job.apply(.taken(.background))
        #expect(job.suspension(isOwned: false) == .crashed)
        job.apply(.released(nil))
        #expect(job.suspension(isOwned: false) == .interrupted, "the background owner stopped")
        job.apply(.ended(Samples.now))
        #expect(job.suspension(isOwned: false) == nil)
    }

    @Test("a job that waits for a person to settle a submit is unknown, and has no cause beside it")
    func unknownHasNoCause() {
        #expect(job(unknown, .pending).suspension(isOwned: false) == nil)
        #expect(job(unknown, waiting).suspension(isOwned: false) == .crashed)
    }

    @Test("ids of jobs sort by their time, whatever their random bits")
    func order() {
        let times = [0, 1, 999, 1_790_000_000_000, 1_790_000_000_001].map { Timestamp(milliseconds: $0) }
        let ids = times.enumerated().map { index, time in
            JobID(at: time, random: (high: UInt16(9 - index), low: UInt64.max - UInt64(index)))
        }
        #expect(ids == ids.sorted())
        for id in ids {
            #expect(id.text.utf8.count == 26)
            #expect(id.text.allSatisfy { "0123456789abcdefghjkmnpqrstvwxyz".contains($0) })
        }
        #expect(JobID(at: .epoch, random: (0, 31)).text == "0000000000000000000000000z")
        #expect(Set(ids.map(\.text)).count == ids.count)
    }

    @Test("a submit's key is the same for ever, and differs with all that tells submits apart")
    func submitKey() {
        let step = StepKey(stage: "model")
        let key = SubmitName(jobKey: "selfie-7", step: step).key(ofGeneration: 1)
        // Services may remember it: a change of this value submits work a second time after an upgrade.
        #expect(key == "b5b29222-e1b6-82f3-aff3-9d674e9a79ec")
        #expect(key == SubmitName(jobKey: "selfie-7", step: step).key(ofGeneration: 1))
        let others = [
            SubmitName(jobKey: "selfie-8", step: step).key(ofGeneration: 1),
            SubmitName(jobKey: "selfie-7", step: StepKey(stage: "other")).key(ofGeneration: 1),
            SubmitName(jobKey: "selfie-7", step: StepKey(stage: "model", item: 0)).key(ofGeneration: 1),
            SubmitName(jobKey: "selfie-7", step: step).key(ofGeneration: 2),
        ]
        #expect(Set(others + [key]).count == 5)
        let groups = key.split(separator: "-")
        #expect(groups.map(\.count) == [8, 4, 4, 4, 12])
        #expect(groups[2].first == "8" && "89ab".contains(groups[3].first ?? " "))
    }

    @Test("steps sort by stage, then item, the stage itself first")
    func stepOrder() {
        let keys = [
            StepKey(stage: "b"), StepKey(stage: "a", item: 10), StepKey(stage: "a", item: 2), StepKey(stage: "a"),
        ]
        #expect(keys.sorted().map(\.description) == ["a", "a[2]", "a[10]", "b"])
    }

    @Test("files are listed stage by stage, and those of items in the order of the items")
    func orderedFiles() {
        var job = JobSnapshot(record: Self.record, steps: [:], mode: .attached)
        func write(_ path: String, _ stage: String?, _ item: Int? = nil) {
            let step = stage.map { StepKey(stage: $0, item: item) }
            job.apply(.file(WrittenFile(path: path, bytes: 1, sha256: "", step: step)))
        }
        write("/b2", "b", 2)
        write("/a", "a")
        write("/old", nil)
        write("/b0", "b", 0)
        write("/b10", "b", 10)
        write("/b2 as well", "b", 2)
        #expect(job.orderedFiles.map(\.path) == ["/b0", "/b2", "/b2 as well", "/b10", "/a", "/old"])
        #expect(job.files.first?.path == "/b2")
    }

    @Test("what was said of a file is known when it is another one; of one of its own that is the size and the digests")
    func readFiles() throws {
        var job = JobSnapshot(record: Self.record, steps: [:], mode: .attached)
        for path in ["/in", "/out", "/copy"] {
            job.apply(.fact(.size(path), FileFact(value: 1, fingerprint: "before").json))
            job.apply(.fact(.text(path), FileFact(value: "x", fingerprint: "before").json))
        }
        job.apply(.file(WrittenFile(path: "/out", bytes: 1, sha256: nil)))
        job.apply(.fact(.copy(url: "https://example.com/a"), "/copy"))
        let table = job.table(in: try JobStateTests.plan(#"{ "id": "a", "kind": "step" }"#), at: Samples.now)
        for path in ["/in", "/out", "/copy"] {
            #expect(table.facts(ofFileAt: path, otherThan: "before") == [:])
            let told = table.facts(ofFileAt: path, otherThan: "now")
            #expect(told[.size(path)] == 1 && told[.text(path)] == (path == "/in" ? "x" : nil))
        }
        #expect(table.facts(ofFileAt: "/unread", otherThan: "now") == [:])
    }

    /// After 'retry --from' with a shorter list they were told as results.
    @Test("what a step wrote in an earlier run that is skipped in the last one is not listed")
    func filesOfSkipped() {
        let (kept, gone) = (StepKey(stage: "a", item: 0), StepKey(stage: "a", item: 1))
        var job = JobSnapshot(
            record: Self.record, steps: [kept: StepRecord(state: .succeeded([:])), gone: StepRecord(state: .skipped)],
            mode: .attached)
        for (key, path) in [(kept, "/kept"), (gone, "/gone")] {
            job.apply(.file(WrittenFile(path: path, bytes: 1, sha256: "", step: key)))
        }
        #expect(job.orderedFiles.map(\.path) == ["/kept"])
    }
}
