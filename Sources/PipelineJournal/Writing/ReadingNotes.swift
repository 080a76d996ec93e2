import JSONPath
import PipelineCore

/// The counts of a batch that the column of the place holds, next to it.
struct ReadingNotes {
    /// See ``BatchRecord/aside``.
    var aside: [ItemRecord.State: Int]
    /// See ``BatchRecord/otherEnds``.
    var otherEnds: Int

    init(aside: [ItemRecord.State: Int], otherEnds: Int) {
        self.aside = aside
        self.otherEnds = otherEnds
    }

    init(_ place: JSONObject) {
        aside = (place["aside"]?.object ?? [:]).reduce(into: [:]) { counts, member in
            if let state = ItemRecord.State(rawValue: member.name) { counts[state] = member.value.number?.int }
        }
        otherEnds = place["otherEnds"]?.number?.int ?? 0
    }
}
