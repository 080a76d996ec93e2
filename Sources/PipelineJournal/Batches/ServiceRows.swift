import PipelineCore
import PipelineSQL

/// The services that are closed.
extension JobReader {
    func closedServices() throws(JournalFailure) -> [ClosedService] {
        try all("SELECT id, name, since, until, closings, trial_until FROM services ORDER BY until, id") { row in
            ClosedService(
                id: ServiceID(row.text("id")), name: row.text("name"), since: row.time("since"),
                until: row.time("until"), closings: row.int("closings"), trialUntil: row.optionalTime("trial_until"))
        }
    }
}

/// The rows of services that are closed, and of the places that remote jobs have there, inside the writer's transaction.
struct ServiceRows<Connection: JournalConnection>: JournalAccess {
    let connection: Connection

    func close(_ service: ClosedService) throws(JournalFailure) {
        try run(
            """
            INSERT INTO services (id, name, since, until, closings, trial_until)
            VALUES (:id, :name, :since, :until, :closings, :trial_until)
            ON CONFLICT (id) DO UPDATE SET name = excluded.name, since = excluded.since, until = excluded.until,
                closings = excluded.closings, trial_until = excluded.trial_until
            """,
            [
                "id": service.id.text, "name": service.name, "since": service.since, "until": service.until,
                "closings": service.closings, "trial_until": service.trialUntil,
            ])
    }

    func beginTrial(
        of service: ServiceID, at now: Timestamp, until limit: Timestamp
    ) throws(JournalFailure) -> Bool {
        // A trial that has more time than any is given was begun before the clock was set back. Who asked a moment earlier and
        // was written later is not meant.
        try change(
            """
            UPDATE services SET trial_until = :limit
            WHERE id = :id AND (until <= :now OR since > :latest)
                AND (trial_until IS NULL OR trial_until <= :now OR trial_until > :longest)
            """,
            [
                "id": service.text, "now": now, "limit": limit, "latest": now + ClosedService.slack,
                "longest": limit + ClosedService.slack,
            ]) == 1
    }

    func open(_ service: ServiceID) throws(JournalFailure) {
        try run("DELETE FROM services WHERE id = :id", ["id": service.text])
    }

    func claimComputation(
        at service: ServiceID, for step: StepKey, of job: JobID, limit: Int
    ) throws(JournalFailure) -> Bool {
        try connection.serialize(service.text)
        let values: SQLValues = [
            "service": service.text, "stage": step.stage, "item": step.itemColumn, "job": job.text,
        ]
        let claimed = try first(
            """
            SELECT 1 AS one FROM computations JOIN jobs ON jobs.number = computations.job
            WHERE jobs.id = :job AND stage = :stage AND item = :item AND service = :service
            """, values
        ) { _ in true }
        if claimed == true { return true }
        // Of a batch that orders nothing more what waits for a place is not let in, from the commit on that counts the failure.
        if let (number, batch) = try batchAtWork(with: job),
            try !batch.letsIn(besides: { () throws(JournalFailure) in try placesAtWork(of: number) })
        {
            return false
        }
        let taken = try first(
            "SELECT count(*) AS count FROM computations WHERE service = :service", ["service": service.text]
        ) { $0.int("count") }
        guard taken ?? 0 < limit else { return false }
        return try change(
            """
            INSERT INTO computations (job, stage, item, service)
            SELECT number, CAST(:stage AS TEXT), CAST(:item AS BIGINT), CAST(:service AS TEXT)
            FROM jobs WHERE id = :job
            ON CONFLICT (job, stage, item) DO UPDATE SET service = excluded.service
            """, values) == 1
    }
}

extension JournalAccess {
    /// The batch of which a job is an item, while somebody works on it.
    func batchAtWork(with job: JobID) throws(JournalFailure) -> (number: Int64, batch: BatchRecord)? {
        let number = try first(
            """
            SELECT batches.job AS number FROM jobs JOIN batches ON batches.job = jobs.batch
                JOIN jobs AS whole ON whole.number = jobs.batch
            WHERE jobs.id = :job AND whole.owner IS NOT NULL
            """, ["job": job.text]
        ) { $0.integer("number") }
        guard let number, let batch = try batch(number) else { return nil }
        return (number, batch)
    }
}

extension ServiceRows {
    /// The number of places that items of a batch have that are at work.
    private func placesAtWork(of batch: Int64) throws(JournalFailure) -> Int {
        try first(
            """
            SELECT count(*) AS count FROM computations JOIN jobs ON jobs.number = computations.job
            WHERE jobs.batch = :batch AND jobs.owner IS NOT NULL
            """, ["batch": batch]
        ) { $0.int("count") } ?? 0
    }
}

extension JobRows {
    var services: ServiceRows<Connection> { ServiceRows(connection: connection) }
}
