extension PlannedStage {
    /// Returns what durations of the stage are of (``StageSample/subject``): its kind, and the address of its service
    /// as far as the scope tells it. A scope without secrets: it is kept.
    package func subject(in scope: @autoclosure () -> Scope) -> String {
        guard let url = serviceURL.flatMap({ $0.constant ?? (try? $0.evaluateText(in: scope())) }),
            let host = URLReference(url).authority?.split(separator: "@").last
        else { return kind }
        return "\(kind) \(host)"
    }
}
