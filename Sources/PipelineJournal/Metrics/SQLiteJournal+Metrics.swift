package import PipelineCore

extension SQLiteJournal {
    public func measured() async throws(JournalFailure) -> Measurements {
        try await reader.read { (reader) throws(JournalFailure) in try MetricsReader(reader).measured() }
    }

    public func gauges(at now: Timestamp) async throws(JournalFailure) -> [MetricGauge] {
        try await reader.read { (reader) throws(JournalFailure) in try MetricsReader(reader).gauges(at: now) }
    }
}
