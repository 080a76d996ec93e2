package import JSONPath

/// A push that came for a step: what it says is not believed, but for values that the document takes out of it.
package struct Callback: Sendable, Hashable {
    /// Tells it from its repetitions; the service's own id where it gives one.
    package let id: String
    package let time: Timestamp
    /// The values that the document takes out of it, secrets in them sealed; nil when it takes none, or this one has none.
    package let captures: JSONObject?

    package init(id: String, time: Timestamp, captures: JSONObject? = nil) {
        self.id = id
        self.time = time
        self.captures = captures
    }
}

/// How many pushes came for a step since it was begun.
package struct CallbackCount: Sendable, Hashable {
    /// Those that woke nothing yet.
    package var waiting: Int
    /// Those that the step was woken for.
    package var taken: Int
    /// The values of the last one that brought any.
    package var captures: JSONObject?

    package init(waiting: Int = 0, taken: Int = 0, captures: JSONObject? = nil) {
        self.waiting = waiting
        self.taken = taken
        self.captures = captures
    }

    package var all: Int { waiting + taken }
}

/// What became of a push that was to be kept.
package struct CallbackReceipt: Sendable, Hashable {
    /// False for a repetition of one that is kept already.
    package let isNew: Bool
    /// Whether an owner that is alive was told.
    package let isHeard: Bool

    package init(isNew: Bool, isHeard: Bool) {
        self.isNew = isNew
        self.isHeard = isHeard
    }
}
