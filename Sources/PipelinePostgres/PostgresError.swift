/// The reason why a call of the database failed. No text of it holds a password.
package struct PostgresError: Error, Sendable, Hashable {
    package enum Kind: Sendable, Hashable {
        /// libpq is not there, or too old.
        case library
        /// The address can't be read.
        case address
        /// No connection could be made.
        case refused
        /// The connection broke: nobody knows whether what was sent was done.
        case lost
        /// The server refused the statement.
        case statement
    }

    package let kind: Kind
    /// SQLSTATE (PostgreSQL manual, appendix A); nil where the server did not say one.
    package var state: String?
    package let message: String
    package var hint: String?
    /// The constraint that a statement broke.
    package var constraint: String?

    package init(
        kind: Kind, state: String? = nil, message: String, hint: String? = nil, constraint: String? = nil
    ) {
        self.kind = kind
        self.state = state
        self.message = message
        self.hint = hint
        self.constraint = constraint
    }

    /// Returns whether the same transaction may succeed when it is sent again: another one was in its way.
    package var isPassing: Bool {
        ["40001", "40P01", "23505", "55P03"].contains(state ?? "")
    }

    /// Returns whether the server ended the connection, or takes none for now: it is to be asked again later.
    package var isAway: Bool {
        if kind == .lost { return true }
        guard let state else { return kind == .refused && isUnreachable }
        // 57P01 to 57P03: it shuts down, crashed, or starts. 53300: too many connections. 08: the connection.
        return state.hasPrefix("57P0") || state == "53300" || state.hasPrefix("08")
    }

    /// A server that answers and refuses (a password, a database that is not there) will refuse again, and an address that
    /// can't be read stays so.
    private var isUnreachable: Bool {
        let refusals = [
            "password", "authentication", "does not exist", "no pg_hba.conf entry", "permission denied", "role ",
            "certificate", "SSL", "no such database", "not allowed", "invalid", "not found", "unexpected character",
            "missing", "end of string reached", "pipeline mode", "out of memory",
        ]
        return !refusals.contains { message.contains($0) }
            || message.contains("starting up") || message.contains("shutting down") || message.contains("No such file")
    }
}
