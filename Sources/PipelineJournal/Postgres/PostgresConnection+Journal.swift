package import PipelineCore
package import PipelinePostgres
import PipelineSQL
import PipelineSQLite

extension PostgresConnection: JournalConnection {
    package typealias Row = PostgresRow
    package typealias OwnerRows = PostgresOwners

    /// Several jobs may share a number: that of the transaction which wrote their events.
    package static var asidePending: String {
        "coalesce(CAST(CAST(batches.place AS JSON) -> 'aside' ->> 'pending' AS BIGINT), 0)"
    }
    package static var changedJobs: StaticString {
        """
        SELECT max(events.changed) AS changed, jobs.id AS id FROM events JOIN jobs ON jobs.number = events.job
        WHERE events.changed > :after AND events.changed <= (SELECT last FROM journal_changes)
            AND events.changed <= coalesce((SELECT changed FROM events WHERE changed > :after
                ORDER BY changed LIMIT 1 OFFSET :limit), 9223372036854775807)
        GROUP BY jobs.number ORDER BY 1, jobs.number
        """
    }

    /// Each event has that of its transaction.
    package func numberChange(of job: Int64) {}

    package func serialize(_ name: String) throws(JournalFailure) {
        try readRows(
            of: "SELECT 1 AS one FROM pg_advisory_xact_lock(hashtextextended(CAST(:name AS TEXT), 0))", ["name": name]
        ) { _ in true }
    }

    /// Sends the statement; its result comes with that of the next one that is waited for.
    package func run(
        _ sql: StaticString, _ values: SQLValues, expecting count: Int?, else failure: @escaping () -> JournalFailure
    ) throws(JournalFailure) {
        do throws(PostgresError) {
            try send(sql, Self.parameters(values)) { result in
                guard let count, result.changes != count else { return nil }
                return failure()
            }
        } catch {
            throw JournalFailure(error, at: address)
        }
    }

    package func change(_ sql: StaticString, _ values: SQLValues) throws(JournalFailure) -> Int {
        try result(of: sql, values).changes
    }

    package func readRows(
        of sql: StaticString, _ values: SQLValues, _ body: (PostgresRow) throws(JournalFailure) -> Bool
    ) throws(JournalFailure) {
        try Self.forEach(try result(of: sql, values), body)
    }

    package func readRows(
        ofUnkept sql: String, _ values: SQLValues, _ body: (PostgresRow) throws(JournalFailure) -> Bool
    ) throws(JournalFailure) {
        var found: PostgresResult?
        do throws(PostgresError) {
            try send(text: sql, Self.parameters(values)) { result in
                found = result
                return nil
            }
        } catch {
            throw JournalFailure(error, at: address)
        }
        try finishSending()
        if let found { try Self.forEach(found, body) }
    }

    /// Waits for the results of all that was sent.
    func finishSending() throws(JournalFailure) {
        do {
            try drain()
        } catch let error as JournalFailure {
            throw error
        } catch let error as PostgresError {
            throw JournalFailure(error, at: address)
        } catch {
            throw .other("\(error)")
        }
    }

    /// What a program that is gone without a word had begun holds nobody up for longer than this.
    static let idleLimit = "idle_in_transaction_session_timeout TO '20s'"

    /// Begins a transaction; `mode` is empty or what stands after BEGIN. Behind a pooler settings hold for a transaction.
    func begin(_ mode: String = "") throws(JournalFailure) {
        do throws(PostgresError) {
            try send(text: "BEGIN \(mode)")
            if isPooled {
                try send(text: "SET LOCAL search_path TO \(PostgresSchema.name)")
                try send(text: "SET LOCAL \(Self.idleLimit)")
            }
            markTransaction(true)
        } catch {
            throw JournalFailure(error, at: address)
        }
    }

    /// Undoes what was not committed; says nothing when the connection is gone, which has the same end.
    func rollBack() {
        guard isInTransaction else { return }
        markTransaction(false)
        guard loss == nil else { return }
        try? drain()
        try? execute("ROLLBACK")
    }

    private func result(of sql: StaticString, _ values: SQLValues) throws(JournalFailure) -> PostgresResult {
        var found: PostgresResult?
        do throws(PostgresError) {
            try send(sql, Self.parameters(values)) { result in
                found = result
                return nil
            }
        } catch {
            throw JournalFailure(error, at: address)
        }
        try finishSending()
        guard let found else { throw .other("a statement gave no result") }
        return found
    }

    private static func parameters(_ values: SQLValues) -> [(name: String, value: SQLParameter)] {
        values.pairs.map { (name: $0.0, value: $0.1.parameter) }
    }

    private static func forEach(
        _ result: PostgresResult, _ body: (PostgresRow) throws(JournalFailure) -> Bool
    ) throws(JournalFailure) {
        for index in 0..<result.count where try !body(result.row(index)) { return }
    }
}

extension JournalFailure {
    /// Advice for a server that does not write.
    static let writableServer = "name the primary server, or add target_session_attrs=read-write to the address"

    /// Makes of a failed call what it means for the journal's callers: where, what, and what to do.
    init(_ error: PostgresError, at address: PostgresAddress) {
        let place = address.description
        func refused(_ reason: String, _ hint: String) -> JournalFailure {
            .refused(place: place, reason: reason, hint: hint)
        }
        // SQLSTATEs: PostgreSQL manual, appendix A.
        switch error.state {
        case "53100": self = .full(folder: "the server of \(place)")
        case "25006":
            self = refused("it is read-only", Self.writableServer)
        case "42501":
            self = refused(error.message, "grant it to the user of the address, or name another user")
        case "42P01", "3F000", "42703":
            self = refused(
                "its schema is not whole: \(error.message)",
                "put it back from a backup; where nothing in it is needed, drop the schema '\(PostgresSchema.name)' and "
                    + "run 'pipeline journal migrate'")
        case "42P06", "42P07", "42710":
            self = refused(
                error.message, "nothing of the step was kept: remove what is in its way, and run it again")
        case "57014":
            self = refused(
                "it ended a statement before its end: \(error.message)",
                "raise statement_timeout for the address's user")
        case _ where error.isAway:
            self = .away(place: place, reason: error.message.isEmpty ? "the connection was lost" : error.message)
        default:
            let code = error.kind == .refused ? "" : error.state.map { " (SQLSTATE \($0))" } ?? ""
            self = refused(
                error.message + code, error.hint ?? "see the server's log, and the address in PIPELINE_JOURNAL")
        }
    }
}
