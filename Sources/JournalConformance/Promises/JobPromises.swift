import JSONPath
package import PipelineCore

/// The trials of what every journal keeps of jobs.
package enum JobPromises {
    static let owner = OwnerID("owner-a")
    static let other = OwnerID("owner-b")

    static func creates(_ world: any JournalWorld, _ check: ConformanceCheck) async throws {
        let journal = try world.open()
        let job = JobSnapshot.example(1)
        let lease = try await journal.create(job, events: [job.event(1, .jobStarted, step: nil)], owner: owner)
        check.expect(lease == Lease(job: job.record.id, owner: owner, epoch: 1))
        let read = try check.require(try await journal.snapshot(of: job.record.id))
        var expected = job
        expected.sequence = 1
        check.expect(SnapshotEssence.differences(read, expected) == [])
        check.expect(read.record.inputs["big"]?.number?.literal == "12345678901234567890")
        check.expect(read.record.inputs.names == ["video", "big"])
        let names = JobBeginning(foundSecrets: ["TOKEN"], defaultedInputs: ["pin"], inputDigest: "1a2b")
        let defaulted = JobSnapshot.example(3, beginning: names)
        _ = try await journal.create(defaulted, events: [], owner: owner)
        check.expect(try await journal.snapshot(of: defaulted.record.id)?.record.beginning == names)
        check.expect(try await journal.snapshot(of: JobID("nobody")) == nil)
    }

    static func keepsChanges(_ world: any JournalWorld, _ check: ConformanceCheck) async throws {
        let journal = try world.open()
        var job = JobSnapshot.example(2)
        var lease = try await journal.create(job, events: [], owner: owner)
        for changes in Self.history(job) {
            try await journal.commit(changes, under: lease)
            if changes.contains(where: \.endsOwnership) {
                lease = try await journal.acquire(job.record.id, for: owner)
            }
            for change in changes { job.apply(change) }
            let read = try check.require(try await journal.snapshot(of: job.record.id))
            check.expect(SnapshotEssence.differences(read, job) == [])
            let brief = try check.require(try await journal.jobs(JobQuery(isBrief: true)).first?.snapshot)
            check.expect(brief.phase(isOwned: false) == job.phase(isOwned: false) && brief.ended == job.ended)
            check.expect(brief.steps.mapValues(\.state.name) == job.steps.mapValues(\.state.name))
            check.expect(brief.failure?.failure == job.failure?.failure && brief.files == job.files)
            check.expect(brief.record.key == job.record.key && brief.cause == job.cause)
        }
        let events = try await journal.events(of: job.record.id, after: 0)
        check.expect(events.map(\.sequence) == [1, 2])
        check.expect(events.last == job.event(2, .jobSuspended, step: nil))
        check.expect(try await journal.events(of: job.record.id, after: 1) == Array(events.dropFirst()))
        check.expect(try await journal.events(of: job.record.id, after: 2).isEmpty)
    }

    static func keepsPushedValues(_ world: any JournalWorld, _ check: ConformanceCheck) async throws {
        let journal = try world.open()
        let id = JobSnapshot.example(3).record.id
        let lease = try await journal.create(JobSnapshot.example(3), events: [], owner: owner)
        let values: JSONObject = ["text": "hello", "parts": [1, ["n": nil]]]
        _ = try await journal.post(Callback(id: "1", time: .at(5), captures: ["text": "early"]), to: .upload, of: id)
        _ = try await journal.post(Callback(id: "2", time: .at(6), captures: values), to: .upload, of: id)
        _ = try await journal.post(Callback(id: "3", time: .at(7)), to: .upload, of: id)
        let count = CallbackCount(waiting: 3, captures: values)
        check.expect(try await journal.snapshot(of: id)?.pushes == [.upload: count])
        check.expect(try await journal.inbox(of: id)?.pushes == [.upload: count])
        try await journal.commit([.callbacksTaken(.upload, count: 2)], under: lease)
        check.expect(
            try await journal.snapshot(of: id)?.pushes
                == [.upload: CallbackCount(waiting: 1, taken: 2, captures: values)], "its owner knew of two")
        try await journal.commit([.callbacksTaken(.upload, count: 1)], under: lease)
        check.expect(try await journal.snapshot(of: id)?.pushes == [.upload: CallbackCount(taken: 3, captures: values)])
        try await journal.commit([.callbacksVoided(.upload)], under: lease)
        check.expect(try await journal.snapshot(of: id)?.pushes[.upload] == nil)
    }

    static func keepsEarlyCallbacks(_ world: any JournalWorld, _ check: ConformanceCheck) async throws {
        let journal = try world.open()
        let id = JobSnapshot.example(3).record.id
        let lease = try await journal.create(JobSnapshot.example(3), events: [], owner: owner)
        let early = ["1", "2", "3"].enumerated().map { number, name in
            Callback(
                id: name, time: .at(Int64(number)), captures: ["text": .string(name)],
                response: ["body": ["id": .string(name)]])
        }
        for callback in early { _ = try await journal.post(callback, to: .upload, of: id) }
        var count = CallbackCount()
        count.early = early
        check.expect(try await journal.inbox(of: id)?.pushes == [.upload: count])
        try await journal.commit([.callbacksTaken(.upload, count: 1)], under: lease)
        check.expect(try await journal.snapshot(of: id)?.pushes == [.upload: count])
        try await journal.commit(
            [
                .callbackJudged(.upload, id: "2", isMatch: true), .callbackJudged(.upload, id: "3", isMatch: false),
            ], under: lease)
        count = CallbackCount(waiting: 1, captures: ["text": "2"])
        count.early = [early[0]]
        check.expect(try await journal.snapshot(of: id)?.pushes == [.upload: count])
        try await journal.commit([.callbacksTaken(.upload, count: 1)], under: lease)
        count.waiting = 0
        count.taken = 1
        check.expect(try await journal.snapshot(of: id)?.pushes == [.upload: count])
        check.expect(try await !journal.post(early[2], to: .upload, of: id).isNew)
        try await journal.commit([.callbacksVoided(.upload)], under: lease)
        check.expect(try await journal.snapshot(of: id)?.pushes[.upload] == nil)
    }

    static func keepsPushes(_ world: any JournalWorld, _ check: ConformanceCheck) async throws {
        let journal = try world.open()
        let id = JobSnapshot.example(3).record.id
        let lease = try await journal.create(JobSnapshot.example(3), events: [], owner: owner)
        let push = Callback(id: "evt_1", time: .at(5))
        check.expect(try await journal.post(push, to: .upload, of: id).isNew)
        check.expect(try await !journal.post(push, to: .upload, of: id).isNew)
        check.expect(try await journal.post(push, to: .model, of: id).isNew)
        check.expect(try await journal.post(Callback(id: "evt_2", time: .at(6)), to: .upload, of: id).isNew)
        var counts = try await journal.snapshot(of: id)?.pushes
        check.expect(counts == [.upload: CallbackCount(waiting: 2), .model: CallbackCount(waiting: 1)])
        try await journal.commit([.callbacksTaken(.upload, count: 2)], under: lease)
        check.expect(try await journal.post(Callback(id: "evt_3", time: .at(7)), to: .upload, of: id).isNew)
        counts = try await journal.snapshot(of: id)?.pushes
        check.expect(counts?[.upload] == CallbackCount(waiting: 1, taken: 2))
        check.expect(try await journal.inbox(of: id) == JobInbox(request: nil, pushes: counts ?? [:]))
        _ = try await journal.post(.cancel, to: id)
        check.expect(try await journal.inbox(of: id) == JobInbox(request: .cancel, pushes: counts ?? [:]))
        check.expect(try await journal.inbox(of: JobID("x")) == nil)
        try await journal.commit([.callbacksVoided(.upload)], under: lease)
        check.expect(try await journal.snapshot(of: id)?.pushes[.upload] == nil)
        check.expect(try await !journal.post(push, to: .upload, of: id).isNew, "a repetition stays one")
        await check.expect(throws: JournalFailure.noSuchJob(JobID("x"))) {
            _ = try await journal.post(push, to: .upload, of: JobID("x"))
        }
    }

    static func keepsNotifications(_ world: any JournalWorld, _ check: ConformanceCheck) async throws {
        let journal = try world.open()
        var job = JobSnapshot.example(4)
        var record = NotificationRecord(
            id: "n-0-1", entry: 0, event: .started, state: .due, due: .at(1), time: .at(1), title: "started",
            data: ["a": [1, "é"]])
        // One that comes with the job, and one that is made later.
        job.notifications[record.id] = record
        let id = job.record.id
        let lease = try await journal.create(job, events: [], owner: owner)
        var planned = NotificationRecord(
            id: "n-1-late", entry: 1, event: .late, state: .planned, due: .at(60), time: .at(60), title: "late")
        try await journal.commit([.notification(planned)], under: lease)
        check.expect(try await journal.snapshot(of: id)?.notifications == [record.id: record, planned.id: planned])
        planned.due = .at(90)
        record.failures = 1
        record.failingSince = .at(2)
        record.problem = "busy"
        try await journal.commit([.notification(planned), .notification(record)], under: lease)
        check.expect(try await journal.snapshot(of: id)?.notifications == [record.id: record, planned.id: planned])
        record.state = .sent
        try await journal.commit([.notification(record)], under: lease)
        await check.expect(throws: JournalFailure.self) {
            try await journal.commit([.notification(record)], under: lease)
        }
        check.expect(try await journal.snapshot(of: id)?.notifications[record.id]?.state == .sent)
        check.expect(try await journal.snapshot(of: id)?.nextTelling == nil)
    }

    /// One commit of every kind of change and of every state.
    package static func history(_ job: JobSnapshot) -> [[JournalChange]] {
        var step = StepRecord()
        step.checkpoint = [0, 1, 255]
        step.captures = ["url": "/u/1", "none": .null]
        step.started = .at(1)
        step.attempts = 2
        step.resumes = 3
        step.bytesSent = 5_000_000_000
        step.bytesReceived = 7
        let attempt = AttemptState(number: 2, failures: 1, noResponseCount: 1, failingSince: .at(2))
        let states: [StepState] = [
            .running(attempt), .waiting(attempt, .at(.at(9)), WaitReason(.poll, detail: "soon")),
            .waiting(attempt, .callback(orAt: nil), WaitReason(.callback)),
            .waiting(attempt, .resume, WaitReason(.secret)),
            .unknown(attempt, UnknownSubmit(key: "k", since: .at(3), reason: "lost")), .succeeded(["id": 5]),
            .failed(StepFailure("broken", hint: "mend", status: 500)), .cancelled, .skipped, .pending,
        ]
        let rows = states.enumerated().map { index, state in
            step.state = state
            step.version = index + 1
            step.ended = state.isEnded ? .at(99) : nil
            step.expires = index.isMultiple(of: 2) ? .at(Int64(1000 + index)) : nil
            return [JournalChange.step(.upload, step)]
        }
        var submit = SubmitRecord(key: "key-1", generation: 1, digest: "abc", phase: .sending)
        submit.sends = 1
        submit.firstSent = .at(4)
        submit.lastSent = .at(5)
        submit.misses = 2
        var empty = StepRecord(state: .running(AttemptState()), value: .null)
        empty.checkpoint = []
        empty.version = 1
        return rows + [
            [.submit(.model, submit), .event(job.event(1))],
            [.submit(.model, SubmitRecord(key: "key-2", generation: 2, digest: "", phase: .submitted))],
            [.fact(.size("/a"), 5), .fact(.now(place: "1:2"), "2026"), .fact(.jsonLines("/l"), [1, ["a": .null]])],
            [
                .fact(.digest("/a", .sha256), "h"), .fact(.digest("/a", .md5), "m"), .fact(.text("/a"), "t"),
                .fact(.base64("/a"), "b"),
            ],
            [.fact(.size("/a"), 6), .step(StepKey(stage: "model", item: 0), empty)],
            [
                .file(WrittenFile(path: "/x", bytes: 1, sha256: "1")),
                .file(WrittenFile(path: "/y", bytes: 2, sha256: "2")),
            ],
            [.file(WrittenFile(path: "/x", bytes: 3, sha256: "3"))],
            [.requested(.pause), .released(.paused), .event(job.event(2, .jobSuspended, step: nil))],
            [.taken(.background)], [.requested(nil)], [.ended(.at(50))], [.reopened],
        ]
    }

    static func fileSteps(_ world: any JournalWorld, _ check: ConformanceCheck) async throws {
        let journal = try world.open()
        let job = JobSnapshot.example(4)
        let lease = try await journal.create(job, events: [], owner: owner)
        let steps = [StepKey(stage: "get", item: 1), StepKey(stage: "get", item: 0), StepKey(stage: "end"), nil]
        let files = steps.enumerated().map { WrittenFile(path: "/\($0)", bytes: 1, sha256: "1", step: $1) }
        let facts: [Fact: JSON] = [
            .written("/0"): "1 2", .sent(by: StepKey(stage: "get", item: 0)): ["/a:b": "1 2.3 4"],
        ]
        try await journal.commit(
            files.map(JournalChange.file) + facts.map { .fact($0.key, $0.value) }, under: lease)
        let read = try check.require(try await journal.snapshot(of: job.record.id))
        check.expect(read.files.suffix(4) == files && facts.allSatisfy { read.facts[$0.key] == $0.value })
    }

    static func isAtomic(_ world: any JournalWorld, _ check: ConformanceCheck) async throws {
        let journal = try world.open()
        let job = JobSnapshot.example(3)
        let lease = try await journal.create(job, events: [], owner: owner)
        var stale = StepRecord(state: .running(AttemptState()))
        stale.version = 5
        let changes: [JournalChange] = [
            job.next(.upload, .running(AttemptState())), .event(job.event(1)), .fact(.size("/a"), 1),
            .step(.model, stale),
        ]
        await check.expect(throws: JournalFailure.conflict(.model)) { try await journal.commit(changes, under: lease) }
        let read = try check.require(try await journal.snapshot(of: job.record.id))
        check.expect(SnapshotEssence.differences(read, job) == [])
        check.expect(try await journal.events(of: job.record.id, after: 0).isEmpty)
        try await journal.commit(Array(changes.dropLast()), under: lease)
    }

    static func comparesVersions(_ world: any JournalWorld, _ check: ConformanceCheck) async throws {
        let journal = try world.open()
        let job = JobSnapshot.example(4)
        let lease = try await journal.create(job, events: [], owner: owner)
        let change = job.next(.upload, .running(AttemptState()))
        try await journal.commit([change], under: lease)
        await check.expect(throws: JournalFailure.conflict(.upload)) {
            try await journal.commit([change], under: lease)
        }
        var far = StepRecord()
        far.version = 2
        let unheardOf = StepKey(stage: "new")
        await check.expect(throws: JournalFailure.conflict(unheardOf)) {
            try await journal.commit([.step(unheardOf, far)], under: lease)
        }
    }

    static func ordersEvents(_ world: any JournalWorld, _ check: ConformanceCheck, sequence: Int?) async throws {
        let journal = try world.open()
        let job = JobSnapshot.example(5)
        let lease = try await journal.create(job, events: [job.event(1)], owner: owner)
        await check.expect(throws: JournalFailure.self) {
            try await journal.commit([.event(job.event(sequence))], under: lease)
        }
        try await journal.commit([.event(job.event(2))], under: lease)
        check.expect(try await journal.snapshot(of: job.record.id)?.sequence == 2)
    }

    static func refusesCrashed(_ world: any JournalWorld, _ check: ConformanceCheck) async throws {
        let journal = try world.open()
        let lease = try await journal.create(.example(6), events: [], owner: owner)
        await check.expect(throws: JournalFailure.self) {
            try await journal.commit([.released(.crashed)], under: lease)
        }
    }

    static func guardsKeys(_ world: any JournalWorld, _ check: ConformanceCheck) async throws {
        let journal = try world.open()
        let first = JobSnapshot.example(7, key: "nightly")
        _ = try await journal.create(first, events: [], owner: owner)
        await check.expect(throws: JournalFailure.keyTaken(first.record.id)) {
            _ = try await journal.create(.example(8, key: "nightly"), events: [], owner: other)
        }
        check.expect(try await journal.jobs(JobQuery()).count == 1)
        await check.expect(throws: JournalFailure.self) {
            _ = try await journal.create(.example(7, key: "another"), events: [], owner: other)
        }
    }

    static func lists(_ world: any JournalWorld, _ check: ConformanceCheck) async throws {
        let journal = try world.open()
        for number in 1...6 {
            let job = JobSnapshot.example(number * 1_000, pipeline: number % 2 == 0 ? "even" : "odd")
            let lease = try await journal.create(job, events: [], owner: owner)
            if number > 4 { try await journal.commit([.ended(.at(9))], under: lease) }
            if number == 1 { try await journal.release(lease) }
        }
        func numbers(_ query: JobQuery) async throws -> [Int64] {
            try await journal.jobs(query).map { ($0.snapshot.record.started - Timestamp.at(0)).components.seconds }
        }
        let id = JobSnapshot.example(3_000).record.id
        check.expect(try await numbers(JobQuery()) == [6, 5, 4, 3, 2, 1])
        check.expect(try await numbers(JobQuery(limit: 2)) == [6, 5])
        check.expect(try await numbers(JobQuery(pipeline: "odd", isUnfinished: true)) == [3, 1])
        check.expect(try await numbers(JobQuery(key: id.text)) == [3])
        check.expect(try await numbers(JobQuery(prefix: String(id.text.dropLast(1)))) == [3])
        check.expect(try await numbers(JobQuery(prefix: "")) == [6, 5, 4, 3, 2, 1])
        check.expect(try await numbers(JobQuery(prefix: "zz")).isEmpty)
        let owners = try await journal.jobs(JobQuery(isUnfinished: true)).map(\.owner)
        check.expect(owners == [owner, owner, owner, nil])
    }

    static func removes(_ world: any JournalWorld, _ check: ConformanceCheck) async throws {
        let journal = try world.open()
        let (job, same) = (JobSnapshot.example(9), JobSnapshot.example(10))
        let lease = try await journal.create(job, events: [job.event(1)], owner: owner)
        _ = try await journal.create(same, events: [], owner: owner)
        await check.expect(throws: JournalFailure.owned(by: owner)) {
            _ = try await journal.remove(job.record.id)
        }
        try await journal.commit([.ended(.at(1))], under: lease)
        check.expect(try await journal.remove(job.record.id) == [job.record.id], "it says what it removed")
        check.expect(try await journal.snapshot(of: job.record.id) == nil)
        check.expect(try await journal.events(of: job.record.id, after: 0).isEmpty)
        check.expect(try await journal.snapshot(of: same.record.id)?.record.source == same.record.source)
        await check.expect(throws: JournalFailure.noSuchJob(job.record.id)) {
            _ = try await journal.remove(job.record.id)
        }
        await check.expect(throws: JournalFailure.noSuchJob(job.record.id)) {
            try await journal.commit([], under: lease)
        }
    }
}
