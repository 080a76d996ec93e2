/// What a clock that is set changes: nothing that lasts. Times that stand for a length from now, such as those of
/// retries, polls, deadlines and delays, are moved along; times that an author or a service gave are kept.
extension JobState {
    /// Takes the moment of an input in.
    mutating func begin(at moment: JobMoment) throws(IllegalTransition) {
        let shift = moment.shift(since: table.moment)
        table.moment = moment
        if let shift { try setClock(by: shift) }
    }

    /// Takes in that the clock was set back since the job was known last: it had come further than now. That it was set
    /// forward can't be told from time that passed.
    mutating func makeUpForClock() throws(IllegalTransition) {
        if let last = snapshot.latestActivity, now - last <= .seconds(-1) { try setClock(by: now - last) }
    }

    private mutating func setClock(by shift: Duration) throws(IllegalTransition) {
        try table.setClock(by: shift)
        for key in calls.keys { calls[key]?.setClock(by: shift) }
        rules.watch.setClock(by: shift)
        marks.setClock(by: shift)
        notifications.setClock(by: shift, in: &table)
    }
}
