import PipelineCore

/// What is to happen at moments of virtual time: the earliest first, of one moment in the order of scheduling.
struct TimerQueue {
    private struct Entry {
        let time: Timestamp
        let id: Int

        static func < (left: Entry, right: Entry) -> Bool {
            left.time == right.time ? left.id < right.id : left.time < right.time
        }
    }

    /// A binary heap; what was cancelled stays in it until it comes up.
    private var heap: [Entry] = []
    private var actions: [Int: @Sendable () -> Void] = [:]
    private var lastID = 0

    var isEmpty: Bool { actions.isEmpty }

    /// Schedules an action; the number cancels it.
    mutating func schedule(at time: Timestamp, _ action: @escaping @Sendable () -> Void) -> Int {
        lastID += 1
        actions[lastID] = action
        heap.append(Entry(time: time, id: lastID))
        var child = heap.count - 1
        while child > 0, heap[child] < heap[(child - 1) / 2] {
            heap.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
        return lastID
    }

    mutating func cancel(_ id: Int) { actions[id] = nil }

    /// The moment of the next action; nil when there is none.
    mutating func nextTime() -> Timestamp? {
        while let first = heap.first, actions[first.id] == nil { removeFirst() }
        return heap.first?.time
    }

    /// Takes the next action out.
    mutating func takeNext() -> (@Sendable () -> Void)? {
        guard nextTime() != nil, let first = heap.first else { return nil }
        removeFirst()
        return actions.removeValue(forKey: first.id)
    }

    private mutating func removeFirst() {
        heap.swapAt(0, heap.count - 1)
        heap.removeLast()
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count && heap[child] < heap[least] {
                least = child
            }
            if least == parent { return }
            heap.swapAt(parent, least)
            parent = least
        }
    }
}
