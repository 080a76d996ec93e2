public import JSONPath

/// A push that came for a step: what it says is not believed, but for values that the document takes out of it.
public struct Callback: Sendable, Hashable {
    /// Tells it from its repetitions; the service's own id where it gives one.
    public let id: String
    public let time: Timestamp
    /// The values that the document takes out of it, secrets in them sealed; nil when it takes none, or this one has none.
    public let captures: JSONObject?

    public init(id: String, time: Timestamp, captures: JSONObject? = nil) {
        self.id = id
        self.time = time
        self.captures = captures
    }
}

/// How many pushes came for a step since it was begun.
public struct CallbackCount: Sendable, Hashable {
    /// Those that woke nothing yet.
    public var waiting: Int
    /// Those that the step was woken for.
    public var taken: Int
    /// The values of the last one that brought any.
    public var captures: JSONObject?

    public init(waiting: Int = 0, taken: Int = 0, captures: JSONObject? = nil) {
        self.waiting = waiting
        self.taken = taken
        self.captures = captures
    }

    public var all: Int { waiting + taken }
}

/// What became of a push that was to be kept.
public struct CallbackReceipt: Sendable, Hashable {
    /// False for a repetition of one that is kept already.
    public let isNew: Bool
    /// Whether an owner that is alive was told.
    public let isHeard: Bool

    public init(isNew: Bool, isHeard: Bool) {
        self.isNew = isNew
        self.isHeard = isHeard
    }
}
