import HeapModule
package import PipelineCore

/// Jobs that wait for a time, and how late each may be woken: those whose times lie within each other's tolerance are
/// woken together.
///
/// It works as timer slack does in a kernel: nothing happens before the first job *must* be woken, and then all that
/// may be are. Costs some tens of bytes a job; adding and taking are logarithmic.
package struct WakeQueue: Sendable {
    private struct Entry: Sendable {
        var earliest: Timestamp
        var latest: Timestamp
        /// Tells a job's last entry from those it had before, which stay in the heaps until they are met.
        var number: Int
    }

    private var entries: [JobID: Entry] = [:]
    private var byEarliest = Heap<Waking>()
    private var byLatest = Heap<Waking>()
    private var numbers = 0

    package init() {}

    package var count: Int { entries.count }

    /// Has the job woken between the two times, in place of what was asked for before.
    package mutating func put(_ job: JobID, earliest: Timestamp, latest: Timestamp) {
        numbers += 1
        entries[job] = Entry(earliest: earliest, latest: max(earliest, latest), number: numbers)
        byEarliest.insert(Waking(time: earliest, job: job, number: numbers))
        byLatest.insert(Waking(time: max(earliest, latest), job: job, number: numbers))
        // Entries that were replaced must not pile up behind far times.
        if max(byEarliest.count, byLatest.count) > 2 * entries.count + 64 { rebuild() }
    }

    package mutating func remove(_ job: JobID) { entries[job] = nil }

    /// Returns when the next job must be woken.
    package mutating func nextTime() -> Timestamp? {
        while let first = byLatest.min {
            if entries[first.job]?.number == first.number { return first.time }
            byLatest.removeMin()
        }
        return nil
    }

    /// Takes the jobs that may be woken now, when one of them must be; in the order of their times.
    package mutating func takeDue(at now: Timestamp) -> [JobID] {
        guard let next = nextTime(), next <= now else { return [] }
        var due: [JobID] = []
        while let first = byEarliest.min, first.time <= now {
            byEarliest.removeMin()
            guard entries[first.job]?.number == first.number else { continue }
            entries[first.job] = nil
            due.append(first.job)
        }
        return due
    }

    private mutating func rebuild() {
        byEarliest = Heap<Waking>()
        byLatest = Heap<Waking>()
        for (job, entry) in entries {
            byEarliest.insert(Waking(time: entry.earliest, job: job, number: entry.number))
            byLatest.insert(Waking(time: entry.latest, job: job, number: entry.number))
        }
    }
}

/// A time of a job, which comes before later ones; of equal times the one that was put first.
private struct Waking: Sendable, Comparable {
    let time: Timestamp
    let job: JobID
    let number: Int

    static func < (left: Waking, right: Waking) -> Bool { (left.time, left.number) < (right.time, right.number) }
}
