package import PipelineCore

extension DatabaseJournal {
    package func measured() async throws(JournalFailure) -> Measurements {
        try await read { (reader) throws(JournalFailure) in try MetricsReader(reader).measured() }
    }

    package func gauges(at now: Timestamp) async throws(JournalFailure) -> [MetricGauge] {
        try await read { (reader) throws(JournalFailure) in try MetricsReader(reader).gauges(at: now) }
    }
}
