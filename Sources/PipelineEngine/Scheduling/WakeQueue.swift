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
    private var byEarliest = TimeHeap()
    private var byLatest = TimeHeap()
    private var numbers = 0

    package init() {}

    package var count: Int { entries.count }

    /// Has the job woken between the two times, in place of what was asked for before.
    package mutating func put(_ job: JobID, earliest: Timestamp, latest: Timestamp) {
        numbers += 1
        entries[job] = Entry(earliest: earliest, latest: max(earliest, latest), number: numbers)
        byEarliest.insert(TimeHeap.Item(time: earliest, job: job, number: numbers))
        byLatest.insert(TimeHeap.Item(time: max(earliest, latest), job: job, number: numbers))
        // Entries that were replaced must not pile up behind far times.
        if byLatest.count > 2 * entries.count + 64 { rebuild() }
    }

    package mutating func remove(_ job: JobID) { entries[job] = nil }

    /// Returns when the next job must be woken.
    package mutating func nextTime() -> Timestamp? {
        while let first = byLatest.first {
            if entries[first.job]?.number == first.number { return first.time }
            byLatest.removeFirst()
        }
        return nil
    }

    /// Takes the jobs that may be woken now, when one of them must be; in the order of their times.
    package mutating func takeDue(at now: Timestamp) -> [JobID] {
        guard let next = nextTime(), next <= now else { return [] }
        var due: [JobID] = []
        while let first = byEarliest.first, first.time <= now {
            byEarliest.removeFirst()
            guard entries[first.job]?.number == first.number else { continue }
            entries[first.job] = nil
            due.append(first.job)
        }
        return due
    }

    private mutating func rebuild() {
        byEarliest = TimeHeap()
        byLatest = TimeHeap()
        for (job, entry) in entries {
            byEarliest.insert(TimeHeap.Item(time: entry.earliest, job: job, number: entry.number))
            byLatest.insert(TimeHeap.Item(time: entry.latest, job: job, number: entry.number))
        }
    }
}

/// A binary heap, the earliest first; of equal times the one that was put first.
private struct TimeHeap: Sendable {
    struct Item: Sendable {
        let time: Timestamp
        let job: JobID
        let number: Int

        func isBefore(_ other: Item) -> Bool { (time, number) < (other.time, other.number) }
    }

    private var items: [Item] = []

    var first: Item? { items.first }
    var count: Int { items.count }

    mutating func insert(_ item: Item) {
        items.append(item)
        var place = items.count - 1
        while place > 0, items[place].isBefore(items[(place - 1) / 2]) {
            items.swapAt(place, (place - 1) / 2)
            place = (place - 1) / 2
        }
    }

    mutating func removeFirst() {
        items.swapAt(0, items.count - 1)
        items.removeLast()
        var place = 0
        while true {
            let children = [2 * place + 1, 2 * place + 2].filter { $0 < items.count }
            guard let least = children.min(by: { items[$0].isBefore(items[$1]) }),
                items[least].isBefore(items[place])
            else { return }
            items.swapAt(place, least)
            place = least
        }
    }
}
