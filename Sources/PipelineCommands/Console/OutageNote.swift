import PipelineCore

/// A line for the person at a command that waits for a database which is away, and when it is back.
struct OutageNote {
    let line: StyledText

    init(_ failure: JournalFailure?) {
        let text = failure.map { "note: \($0); it is tried again for 20 s" } ?? "note: the database is back"
        line = StyledText(message: text)
    }
}
