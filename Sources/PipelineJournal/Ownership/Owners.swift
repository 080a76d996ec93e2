import CLibrary
package import PipelineCore
import Synchronization

/// The owners that jobs may have: the owners of this process, and whether those of others are alive.
package final class Owners: Sendable {
    private struct State {
        var presences: [OwnerID: OwnerPresence] = [:]
        /// The time when leases are renewed next, by the lease clock; nil before the first.
        var renewal: Int64?
        var isClosed = false
    }

    private let folder: StateFolder
    private let clock: any LeaseClock
    /// The time for which a lease lasts without being renewed, in milliseconds.
    private let length: Int64
    private let state = Mutex(State())
    private let watchers = Watchers()
    /// Those of them before which a person sits.
    private let attendants = Watchers()

    init(folder: StateFolder, clock: any LeaseClock, length: Int64) {
        self.folder = folder
        self.clock = clock
        self.length = length
    }

    /// A name that no other process has: its id, which helps a person, and 64 random bits, since ids come again.
    static func newName() -> OwnerID {
        OwnerID("\(getpid())-" + String(UInt64.random(in: .min ... .max), radix: 36))
    }

    /// The owner's presence, made at its first use: its lock is taken, its socket is there.
    func enter(_ owner: OwnerID) throws(JournalFailure) -> OwnerPresence {
        let result = state.withLock { state -> Result<OwnerPresence, JournalFailure> in
            if state.isClosed { return .failure(.other("the journal is closed")) }
            if let presence = state.presences[owner] { return .success(presence) }
            return Result { () throws(JournalFailure) in
                let presence = try makePresence(owner)
                state.presences[owner] = presence
                return presence
            }
        }
        return try result.get()
    }

    func presence(_ owner: OwnerID) -> OwnerPresence? { state.withLock { $0.presences[owner] } }

    /// Returns whether an owner with that lease keeps its jobs: it holds its lock, and it has renewed in time, or it is
    /// stopped for less than a lease.
    package func isLiving(_ owner: OwnerID, boot: String, until: Int64) -> Bool {
        boot == clock.bootID && clock.now < until && holdsLock(owner)
    }

    /// The boot id and the end of a lease that begins now.
    var newLease: (boot: String, until: Int64) { (clock.bootID, clock.now + length) }

    /// Wakes the owner for the job; false when it does not listen.
    func wake(_ owner: OwnerID, for job: JobID) -> Bool {
        send(.inbox(job), to: owner)
    }

    /// Sends a datagram; false when nobody reads it.
    func send(_ message: OwnerMessage, to owner: OwnerID) -> Bool {
        OwnerSocket.send(message.text, folder: folder.owners, name: OwnerPresence.socketName(owner))
    }

    /// Tells whoever watches the event's job of it.
    func show(_ event: JobEvent) {
        for owner in watchers.owners(for: event.job, at: clock.now) where Self.isFileName(owner.text) {
            let message = event.kind.isJournaled ? OwnerMessage.changed(event.job) : .event(event)
            if !send(message, to: owner) { watchers.remove(owner) }
        }
    }

    /// Returns whether a person watches the job on a terminal.
    func isWatched(_ job: JobID) -> Bool { !attendants.owners(for: job, at: clock.now).isEmpty }

    /// Sends a datagram to every owner of the state folder, those of this process too.
    func tellAll(_ message: OwnerMessage) {
        for name in FolderContent.names(folder.owners) where name.hasSuffix(".sock") {
            _ = send(message, to: OwnerID(String(name.dropLast(5))))
        }
    }

    /// The owners with jobs whose leases are to be renewed now: a third of the length after the last time.
    var dueForRenewal: [OwnerID] {
        let now = clock.now
        return state.withLock { state in
            if let renewal = state.renewal, now < renewal { return [] }
            return state.presences.values.filter(\.hasJobs).map(\.owner)
        }
    }

    /// True if an owner of this journal has a job.
    var haveJobs: Bool { state.withLock { $0.presences.values.contains(where: \.hasJobs) } }

    /// True if leases were renewed so lately that nobody else can have taken a job: two thirds of their length.
    var isFresh: Bool {
        let now = clock.now
        return state.withLock { state in state.renewal.map { now < $0 + length / 3 } ?? false }
    }

    /// Leases were written with times counted from that moment.
    func markRenewed(at time: Int64) {
        state.withLock { $0.renewal = time + length / 3 }
    }

    var now: Int64 { clock.now }

    /// After how many milliseconds to look for renewals again; nil while no job is owned.
    var renewalInterval: Int? {
        haveJobs ? max(1, Int(length / 3)) : nil
    }

    /// Lets all locks go and ends all listening.
    func close() {
        let presences = state.withLock { state in
            state.isClosed = true
            defer { state.presences = [:] }
            return Array(state.presences.values)
        }
        for presence in presences {
            presence.end()
            unlink(path(OwnerPresence.lockName(presence.owner)))
        }
    }
}

extension Owners {
    private func path(_ name: String) -> String { folder.owners + "/" + name }

    private func holdsLock(_ owner: OwnerID) -> Bool {
        presence(owner) != nil || FileLock.isHeld(path(OwnerPresence.lockName(owner)))
    }

    private func makePresence(_ owner: OwnerID) throws(JournalFailure) -> OwnerPresence {
        guard Self.isFileName(owner.text) else {
            throw .other("an owner's name has 1 to 64 letters, digits, dots and hyphens: \(owner.text)")
        }
        try folder.prepareOwners()
        removeTraces()
        guard let lock = FileLock(path(OwnerPresence.lockName(owner))) else {
            if errno == EAGAIN { throw .other("another process owns jobs under the name \(owner.text)") }
            throw folder.systemRefusal("the lock of \(owner.text) can't be made")
        }
        guard let socket = OwnerSocket(folder: folder.owners, name: OwnerPresence.socketName(owner)) else {
            throw folder.systemRefusal("the socket of \(owner.text) can't be made")
        }
        return OwnerPresence(owner, lock: lock, socket: socket, folder: folder.owners) { [watchers, clock] in
            watchers.add($0, $1, at: clock.now)
        } attend: { [attendants, clock] in
            attendants.add($0, $1, at: clock.now)
        }
    }

    /// Removes locks and sockets of owners that are gone. A lock's file is only removed while it is locked here.
    private func removeTraces() {
        let names = FolderContent.names(folder.owners)
        for name in names where name.hasSuffix(".lock") {
            guard let lock = FileLock(path(name)) else { continue }
            unlink(path(String(name.dropLast(5)) + ".sock"))
            unlink(path(name))
            _ = consume lock
        }
        let locks = Set(FolderContent.names(folder.owners).filter { $0.hasSuffix(".lock") })
        for name in names where name.hasSuffix(".sock") && !locks.contains(String(name.dropLast(5)) + ".lock") {
            unlink(path(name))
        }
    }

    private static func isFileName(_ text: String) -> Bool {
        guard (1...64).contains(text.utf8.count), !text.hasPrefix(".") else { return false }
        return text.utf8.allSatisfy { $0.isASCIIAlphanumeric || ".-_".utf8.contains($0) }
    }
}
