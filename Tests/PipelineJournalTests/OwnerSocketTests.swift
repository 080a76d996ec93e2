import Foundation
import JSONPath
import PipelineCore
import Testing

@testable import PipelineJournal

/// A socket's path has room for 107 bytes; state folders have no such limit.
@Suite("The socket on which an owner is woken", .timeLimit(.minutes(1))) struct OwnerSocketTests {
    @Test("is reached by its name, also in a folder whose path is longer than a socket's may be", arguments: [1, 12])
    func isReached(depth: Int) throws {
        let top = NSTemporaryDirectory() + "pipeline-socket-\(UUID().uuidString)"
        let folder = top + String(repeating: "/a folder of some length", count: depth)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: top) }
        let socket = try #require(OwnerSocket(folder: folder, name: "owner.sock"))
        #expect(FileManager.default.fileExists(atPath: folder + "/owner.sock"))
        #expect(OwnerSocket.send("01jd3v5k8w9x0y1z2a3b4c5d6e", folder: folder, name: "owner.sock"))
        #expect(socket.receive() == "01jd3v5k8w9x0y1z2a3b4c5d6e")
        socket.shut()
        #expect(socket.receive() == nil)
        #expect(!OwnerSocket.send("x", folder: folder, name: "owner.sock"))
    }

    @Test("its datagrams are read as they were written; what is none names a job that nobody finds")
    func messages() {
        let job = JobSnapshot.example(1)
        let event = JobEvent(
            sequence: nil, time: .at(3), kind: .transferProgress, job: job.record.id, pipeline: "p",
            step: StepKey(stage: "get", item: 3), attempt: 2, data: ["sent": 1, "total": nil])
        let messages: [OwnerMessage] = [
            .inbox(nil), .inbox(job.record.id), .watch(OwnerID("12-x"), nil), .watch(OwnerID("12-x"), job.record.id),
            .attend(OwnerID("12-x"), nil), .attend(OwnerID("12-x"), job.record.id), .delaysReset(pipeline: "selfie"),
            .changed(job.record.id), .event(event),
        ]
        for message in messages { #expect(OwnerMessage(message.text) == message) }
        #expect(OwnerMessage(#"{"type":"cut of"#) == .inbox(nil))
    }

    @Test("an owner shows what happens to the jobs that are watched, and nothing of the others")
    func watching() async throws {
        let world = try SQLiteWorld()
        defer { world.remove() }
        let (mine, theirs) = (try world.openSQLite(), try world.openSQLite())
        let (job, other) = (JobSnapshot.example(1), JobSnapshot.example(2))
        for job in [job, other] { _ = try await mine.create(job, events: [], owner: mine.owner) }
        var attentions = mine.attentions().makeAsyncIterator()
        var news = theirs.news().makeAsyncIterator()
        let progress = JobEvent(
            sequence: nil, time: .at(3), kind: .transferProgress, job: job.record.id, pipeline: "p", data: ["sent": 1])
        var elsewhere = progress
        elsewhere.job = other.record.id
        mine.show(progress)
        #expect(theirs.watch(job.record.id, of: mine.owner))
        // Datagrams are read in their order: the wish was heard before this.
        #expect(theirs.attend(job.record.id, of: mine.owner))
        #expect(await attentions.next() == .watched(job.record.id))
        mine.show(elsewhere)
        mine.show(progress)
        mine.show(job.event(1))
        #expect(await news.next() == .event(progress))
        #expect(await news.next() == .changed(job.record.id))
        // A watcher that says nothing more is forgotten.
        world.clock.advance(by: 5001)
        mine.show(progress)
        #expect(theirs.watch(other.record.id, of: mine.owner))
        #expect(theirs.attend(other.record.id, of: mine.owner))
        #expect(await attentions.next() == .watched(other.record.id))
        mine.show(elsewhere)
        #expect(await news.next() == .event(elsewhere))
        #expect(!theirs.watch(nil, of: OwnerID("nobody")))
    }

    @Test("an owner knows which of its jobs a person watches, for as long as that is said, and hears of it once")
    func attending() async throws {
        let world = try SQLiteWorld()
        defer { world.remove() }
        let (mine, theirs) = (try world.openSQLite(), try world.openSQLite())
        let (job, other) = (JobSnapshot.example(1).record.id, JobSnapshot.example(2).record.id)
        var attentions = mine.attentions().makeAsyncIterator()
        #expect(!mine.isWatched(job))
        for _ in 1...3 { #expect(theirs.attend(job, of: mine.owner)) }
        #expect(theirs.attend(nil, of: mine.owner))
        #expect(await attentions.next() == .watched(job))
        #expect(await attentions.next() == .watched(nil))
        #expect(mine.isWatched(job) && mine.isWatched(other) && !theirs.isWatched(job))
        world.clock.advance(by: 5001)
        #expect(!mine.isWatched(job) && !mine.isWatched(other))
        #expect(theirs.attend(job, of: mine.owner))
        #expect(await attentions.next() == .watched(job))
        #expect(mine.isWatched(job) && !mine.isWatched(other))
    }

    @Test("every owner hears that a person attended to a pipeline, once that is kept")
    func fallingBack() async throws {
        let world = try SQLiteWorld()
        defer { world.remove() }
        let (mine, theirs) = (try world.openSQLite(), try world.openSQLite())
        let job = JobSnapshot.example(1)
        let lease = try await mine.create(job, events: [], owner: mine.owner)
        var heard = [mine.attentions().makeAsyncIterator(), theirs.attentions().makeAsyncIterator()]
        let record = ResumeRecord.attended(of: job.record.id, pipeline: "selfie", at: .at(3))
        try await mine.commit([.resume(record)], under: lease)
        for index in heard.indices { #expect(await heard[index].next() == .delaysReset(pipeline: "selfie")) }
    }
}
