package import JSONPath

/// A push that came for a step: what it says is not believed, but for values that the document takes out of it.
public struct Callback: Sendable, Hashable {
    /// The id that tells it from its repetitions; the service's own one where it gives one.
    public let id: String
    package let time: Timestamp
    /// The values that the document takes out of it, secrets in them sealed; nil when it takes none, or this one has none.
    package let captures: JSONObject?
    /// The value that `match` is to be judged by, secrets in it sealed, of one that came before the submit's response
    /// was kept: what it is compared with is not known yet. Nil once it is judged.
    package let response: JSON?

    package init(id: String, time: Timestamp, captures: JSONObject? = nil, response: JSON? = nil) {
        self.id = id
        self.time = time
        self.captures = captures
        self.response = response
    }
}

/// The number of callbacks that came for a step since it was begun.
package struct CallbackCount: Sendable, Hashable {
    /// Those that woke nothing yet.
    package var waiting: Int
    /// Those that the step was woken for.
    package var taken: Int
    /// The values of the last one that brought any.
    package var captures: JSONObject?
    /// Those that came before their `match` could be judged, in the order of their times; they wake nothing.
    package var early: [Callback] = []

    package init(waiting: Int = 0, taken: Int = 0, captures: JSONObject? = nil) {
        self.waiting = waiting
        self.taken = taken
        self.captures = captures
    }

    /// The most early callbacks that are kept for one step.
    package static let mostEarly = 20

    /// Counts one that was just kept.
    package mutating func add(_ callback: Callback) {
        if callback.response != nil { return early.append(callback) }
        waiting += 1
        captures = callback.captures ?? captures
    }

    /// Counts an early one as any other, or forgets it.
    mutating func judge(_ id: String, isMatch: Bool) {
        guard let place = early.firstIndex(where: { $0.id == id }) else { return }
        let callback = early.remove(at: place)
        guard isMatch else { return }
        waiting += 1
        captures = captures ?? callback.captures
    }

    /// Counts so many of the waiting as those that the step was woken for.
    mutating func take(_ count: Int) {
        let count = min(count, waiting)
        waiting -= count
        taken += count
    }

    package var all: Int { waiting + taken }
}

/// The result of recording a callback.
public struct CallbackReceipt: Sendable, Hashable {
    /// False for a repetition of one that is kept already.
    public let isNew: Bool
    /// True if an owner that is alive was told.
    public let isHeard: Bool

    /// The result of keeping a callback, or of having it already.
    public init(isNew: Bool, isHeard: Bool) {
        self.isNew = isNew
        self.isHeard = isHeard
    }
}
