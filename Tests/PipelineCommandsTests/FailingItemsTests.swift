import JSONPath
import PipelineCore
import PipelineKit
import Testing
@testable import PipelineCommands

/// What a batch says that stands still since its items' attempts fail.
@Suite("A batch whose attempts fail") struct FailingItemsTests {
    private static let time = Timestamp(milliseconds: 1_790_000_000_000)
    private static let refused = StepFailure(
        "service 's' gave no answer: 127.0.0.1:9 refused the connection", hint: "is the service running?",
        service: "s", request: "GET http://127.0.0.1:9/")
    private static let line = "try again: get: service 's' gave no answer: 127.0.0.1:9 refused the connection"
    private static let hint = "  hint: is the service running?"

    private func event(
        _ kind: JobEvent.Kind, _ job: String, stage: String? = "get", _ data: JSONObject = [:]
    ) -> JobEvent {
        JobEvent(
            sequence: 1, time: Self.time, kind: kind, job: JobID(job), pipeline: "p",
            step: stage.map { StepKey(stage: $0) }, data: data)
    }

    private func failure(_ job: String, _ failure: StepFailure = Self.refused) -> JobEvent {
        event(.attemptFailed, job, ["error": failure.json])
    }

    private func waiting(_ job: String, _ reason: WaitReason.Kind, _ detail: String? = nil) -> JobEvent {
        event(.stageWaiting, job, ["reason": .string(reason.rawValue), "detail": JSON(detail)])
    }

    private func full(_ item: Int) -> StepFailure {
        StepFailure("there is not enough room for /out/\(item).txt", hint: "make room on that disk")
    }

    private func text(_ items: FailingItems, atWork count: Int) -> [String] {
        items.lines(ofAtWork: count).map { $0.rendered(inColor: false) }
    }

