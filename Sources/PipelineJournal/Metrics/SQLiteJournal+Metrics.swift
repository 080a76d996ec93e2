package import PipelineCore

extension SQLiteJournal {
    package func measured() async throws(JournalFailure) -> Measurements {
        try await reader.read { (reader) throws(JournalFailure) in try MetricsReader(reader).measured() }
    }

    package func gauges(at now: Timestamp) async throws(JournalFailure) -> [MetricGauge] {
        try await reader.read { (reader) throws(JournalFailure) in try MetricsReader(reader).gauges(at: now) }
    }
}
