import Foundation
import JSONPath
import JournalConformance
import PipelineCore
import Testing

/// The forms in which journals of others keep jobs: once written they are read by all later versions.
@Suite("What a journal of others keeps") struct StoredFormTests {
    private static let forms = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("Fixtures/forms-0.1.0.jsonl")

    /// Changes of each kind that changes a job.
    private static func changes(of job: JobSnapshot) -> [JournalChange] {
        let sent = NotificationRecord(
            id: "n-0-1", entry: 0, event: .started, state: .sent, due: .at(1), time: .at(2), title: "started",
            data: ["a": [1, "é"]], failures: 1, failingSince: .at(3), problem: "away")
        return JobPromises.history(job).flatMap(\.self) + [
            .file(WrittenFile(path: "/z", bytes: 4, sha256: nil, step: .model)), .fact(.copy(url: "https://h/a"), "/a"),
            .fact(.uuid(place: "3:4"), "u"), .notification(sent), .callbackJudged(.upload, id: "1", isMatch: true),
            .callbacksTaken(.model, count: .max), .callbacksVoided(.model), .requested(.cancel), .released(nil),
        ]
    }

    /// A job with some of everything.
    private static func job() throws -> JobSnapshot {
        var job = JobSnapshot.example(2)
        job.post(.cancel)
        for (number, response) in [JSON?.none, .null, ["a": 1]].enumerated() {
            job.post(
                Callback(id: "\(number)", time: .at(5), captures: ["text": "hi"], response: response), to: .upload)
        }
        for change in changes(of: job).dropLast(4) { job.apply(change) }
        return job
    }

    @Test("is read as it was written, change by change")
    func changesAreRead() throws {
        var (job, read) = (JobSnapshot.example(2), JobSnapshot.example(2))
        for change in Self.changes(of: job) + [.answered(.pause), .answered(.cancel)] {
            let json = try #require(change.json)
            let text = Array(json.text.utf8)
            let again = try #require(JournalChange(json: try JSON.parse(text)))
            job.apply(change)
            read.apply(again)
            #expect(again.json == json && again.endsOwnership == change.endsOwnership)
            #expect(SnapshotEssence.differences(read, job) == [])
        }
    }

    @Test("is the whole job")
    func jobIsRead() throws {
        let job = try Self.job()
        let read = try #require(JobSnapshot(json: try JSON.parse(Array(job.json.text.utf8))))
        #expect(SnapshotEssence.differences(read, job) == [])
        let defaulted = JobSnapshot.example(3, beginning: JobBeginning(defaultedInputs: ["pin"]))
        #expect(JobSnapshot(json: defaulted.json)?.record.beginning == defaulted.record.beginning)
        #expect(read.pushes == job.pushes && read.release == job.release)
        #expect(JobSnapshot(json: ["steps": []]) == nil && JournalChange(json: ["no": 1]) == nil)
    }

    @Test(
        "has facts that came later than its first form",
        arguments: [Fact.written("/a"), .sent(by: StepKey(stage: "up", item: 2))])
    func laterFacts(_ later: Fact) throws {
        let change = JournalChange.fact(later, "4 1")
        let json = try #require(change.json)
        let read = try #require(JournalChange(json: json))
        guard case .fact(let fact, let value) = read else {
            Issue.record("it is read as no fact")
            return
        }
        #expect(fact == later && value == "4 1")
    }

    @Test("changes nothing but a job: samples, resumes, measurements and items have no form")
    func othersHaveNone() {
        let sample = StageSample(pipeline: "a", stage: "b", ended: .at(1), seconds: 1)
        let others: [JournalChange] = [.sample(sample), .measured(Measurements()), .item(ItemOutcome(.running))]
        #expect(others.allSatisfy { $0.json == nil })
    }

    @Test("stays in the form of version 0.1.0, or is read in it; RECORD=1 writes the file anew before a release")
    func kept() throws {
        var job = try Self.job()
        // One fact, since their order is that of a set.
        job.facts = job.facts.filter { $0.key == .size("/a") }
        let lines = ([job.json] + Self.changes(of: JobSnapshot.example(2)).compactMap(\.json)).map(\.text)
        if ProcessInfo.processInfo.environment["RECORD"] != nil {
            try (lines.joined(separator: "\n") + "\n").write(to: Self.forms, atomically: true, encoding: .utf8)
        }
        let kept = try String(contentsOf: Self.forms, encoding: .utf8).split(separator: "\n").map(String.init)
        #expect(JobSnapshot(json: try JSON.parse(Array(kept[0].utf8)))?.json.text == lines[0])
        let read = try kept.dropFirst().map { try JournalChange(json: JSON.parse(Array($0.utf8)))?.json?.text }
        #expect(read == Array(lines.dropFirst()))
    }
}