    /// A batch whose service's places were all held by a paused one said nothing for as long as it waited.
    @Test("says so where all wait for places that others hold, and not where one of its own is at work")
    func full() {
        var items = FailingItems()
        for job in ["a", "b"] {
            items.apply(waiting(job, .full, "s has 4 jobs that have not ended, as many as it may have"))
        }
        #expect(text(items, atWork: 3) == [])
        #expect(
            text(items, atWork: 2) == [
                "2 of 2 at work wait: get: s has 4 jobs that have not ended, as many as it may have",
                "  hint: paused, suspended and unknown jobs keep their places; 'pipeline list' shows them, and "
                    + "'pipeline resolve' frees those of unknown ones",
            ])
        items.apply(failure("c"))
        let one = Self.line.replacing("try again", with: "tries again")
        #expect(text(items, atWork: 3) == ["1 of 3 at work \(one)", Self.hint])
        items.apply(waiting("b", .poll))
        items.apply(event(.stageSucceeded, "c"))
        #expect(text(items, atWork: 2) == [])
    }

    /// A batch said nothing for days whose service was gone while its remote jobs were asked for.
    @Test("says so where polls fail, until one is answered")
    func polls() {
        var items = FailingItems()
        for job in ["a", "b"] {
            items.apply(
                event(
                    .stageWaiting, job,
                    [
                        "reason": "poll", "detail": .string("the last poll failed: service 's' answered 500"),
                        "trouble": true,
                    ]))
        }
        #expect(
            text(items, atWork: 2) == ["2 of 2 at work try again: get: the last poll failed: service 's' answered 500"])
        items.apply(waiting("a", .poll, "half of it is done"))
        items.apply(event(.stageSucceeded, "b"))
        #expect(text(items, atWork: 2) == [])
    }

    @Test("counts each item once, however often it fails and while it tries, until it goes on or comes to rest")
    func counts() {
        var items = FailingItems()
        for job in ["a", "b", "a", "c"] {
            items.apply(failure(job))
            items.apply(waiting(job, .retry))
            items.apply(event(.stageResumed, job))
        }
        // The first of an attempt says only what was there before.
        items.apply(event(.transferProgress, "a", ["sent": 0, "received": 0, "rate": .null]))
        #expect(text(items, atWork: 5) == ["3 of 5 at work \(Self.line)", Self.hint])
        items.apply(event(.stageSucceeded, "a", stage: "other"))
        items.apply(waiting("a", .poll))
        items.apply(event(.transferProgress, "b", ["sent": 9, "received": 0, "rate": 9]))
        let one = Self.line.replacing("try again", with: "tries again")
        #expect(text(items, atWork: 0) == ["1 of 1 at work \(one)", Self.hint])
        items.apply(event(.jobSuspended, "c", stage: nil))
        #expect(text(items, atWork: 5) == [])
        items.apply(failure("d"))
        items.remove(JobID("d"))
        #expect(text(items, atWork: 5) == [])
    }

    @Test("has one reason for a full disk, one for a closed service, and first what holds up most")
    func reasons() {
        var items = FailingItems()
        for item in 1...2 { items.apply(failure("full\(item)", full(item))) }
        items.apply(waiting("closed1", .closed, "429 Too Many Requests"))
        items.apply(waiting("closed2", .closed, "s takes no requests now"))
        items.apply(waiting("closed3", .closed, "s takes no requests now"))
        #expect(
            text(items, atWork: 6) == [
                "3 of 6 at work wait: get: 429 Too Many Requests",
                "2 of 6 at work try again: get: there is not enough room for /out/1.txt",
                "  hint: make room on that disk",
            ])
        for job in ["x", "y", "z"] {
            items.apply(failure(job, StepFailure("\(job) is wrong")))
        }
        #expect(text(items, atWork: 9).last == "2 more for other reasons")
        // Those that only wait for others' remote jobs to end are as they should be.
        items.apply(waiting("closed1", .full, "s has 3 jobs"))
        #expect(text(items, atWork: 9).first == "2 of 9 at work wait: get: 429 Too Many Requests")
    }

    @Test("is told once, again for another reason, after five minutes, and when it stands still anew")
    func notice() {
        var notice = FailureNotice()
        func look() -> [String]? {
            notice.look(atWork: 2, batch: "june")?.lines.map { $0.rendered(inColor: false) }
        }
        #expect(look() == nil)
        for job in ["a", "b"] { notice.apply(failure(job)) }
        #expect(look() == ["june: 2 of 2 at work \(Self.line)", Self.hint])
        let later = (1...30).map { _ in look() != nil }
        #expect(later.firstIndex(of: true) == 29)
        notice.apply(failure("a", full(1)))
        #expect(look()?.count == 4)
        #expect(look() == nil)
        for job in ["a", "b"] { notice.apply(event(.stageSucceeded, job)) }
        #expect(look() == nil)
        notice.apply(failure("a"))
        #expect(look()?.count == 2)
    }

    @Test("says nothing of attempts that fail while others get further")
    func progress() {
        var notice = FailureNotice()
        notice.apply(failure("a"))
        notice.apply(event(.stageSucceeded, "b"))
        let (first, second) = (notice.look(atWork: 2, batch: "june"), notice.look(atWork: 2, batch: "june"))
        #expect(first == nil && second != nil)
    }

    @Test("says once for which stage a service is waited for, and not for a full disk")
    func stage() {
        var notice = FailureNotice()
        notice.apply(failure("a", full(1)))
        let local = notice.look(atWork: 2, batch: "june")
        #expect(local != nil && local?.stage == nil)
        notice.apply(failure("b"))
        let remote = notice.look(atWork: 2, batch: "june")
        #expect(remote?.stage == "get")
        notice.apply(failure("b", StepFailure("the name of s could not be resolved", request: "GET http://s/")))
        let again = notice.look(atWork: 2, batch: "june")
        #expect(again != nil && again?.stage == nil)
    }

    @Test("has lines in the live view that stay while it holds")
    func live() {
        var batch = BatchRecord(sources: [], folder: "/", settings: BatchSettings())
        batch.counts = [.running: 2, .pending: 3]
        var model = BatchLiveModel(key: "june", stages: ["get", "put"], batch: batch, started: Self.time)
        func rows(_ height: Int = 24) -> [String] {
            model.rows(width: 120, height: height, now: Self.time + .seconds(30)).map { $0.rendered(inColor: false) }
        }
        for number in 1...2 {
            let job = JobID("job\(number)")
            model.apply(.began(ItemRecord(number: number, key: "row\(number)", state: .running, job: job)))
            model.apply(event(.stageStarted, job.text))
            model.apply(failure(job.text))
            model.apply(waiting(job.text, .retry))
        }
        #expect(rows().dropFirst(3).prefix(2) == ["2 of 2 at work \(Self.line)", Self.hint])
        #expect(rows(4).contains("2 of 2 at work \(Self.line)"), "also in a low window: \(rows(4))")
        model.apply(event(.stageResumed, "job1"))
        #expect(rows().contains("2 of 2 at work \(Self.line)"))
        for number in 1...2 { model.apply(waiting("job\(number)", .poll)) }
        #expect(!rows().contains { $0.contains("again") }, "\(rows())")
    }
}
