/// The reason why a call of the database failed. No text of it holds a password.
package struct PostgresError: Error, Sendable, Hashable {
    package enum Kind: Sendable, Hashable {
        /// libpq is not there, or too old.
        case library
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

    package init(kind: Kind, state: String? = nil, message: String, hint: String? = nil) {
        self.kind = kind
        self.state = state
        self.message = message
        self.hint = hint
    }

    /// Returns whether the same transaction may succeed when it is sent again: another one was in its way.
    package var isPassing: Bool {
        ["40001", "40P01", "23505", "55P03"].contains(state ?? "")
    }

    /// Returns whether the server ended the connection, or takes none for now: it is to be asked again later.
    package var isAway: Bool {
        if kind == .lost { return true }
        if kind == .refused { return !isFinal }
        guard let state else { return false }
        // 57P01 to 57P03: it shuts down, crashed, or starts. 53300: too many connections. 08: the connection.
        return state.hasPrefix("57P0") || state == "53300" || state.hasPrefix("08")
    }

    /// Returns whether a refused connection will be refused again: the server judged who asks for what, or libpq does not
    /// understand the address. A server that is full, starts, or is not there is another matter.
    private var isFinal: Bool {
        if let state {
            // 0A: not supported, 22: a setting's value, 28: who asks, 3D: the database, 42: rights. PgBouncer has one code
            // for all that it says.
            return ["0A", "22", "28", "3D", "42"].contains { state.hasPrefix($0) } || message.contains("no such ")
        }
        // Without a code they are libpq's words, in English, with names in quotes.
        let refusals = [
            "password", "authentication", "certificate", "private key", "does not support SSL", "invalid ", "not found",
            "is too long", "unexpected character", "missing", "end of string reached", "unterminated",
            "forbidden value", "could not match", "extra key/value", "may not be used", "pipeline mode",
            "out of memory",
        ]
        let words = message.withoutQuoted
        return refusals.contains { words.contains($0) }
    }
}

extension PostgresError {
    /// The refusal of a connection, from libpq's text: of each address that was tried what the server said, with its
    /// SQLSTATE where it was asked for one, as in `FATAL:  28P01: password authentication failed`.
    init(refusal text: String) {
        let lines = text.split(separator: "\n").filter { !$0.contains(#/^\S+:  \S+, \S+\.c:\d+$/#) }
        let spoken = lines.joined(separator: "; ")
        let states = spoken.matches(of: Self.code).map { String($0.output.1) }
        let message = spoken.replacing(Self.code) { _ in ":  " }
        func error(_ state: String?) -> PostgresError {
            PostgresError(kind: .refused, state: state, message: message, hint: Self.hint(for: state, message))
        }
        // One of several servers that will take us later is enough.
        let errors = states.map { error($0) }
        self = errors.first { $0.isAway } ?? errors.last ?? error(nil)
    }

    private nonisolated(unsafe) static let code = #/:  ([0-9A-Z]{5}): /#

    /// The advice about a server that turns a client away.
    private static func hint(for state: String?, _ message: String) -> String? {
        let words = message.withoutQuoted
        let hints = [
            ("password", "keep the password in ~/.pgpass, in the file that PGPASSFILE names, or in PGPASSWORD"),
            ("pg_hba.conf", "let the server's pg_hba.conf admit this machine, user and database"),
            ("role ", "name a user that the server has, or make it with 'createuser'"),
            ("database ", "name a database that the server has, or make it with 'createdb'"),
            ("certificate", "see sslmode, sslrootcert and sslcert of the address"),
            ("SSL", "see sslmode, sslrootcert and sslcert of the address"),
            ("invalid", "write the address as postgres://USER@HOST/DATABASE"),
            ("end of string", "write the address as postgres://USER@HOST/DATABASE"),
        ]
        switch state {
        case "28P01": return hints[0].1
        case "3D000": return hints[3].1
        default: return hints.first { words.contains($0.0) }?.1
        }
    }
}
