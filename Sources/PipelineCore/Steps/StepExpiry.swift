/// Something that a step has or needs, and until when it is good.
package struct StepExpiry: Sendable, Hashable {
    /// The step that has it: the step itself, or one whose captures it reads.
    package let holder: StepKey
    /// Since when it was there.
    package let since: Timestamp
    /// From then on it is void.
    package let time: Timestamp

    package init(holder: StepKey, since: Timestamp, time: Timestamp) {
        self.holder = holder
        self.since = since
        self.time = time
    }

    /// The latest time to act: a while before, so that there is time for it; at most half of the time that it was good
    /// for.
    package var mustActBefore: Timestamp {
        time - min(.seconds(60), .milliseconds(Int64(max(0, (time - since).seconds) * 500)))
    }
}
