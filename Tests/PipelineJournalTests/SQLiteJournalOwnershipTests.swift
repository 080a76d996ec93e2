import Foundation
import JournalConformance
import PipelineCore
import PipelineTestKit
import Testing

@testable import PipelineJournal

@Suite("Owners of an SQLite journal")
struct SQLiteJournalOwnershipTests {
    let job = JobSnapshot.example(1)
    var id: JobID { job.record.id }

    @Test("hold a job by the kernel's lock: kill -9 of a process frees it at once")
    func killedProcess() async throws {
        let world = try SQLiteWorld()
        defer { world.remove() }
        let journal = try world.openSQLite()
        try await journal.release(journal.create(job, events: [], owner: journal.owner))
        let ghost = try Ghost(folder: world.state + "/owners", name: "ghost")
        try world.execute("INSERT INTO owners VALUES ('ghost', 'first', 9000000)")
        try world.execute("UPDATE jobs SET owner = 'ghost'")
        await #expect(throws: JournalFailure.owned(by: OwnerID("ghost"))) {
            _ = try await journal.acquire(id, for: journal.owner)
        }
        ghost.kill()
        #expect(try await journal.acquire(id, for: journal.owner).epoch == 2)
    }

    @Test("are given background jobs in the order in which something of them expires, then by age")
    func pressedFirst() async throws {
        let world = try SQLiteWorld()
        defer { world.remove() }
        let journal = try world.openSQLite()
        // Of the fourth everything is over by now.
        for (number, expires) in [(1, nil), (2, 900), (3, 500), (4, 50), (5, nil)] as [(Int, Int64?)] {
            let job = JobSnapshot.example(number)
            let lease = try await journal.create(job, events: [], owner: journal.owner)
            var step = StepRecord(state: .skipped)
            step.version = 1
            step.expires = expires.map { .at($0) }
            try await journal.commit([.step(.upload, step), .taken(.background), .released(nil)], under: lease)
        }
        let numbers = try await journal.backgroundJobs(at: .at(100)).map { id in
            (1...5).first { JobSnapshot.example($0).record.id == id }
        }
        #expect(numbers == [3, 2, 1, 4, 5])
    }

    @Test("lose their jobs when the machine starts again, lock or not")
    func restart() async throws {
        let world = try SQLiteWorld()
        defer { world.remove() }
        let (mine, theirs) = (try world.openSQLite(), try world.openSQLite())
        _ = try await mine.create(job, events: [], owner: mine.owner)
        world.clock.restart()
        #expect(try await theirs.jobs(JobQuery()).map(\.owner) == [nil])
        #expect(try await theirs.acquire(id, for: theirs.owner).epoch == 2)
    }

    @Test("renew the leases of all their jobs with any commit")
    func renews() async throws {
        let world = try SQLiteWorld()
        defer { world.remove() }
        let (mine, theirs) = (try world.openSQLite(), try world.openSQLite())
        let busy = try await mine.create(job, events: [], owner: mine.owner)
        let idle = JobSnapshot.example(2)
        _ = try await mine.create(idle, events: [], owner: mine.owner)
        for sequence in 1...5 {
            world.clock.advance(by: 11_000)
            try await mine.commit([.event(job.event(sequence))], under: busy)
        }
        await #expect(throws: JournalFailure.owned(by: mine.owner)) {
            _ = try await theirs.acquire(idle.record.id, for: theirs.owner)
        }
    }

    @Test("renew their leases when nothing else happens")
    func renewsIdle() async throws {
        let world = try SQLiteWorld()
        defer { world.remove() }
        let mine = try SQLiteJournal(folder: world.state, clock: world.clock, leaseLength: .milliseconds(30))
        let theirs = try world.openSQLite()
        _ = try await mine.create(job, events: [], owner: mine.owner)
        let before = mine.statistics.transactions
        world.clock.advance(by: 29)
        while mine.statistics.transactions == before { await Task.yield() }
        world.clock.advance(by: 29)
        await #expect(throws: JournalFailure.owned(by: mine.owner)) {
            _ = try await theirs.acquire(id, for: theirs.owner)
        }
    }

    @Test("take many jobs at the same moment under a name that an earlier process had")
    func entersConcurrently() async throws {
        let world = try SQLiteWorld()
        defer { world.remove() }
        let journal = try world.openSQLite()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 1...16 {
                group.addTask {
                    let job = JobSnapshot.example(number)
                    let lease = try await journal.create(job, events: [], owner: journal.owner)
                    try await journal.commit([.event(job.event(1))], under: lease)
                }
            }
            try await group.waitForAll()
        }
    }

    @Test("leave locks and sockets behind when they are killed; the next owner tidies up")
    func tidies() async throws {
        let world = try SQLiteWorld()
        defer { world.remove() }
        let journal = try world.openSQLite()
        _ = try await journal.create(job, events: [], owner: journal.owner)
        let ghost = try Ghost(folder: world.state + "/owners", name: "ghost")
        let living = try Ghost(folder: world.state + "/owners", name: "living")
        _ = FileManager.default.createFile(atPath: world.state + "/owners/ghost.sock", contents: nil)
        _ = FileManager.default.createFile(atPath: world.state + "/owners/orphan.sock", contents: nil)
        ghost.kill()
        let next = try world.openSQLite()
        _ = try await next.create(.example(2), events: [], owner: OwnerID("next"))
        let names = try FileManager.default.contentsOfDirectory(atPath: world.state + "/owners").sorted()
        let mine = journal.owner.text
        #expect(names == ["\(mine).lock", "\(mine).sock", "living.lock", "next.lock", "next.sock"].sorted())
        living.kill()
    }

    @Test("are woken in a state folder whose path is longer than a socket's may be")
    func longPath() async throws {
        let world = try SQLiteWorld()
        defer { world.remove() }
        let state =
            world.folder.path + "/"
            + Array(repeating: String(repeating: "d", count: 60), count: 3).joined(separator: "/")
        let (mine, theirs) = (try SQLiteJournal(folder: state), try SQLiteJournal(folder: state))
        _ = try await mine.create(job, events: [], owner: mine.owner)
        var requests = mine.requests(for: mine.owner).makeAsyncIterator()
        #expect(try await theirs.post(.cancel, to: id))
        #expect(await requests.next() == id)
    }

    @Test("hear of every job although more is asked than the socket's queue holds")
    func manyRequests() async throws {
        let world = try SQLiteWorld()
        defer { world.remove() }
        let (mine, theirs) = (try world.openSQLite(), try world.openSQLite())
        var expected: Set<JobID> = []
        for number in 1...600 {
            let job = JobSnapshot.example(number)
            _ = try await mine.create(job, events: [], owner: mine.owner)
            expected.insert(job.record.id)
        }
        for job in expected { #expect(try await theirs.post(.pause, to: job)) }
        for await job in mine.requests(for: mine.owner) {
            expected.remove(job)
            if expected.isEmpty { break }
        }
    }

    @Test("have names that are names of files")
    func names() async throws {
        let world = try SQLiteWorld()
        defer { world.remove() }
        let journal = try world.openSQLite()
        for name in ["", "../x", ".x", String(repeating: "x", count: 65), "a/b"] {
            await #expect(throws: JournalFailure.self) {
                _ = try await journal.create(job, events: [], owner: OwnerID(name))
            }
            for await _ in journal.requests(for: OwnerID(name)) { Issue.record("nobody can be \(name)") }
        }
    }

    @Test("keep a name to themselves")
    func sameName() async throws {
        let world = try SQLiteWorld()
        defer { world.remove() }
        let (mine, theirs) = (try world.openSQLite(), try world.openSQLite())
        _ = try await mine.create(job, events: [], owner: OwnerID("same"))
        await #expect(throws: JournalFailure.self) {
            _ = try await theirs.create(.example(2), events: [], owner: OwnerID("same"))
        }
    }
}

/// Another process that holds an owner's lock.
final class Ghost {
    private let process = Process()

    init(folder: String, name: String) throws {
        let script = """
            import fcntl, os, struct, sys
            descriptor = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT, 0o600)
            fcntl.fcntl(descriptor, 37, struct.pack('hhqqi', fcntl.F_WRLCK, 0, 0, 0, 0))
            print('held', flush=True)
            sys.stdin.read()
            """
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["python3", "-c", script, folder + "/" + name + ".lock"]
        process.standardOutput = output
        process.standardInput = Pipe()
        try process.run()
        let said = output.fileHandleForReading.readData(ofLength: 5)
        guard said == Data("held\n".utf8) else { throw POSIXError(.ENOLCK) }
    }

    func kill() {
        Foundation.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }
}
