import JSONPath
import PipelineCore
import PipelinePostgres
import PipelineSQL

/// The rows of what is shared, inside a transaction.
struct ServiceShares: JournalAccess {
    let connection: PostgresConnection

    /// Together the parts never make more than the whole: who comes gets what the others have let go, and each lets go what
    /// is more than an equal part when it claims again.
    func claimRate(of service: String, _ worker: String, milliseconds: Int64) throws(JournalFailure) -> Double {
        try connection.serialize("rate \(service)")
        try run(
            "DELETE FROM rate_shares WHERE service = :service AND until <= clock_timestamp()", ["service": service])
        try run(
            """
            INSERT INTO rate_shares (service, worker, part, until)
            VALUES (:service, :worker, 0, clock_timestamp() + :length * INTERVAL '1 millisecond')
            ON CONFLICT (service, worker) DO UPDATE SET until = excluded.until
            """, ["service": service, "worker": worker, "length": milliseconds])
        let part = try first(
            """
            UPDATE rate_shares SET part = (SELECT greatest(0, least(1.0 / count(*),
                    1 - coalesce(sum(part) FILTER (WHERE worker <> :worker), 0)))
                FROM rate_shares WHERE service = :service)
            WHERE service = :service AND worker = :worker RETURNING part
            """, ["service": service, "worker": worker]
        ) { $0.double("part") }
        return part ?? 0
    }

    func beginList(
        _ list: String, _ ids: [String], atMost: Int, _ worker: String, milliseconds: Int64
    ) throws(JournalFailure) -> ListTurn {
        try connection.serialize("list \(list)")
        // What nobody came for any more.
        try run(
            "DELETE FROM list_polls WHERE list = :list AND due < clock_timestamp() - INTERVAL '10 minutes'",
            ["list": list])
        let own: SQLValues = ["list": list, "ids": Self.array(ids), "worker": worker]
        try run(
            """
            INSERT INTO list_polls (list, id, worker, earliest, due)
            SELECT CAST(:list AS TEXT), id, CAST(:worker AS TEXT), clock_timestamp(), clock_timestamp()
            FROM json_array_elements_text(CAST(:ids AS JSON)) AS given (id)
            ON CONFLICT (list, id) DO UPDATE SET worker = excluded.worker
            """, own)
        var turn = ListTurn(ask: [])
        let found = try all(
            """
            SELECT id, url, body, CASE WHEN answered >= earliest THEN 1 ELSE 0 END AS is_known,
                CASE WHEN asking <> :worker AND asking_until > clock_timestamp() THEN 1 ELSE 0 END AS is_pending
            FROM list_polls WHERE list = :list
                AND id IN (SELECT value FROM json_array_elements_text(CAST(:ids AS JSON)) AS given (value))
            ORDER BY due, id
            """, own
        ) { row -> (id: String, entry: ListEntry?, isKnown: Bool, isPending: Bool) in
            let (id, url) = (row.text("id"), row.text("url"))
            let entry = row.optionalBlob("body").map { ListEntry(url: url, body: $0) }
            return (id, entry, row.flag("is_known"), row.flag("is_pending"))
        }
        for row in found {
            if row.isKnown {
                turn.known[row.id] = .some(row.entry)
            } else if row.isPending {
                turn.pending.append(row.id)
            } else {
                turn.ask.append(row.id)
            }
        }
        try run(
            """
            UPDATE list_polls SET asking = NULL, asking_until = NULL, answered = NULL, url = NULL, body = NULL
            WHERE list = :list AND id IN (SELECT value FROM json_array_elements_text(CAST(:ids AS JSON)) AS given (value))
            """, ["list": list, "ids": Self.array(Array(turn.known.keys))])
        if !turn.ask.isEmpty, turn.ask.count < atMost {
            turn.ask += try all(
                """
                SELECT id FROM list_polls
                WHERE list = :list AND worker <> :worker AND earliest <= clock_timestamp()
                    AND (asking_until IS NULL OR asking_until <= clock_timestamp())
                    AND (answered IS NULL OR answered < earliest)
                ORDER BY due, id LIMIT :limit
                """, ["list": list, "worker": worker, "limit": atMost - turn.ask.count]
            ) { $0.text("id") }
        }
        try run(
            """
            UPDATE list_polls SET asking = :worker,
                asking_until = clock_timestamp() + :length * INTERVAL '1 millisecond'
            WHERE list = :list AND id IN (SELECT value FROM json_array_elements_text(CAST(:ids AS JSON)) AS given (value))
            """, ["list": list, "ids": Self.array(turn.ask), "worker": worker, "length": milliseconds])
        return turn
    }

    private static func array(_ ids: [String]) -> JSON { .array(ids.map { .string($0) }) }

    func endList(_ list: String, _ id: String, _ entry: ListEntry?, _ worker: String) throws(JournalFailure) {
        try run(
            """
            UPDATE list_polls SET asking = NULL, asking_until = NULL,
                answered = CASE WHEN worker = :worker THEN NULL ELSE clock_timestamp() END,
                url = CASE WHEN worker = :worker THEN NULL ELSE CAST(:url AS TEXT) END,
                body = CASE WHEN worker = :worker THEN NULL ELSE CAST(:body AS BYTEA) END
            WHERE list = :list AND id = :id AND asking = :worker
            """, ["list": list, "id": id, "worker": worker, "url": entry?.url, "body": entry?.body])
    }

    /// The latest time within the plan at which another process asks, or else the plan's own.
    func planList(
        _ list: String, _ id: String, _ plan: ListPlan, _ worker: String
    ) throws(JournalFailure) -> Duration {
        try connection.serialize("list \(list)")
        let milliseconds = try first(
            """
            INSERT INTO list_polls (list, id, worker, earliest, due)
            SELECT CAST(:list AS TEXT), CAST(:id AS TEXT), CAST(:worker AS TEXT),
                clock_timestamp() + :earliest * INTERVAL '1 millisecond',
                coalesce((SELECT max(due) FROM list_polls WHERE list = :list AND worker <> :worker
                    AND due BETWEEN clock_timestamp() + :earliest * INTERVAL '1 millisecond'
                        AND clock_timestamp() + :due * INTERVAL '1 millisecond'),
                    clock_timestamp() + :due * INTERVAL '1 millisecond')
            ON CONFLICT (list, id) DO UPDATE SET worker = excluded.worker, earliest = excluded.earliest,
                due = excluded.due, answered = NULL, url = NULL, body = NULL
            RETURNING CAST(extract(epoch FROM due - clock_timestamp()) * 1000 AS BIGINT) AS wait
            """,
            [
                "list": list, "id": id, "worker": worker, "earliest": Int64(plan.earliest / .milliseconds(1)),
                "due": Int64(plan.due / .milliseconds(1)),
            ]
        ) { $0.integer("wait") }
        return .milliseconds(max(0, milliseconds ?? 0))
    }
}
