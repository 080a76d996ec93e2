import Foundation
import JSONPath
import PipelineCore
import PipelineKit
import PipelineTestKit
import Testing

/// A batch whose file of rows was edited between a reading that stopped and the next.
@Suite("A reading that goes on") struct RereadingTests {
    private struct NoHost: ItemHost {
        func begin(_ record: JobRecord, _ draft: JobDraft) {}
        func retry(_ job: JobID, _ again: RestartScope) {}
        func goOn(_ job: JobID) {}
        var runsHere: Bool { false }
        var retakesRefused: Bool { false }
        var room: Int { 0 }
        func interrupt() {}
    }

    private let folder = TemporaryFolder()
    private let owner = OwnerID("one")

    private func write(_ text: String) throws {
        try text.write(toFile: folder.path + "/rows.csv", atomically: false, encoding: .utf8)
    }

    private func draft() throws -> JobDraft {
        try """
        { "pipeline": 1, "name": "demo", "inputs": { "name": { "type": "string" } },
          "batch": { "key": "${{ inputs.name }}" },
          "stages": [ { "id": "w", "kind": "wait", "for": "1s" } ] }
        """.write(toFile: folder.path + "/demo.json", atomically: true, encoding: .utf8)
        return try JobDraft(
            path: folder.path + "/demo.json",
            catalogue: ExampleBench.workspace(environment: [:], state: "/nonexistent").catalogue, given: GivenInputs(),
            environment: [:], standardInput: { nil }, allowsMissingInputs: true)
    }

    /// Reads what is left, from a place in the file as it was with the text before.
    private func keys(of text: String, after place: ReadingPlace?, _ known: [NewItem]) async throws -> [String] {
        let draft = try draft()
        let journal = MemoryJournal()
        let record = draft.record(
            id: JobID("01jd3v5k8w9x0y1z2a3b4c5d6e"), key: "june", started: SystemClock().now, outputFolder: folder.path,
            overwrites: false)
        let job = JobSnapshot(record: record, steps: [:], mode: .attached)
        let batch = BatchRecord(sources: ["rows.csv"], folder: folder.path, settings: BatchSettings())
        let lease = try await journal.create(batch, job: job, events: [], owner: owner)
        if let place {
            _ = try await journal.add(known, place: place, isRead: false, known: KnownItemRule(), to: lease)
        }
        try write(text)
        var options = BatchRunner.Options()
        options.onlyReads = true
        let runner = BatchRunner(
            BatchRunner.Subject(draft: draft, job: job, lease: lease),
            ports: BatchRunner.Ports(journal: journal, clock: SystemClock(), newJobID: { JobID("none") }),
            options: options)
        #expect(try await runner.run(on: NoHost()) == .read)
        return try await journal.items(of: lease.job, in: nil, after: 0, limit: 100).map(\.key)
    }

    private func fingerprint() -> String? { DiskFiles().fingerprint(ofFileAt: folder.path + "/rows.csv") }

    @Test("at its place in the same file")
    func same() async throws {
        defer { folder.remove() }
        try write("name\nfirst\nsecond\n")
        let place = ReadingPlace(source: 0, offset: 11, line: 3, fingerprint: fingerprint())
        let batch = BatchRecord(sources: ["rows.csv"], folder: folder.path, settings: BatchSettings())
        func changed(_ place: ReadingPlace, _ sources: [String] = ["rows.csv"]) -> ReadingPlace? {
            var batch = batch
            (batch.place, batch.sources) = (place, sources)
            return batch.changedSource(inputs: ["name"])?.place
        }
        #expect(changed(place) == nil)
        var other = place
        other.fingerprint = "1 2.3 4"
        #expect(changed(other) == ReadingPlace(source: 0))
        other.source = 2
        #expect(changed(other, ["a.csv", "name=-", "rows.csv"]) == ReadingPlace(source: 2), "a pipe is read once")
        #expect(changed(other, ["a.csv", "b.csv", "none.csv"]) == nil, "that it is gone is said when it is opened")
    }

    /// A row was cut in two, and its second half became an item that nobody wrote.
    @Test("is begun again when the file is another: no row is lost, none is made up, none is there twice")
    func edited() async throws {
        defer { folder.remove() }
        try write("name\nfirst\nsecond\nthird\n")
        let known = [NewItem(key: "first", line: 2, inputs: ["name": "first"])]
        let place = ReadingPlace(source: 0, offset: 11, line: 3, fingerprint: fingerprint())
        let keys = try await self.keys(of: "name\nfirst; but not alone\nsecond\nthird\n", after: place, known)
        #expect(keys == ["first", "first; but not alone", "second", "third"])
    }
}
