import JSONPath
import PipelineCore

/// The counts of a batch that the column of the place holds, next to it.
struct ReadingNotes {
    /// See ``BatchRecord/aside``.
    var aside: [ItemRecord.State: Int]
    /// See ``BatchRecord/begunAnew``.
    var begunAnew: Int

    init(aside: [ItemRecord.State: Int], begunAnew: Int) {
        self.aside = aside
        self.begunAnew = begunAnew
    }

    init(_ place: JSONObject) {
        aside = (place["aside"]?.object ?? [:]).reduce(into: [:]) { counts, member in
            if let state = ItemRecord.State(rawValue: member.name) { counts[state] = member.value.number?.int }
        }
        begunAnew = place["begunAnew"]?.number?.int ?? 0
    }
}
