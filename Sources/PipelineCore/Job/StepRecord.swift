package import JSONPath

/// One row of the journal: everything that is kept of a step.
public struct StepRecord: Sendable, Hashable {
    package var state: StepState
    /// The stage's own checkpoint, in the stage's own form (JSON); nil before the first.
    package var checkpoint: [UInt8]?
    /// The captures made so far (`self.X`); of a step that has succeeded its state holds the final ones. Of a repeated stage
    /// what its items made is here also where they failed, for `finally`.
    package var captures: JSONObject
    /// The time when it first started; deadlines count from here. Nil also while a service has not let in what it would begin
    /// with: it is closed, or has no place.
    package var started: Timestamp?
    /// The time when it ended.
    package var ended: Timestamp?
    /// The number of the last try.
    package var attempts: Int
    /// The number of times that it got control back after waiting.
    package var resumes: Int
    /// Body bytes handed to the network and taken from it, over all attempts.
    package var bytesSent: Int64
    package var bytesReceived: Int64
    /// The cost of all that it did, in the author's currency; nil when the document does not say.
    package var cost: Double?
    /// True if the job goes on, and may succeed, when the step fails (`continueOnFailure`).
    package var toleratesFailure: Bool
    /// The value of `item` for a step of a `forEach`.
    package var value: JSON?
    /// Until when what the step has is good: the captures of one that has succeeded, what the service keeps of one that is
    /// under way, the link that an item which has not begun was given. Nil where nothing is known to expire. What needs
    /// it must act before; see ``JobSnapshot/mustBeginBy(_:in:)``.
    package var expires: Timestamp?
    /// Grows by one with each commit, so that an update names the row that it was made from.
    package var version: Int

    package init(state: StepState = .pending, toleratesFailure: Bool = false, value: JSON? = nil) {
        self.state = state
        checkpoint = nil
        captures = [:]
        attempts = 0
        resumes = 0
        bytesSent = 0
        bytesReceived = 0
        self.toleratesFailure = toleratesFailure
        self.value = value
        version = 0
    }

    /// Begins the step, unless it began before: it keeps what it has.
    mutating func begin(at time: Timestamp, tolerates: Bool, with first: [UInt8]?) {
        started = started ?? time
        toleratesFailure = tolerates
        checkpoint = checkpoint ?? first
    }

    /// Puts in what was said of the step since its last change.
    mutating func add(_ notes: StepNotes) {
        if let noted = notes.expires { expires = noted }
        bytesSent += notes.moved.sent
        bytesReceived += notes.moved.received
    }

    mutating func add(cost more: Double) { cost = (Amount(cost ?? 0) + Amount(more)).double }
}

extension StepRecord {
    /// True for an item that its stage no longer has; one that its `when` skipped keeps its element.
    var isDropped: Bool { state == .skipped && value == nil }

    /// The step as if it had never run; what it has cost stays.
    func restarted() -> StepRecord {
        var fresh = StepRecord(toleratesFailure: toleratesFailure, value: value)
        fresh.bytesSent = bytesSent
        fresh.bytesReceived = bytesReceived
        fresh.resumes = resumes
        fresh.cost = cost
        fresh.version = version
        return fresh
    }
}

extension JSONObject {
    /// The object with the members of the other, which win.
    package func merging(_ other: JSONObject) -> JSONObject {
        var all = self
        for member in other { all[member.name] = member.value }
        return all
    }
}
