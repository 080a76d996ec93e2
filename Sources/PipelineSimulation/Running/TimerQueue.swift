import HeapModule
import PipelineCore

/// The actions at moments of virtual time: the earliest first, of one moment in the order of scheduling.
struct TimerQueue {
    private struct Entry: Comparable {
        let time: Timestamp
        let id: Int

        static func < (left: Entry, right: Entry) -> Bool {
            left.time == right.time ? left.id < right.id : left.time < right.time
        }
    }

    /// The times; what was cancelled stays among them until it comes up.
    private var heap = Heap<Entry>()
    private var actions: [Int: @Sendable () -> Void] = [:]
    private var lastID = 0

    /// Schedules an action; the number cancels it.
    mutating func schedule(at time: Timestamp, _ action: @escaping @Sendable () -> Void) -> Int {
        lastID += 1
        actions[lastID] = action
        heap.insert(Entry(time: time, id: lastID))
        return lastID
    }

    mutating func cancel(_ id: Int) { actions[id] = nil }

    /// The moment of the next action; nil when there is none.
    mutating func nextTime() -> Timestamp? {
        while let first = heap.min, actions[first.id] == nil { heap.removeMin() }
        return heap.min?.time
    }

    /// Takes the next action out.
    mutating func takeNext() -> (@Sendable () -> Void)? {
        guard nextTime() != nil, let first = heap.popMin() else { return nil }
        return actions.removeValue(forKey: first.id)
    }
}
