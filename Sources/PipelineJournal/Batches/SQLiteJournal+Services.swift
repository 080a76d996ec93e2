public import PipelineCore
import PipelineSQLite

extension SQLiteJournal {
    public func closedServices() async throws(JournalFailure) -> [ClosedService] {
        try await reader.read { (reader) throws(JournalFailure) in
            try reader.all("SELECT * FROM services ORDER BY until, id") { row in
                ClosedService(
                    id: ServiceID(row.text("id")), name: row.text("name"), since: row.time("since"),
                    until: row.time("until"), closings: row.int("closings"), trialUntil: row.optionalTime("trial_until")
                )
            }
        }
    }

    public func closeService(_ service: ClosedService) async throws(JournalFailure) {
        try await writer.write { (rows) throws(JournalFailure) in
            _ = try rows.run(
                """
                INSERT OR REPLACE INTO services (id, name, since, until, closings, trial_until)
                VALUES (:id, :name, :since, :until, :closings, :trial_until)
                """,
                [
                    "id": service.id.text, "name": service.name, "since": service.since, "until": service.until,
                    "closings": service.closings, "trial_until": service.trialUntil,
                ])
        }
    }

    public func beginTrial(
        of service: ServiceID, at now: Timestamp, until limit: Timestamp
    ) async throws(JournalFailure) -> Bool {
        try await writer.write { (rows) throws(JournalFailure) in
            // A trial that has more time than any is given was begun before the clock was set back.
            try rows.run(
                """
                UPDATE services SET trial_until = :limit
                WHERE id = :id AND (until <= :now OR since > :now)
                    AND (trial_until IS NULL OR trial_until <= :now OR trial_until > :limit)
                """, ["id": service.text, "now": now, "limit": limit]) == 1
        }
    }

    public func openService(_ service: ServiceID) async throws(JournalFailure) {
        try await writer.write { (rows) throws(JournalFailure) in
            _ = try rows.run("DELETE FROM services WHERE id = :id", ["id": service.text])
        }
    }

    public func claimComputation(
        at service: ServiceID, for step: StepKey, of job: JobID, limit: Int
    ) async throws(JournalFailure) -> Bool {
        try await writer.write { (rows) throws(JournalFailure) in
            let values: SQLiteValues = [
                "service": service.text, "stage": step.stage, "item": step.itemColumn, "job": job.text,
            ]
            let claimed = try rows.first(
                """
                SELECT 1 AS one FROM computations JOIN jobs ON jobs.number = computations.job
                WHERE jobs.id = :job AND stage = :stage AND item = :item AND service = :service
                """, values
            ) { _ in true }
            if claimed == true { return true }
            let taken = try rows.first(
                "SELECT count(*) AS count FROM computations WHERE service = :service", ["service": service.text]
            ) { $0.int("count") }
            guard taken ?? 0 < limit else { return false }
            return try rows.run(
                """
                INSERT OR REPLACE INTO computations (job, stage, item, service)
                SELECT number, :stage, :item, :service FROM jobs WHERE id = :job
                """, values) == 1
        }
    }
}
