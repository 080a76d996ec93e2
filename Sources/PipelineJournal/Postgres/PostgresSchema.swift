import PipelineCore
import PipelinePostgres
import PipelineSQL

/// The journal's tables in PostgreSQL, in a schema of their own. The history is append-only: entries are only ever added at
/// the end, none is changed once it was released.
enum PostgresSchema {
    static let name = "pipeline"
    static let steps: [(name: String, sql: String)] = [
        ("v1", version1), ("without-checks", withoutChecks), ("refused-places", refusedPlaces),
    ]
    /// The oldest version that this program works with: the one before its own.
    static let oldest = max(1, steps.count - 1)

    /// The relation of a database to the steps that this program knows.
    enum Version {
        case missing
        case at(Int)
    }

    /// The statements that make the schema of an empty database, to be read or to be run by somebody else.
    static var dump: String {
        steps.enumerated().map { "-- \($0 + 1): \($1.name)\nBEGIN;\n\(sql(of: $0))\nCOMMIT;\n" }.joined()
    }

    /// All statements of one step, with the row that says it was done.
    private static func sql(of index: Int) -> String {
        let frame =
            index == 0
            ? """
            CREATE SCHEMA IF NOT EXISTS \(name);
            SET LOCAL search_path TO \(name);
            CREATE TABLE versions (
                number INTEGER PRIMARY KEY,
                name TEXT NOT NULL,
                applied TIMESTAMPTZ NOT NULL DEFAULT clock_timestamp()
            );

            """ : "SET LOCAL search_path TO \(name);\n"
        return frame + steps[index].sql
            + "INSERT INTO versions (number, name) VALUES (\(index + 1), '\(steps[index].name)');"
    }

    /// The columns of all tables that the steps make, as `table.column`.
    static let columns: Set<String> = {
        var columns: Set<String> = []
        for index in steps.indices {
            var table: Substring?
            for line in sql(of: index).split(separator: "\n") {
                if let made = line.firstMatch(of: #/^ *CREATE TABLE (\w+) \($/#) {
                    table = made.output.1
                } else if line.contains(#/^ *\)/#) {
                    table = nil
                } else if let table, let column = line.firstMatch(of: #/^ *([a-z_0-9]+) [A-Z]/#) {
                    columns.insert("\(table).\(column.output.1)")
                }
            }
        }
        return columns
    }()

    static func version(of connection: PostgresConnection) throws(PostgresError) -> Version {
        let there = try connection.query("SELECT to_regclass('\(name).versions') IS NOT NULL AS there")
        guard there.row(0).flag("there") else { return .missing }
        let found = try connection.query("SELECT coalesce(max(number), 0)::BIGINT AS last FROM \(name).versions")
        return .at(found.row(0).int("last"))
    }

    /// Does the steps that are missing, each in a transaction of its own, while no other program does; returns how many, nil for
    /// a schema that a newer program made.
    static func migrate(_ connection: PostgresConnection) throws(PostgresError) -> Int? {
        var done = 0
        while true {
            try connection.execute("BEGIN")
            // One program at a time, until its transaction has ended.
            try connection.execute("SELECT pg_advisory_xact_lock(\(lock))")
            var version = 0
            if case .at(let number) = try Self.version(of: connection) { version = number }
            guard version < steps.count else {
                try connection.execute("ROLLBACK")
                return version > steps.count ? nil : done
            }
            do throws(PostgresError) {
                for statement in statements(of: sql(of: version)) { try connection.execute(statement) }
            } catch {
                try? connection.execute("ROLLBACK")
                throw PostgresError(
                    kind: error.kind, state: error.state,
                    message: "\(error.message), in the step '\(steps[version].name)' of the schema", hint: error.hint)
            }
            try connection.execute("COMMIT")
            done += 1
        }
    }

    /// The id says "PIPE".
    private static let lock = 0x5049_5045

    /// The statements one by one: a semicolon ends one, but for those between two `$$`.
    private static func statements(of sql: String) -> [String] {
        var statements = [""]
        for (place, piece) in sql.split(separator: "$$", omittingEmptySubsequences: false).enumerated() {
            if place > 0 { statements[statements.count - 1] += "$$" }
            guard place.isMultiple(of: 2) else {
                statements[statements.count - 1] += piece
                continue
            }
            let parts = piece.split(separator: ";", omittingEmptySubsequences: false)
            statements[statements.count - 1] += parts[0]
            statements += parts.dropFirst().map(String.init)
        }
        return statements.filter { $0.contains { !$0.isWhitespace } }
    }
}
