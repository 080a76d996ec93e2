/// Keys that wait for a time, the earliest first; of equal times the lesser key.
///
/// Setting and taking are logarithmic. A time that was replaced stays in the heap until it is met, and never more of
/// them than there are keys.
struct TimeQueue<Key: Hashable & Comparable & Sendable>: Sendable {
    private struct Entry: Sendable {
        let time: Timestamp
        let key: Key

        func isBefore(_ other: Entry) -> Bool { (time, key) < (other.time, other.key) }
    }

    private var times: [Key: Timestamp] = [:]
    private var heap: [Entry] = []
    /// The number of entries that were moved or met: the law of cost is held by it.
    private(set) var work = 0

    var count: Int { times.count }
    var isEmpty: Bool { times.isEmpty }

    func time(of key: Key) -> Timestamp? { times[key] }

    /// Has the key wait for the time instead of the one before; nil takes it out.
    mutating func set(_ key: Key, to time: Timestamp?) {
        guard times[key] != time else { return }
        times[key] = time
        guard let time else { return }
        insert(Entry(time: time, key: key))
        if heap.count > 2 * times.count + 16 { rebuild() }
    }

    /// The earliest key and its time.
    var first: (key: Key, time: Timestamp)? {
        mutating get {
            while let entry = heap.first {
                if times[entry.key] == entry.time { return (entry.key, entry.time) }
                removeTop()
            }
            return nil
        }
    }

    /// Takes the earliest key out; nil when there is none.
    mutating func popFirst() -> Key? {
        guard let first else { return nil }
        times[first.key] = nil
        removeTop()
        return first.key
    }

    /// Takes the earliest key out if its time has come.
    mutating func popDue(at now: Timestamp) -> Key? {
        guard let first, first.time <= now else { return nil }
        return popFirst()
    }

    private mutating func rebuild() {
        heap = []
        for (key, time) in times { insert(Entry(time: time, key: key)) }
    }

    private mutating func insert(_ entry: Entry) {
        heap.append(entry)
        work += 1
        var place = heap.count - 1
        while place > 0, heap[place].isBefore(heap[(place - 1) / 2]) {
            heap.swapAt(place, (place - 1) / 2)
            place = (place - 1) / 2
        }
    }

    private mutating func removeTop() {
        heap.swapAt(0, heap.count - 1)
        heap.removeLast()
        work += 1
        var place = 0
        while true {
            var least = place
            for child in [2 * place + 1, 2 * place + 2] where child < heap.count && heap[child].isBefore(heap[least]) {
                least = child
            }
            if least == place { return }
            heap.swapAt(place, least)
            place = least
        }
    }
}
