/// A push that came for a step: that it came is all that counts, what it says is not believed.
public struct Callback: Sendable, Hashable {
    /// Tells it from its repetitions; the service's own id where it gives one.
    public let id: String
    public let time: Timestamp

    public init(id: String, time: Timestamp) {
        self.id = id
        self.time = time
    }
}

/// How many pushes came for a step since it was begun.
public struct CallbackCount: Sendable, Hashable {
    /// Those that woke nothing yet.
    public var waiting: Int
    /// Those that the step was woken for.
    public var taken: Int

    public init(waiting: Int = 0, taken: Int = 0) {
        self.waiting = waiting
        self.taken = taken
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
