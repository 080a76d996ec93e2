import Encodings

/// A connection string of libpq, a URL or `key=value` words (postgresql.org/docs/current/libpq-connect.html): hosts, `sslmode`,
/// `service`, PGPASSFILE and all else mean what they mean to psql.
package struct PostgresAddress: Sendable, Hashable {
    /// The string as it was given; it may hold a password and is shown nowhere.
    let text: String

    package init(_ text: String) { self.text = text }

    /// Returns whether a journal's address names a database of PostgreSQL.
    package static func isOne(_ text: String) -> Bool {
        text.hasPrefix("postgres://") || text.hasPrefix("postgresql://")
    }

    /// The address without what is secret in it: user, hosts and database.
    package var description: String {
        guard let scheme = text.range(of: "://") else { return "a PostgreSQL database" }
        var rest = String(text[scheme.upperBound...])
        if let query = rest.firstIndex(where: { $0 == "?" || $0 == "#" }) { rest = String(rest[..<query]) }
        // A password may hold an unescaped @ or /; all before the last @ is user and password.
        if let at = rest.lastIndex(of: "@") {
            let user = rest[..<at].prefix { $0 != ":" }
            rest = String(user) + rest[at...]
        }
        return "postgres://" + rest
    }

    /// A text of libpq, without the password if it should hold one.
    func redacted(_ message: String) -> String {
        var clean = message
        for secret in secrets where !secret.isEmpty { clean = clean.replacing(secret, with: "***") }
        return clean
    }

    /// The password as it stands in the string, and as it is meant.
    private var secrets: [String] {
        var found: [String] = []
        if let scheme = text.range(of: "://") {
            let rest = text[scheme.upperBound...]
            if let at = rest.lastIndex(of: "@"), let colon = rest[..<at].firstIndex(of: ":") {
                found.append(String(rest[rest.index(after: colon)..<at]))
            }
        }
        for key in ["password=", "sslpassword="] {
            guard let start = text.range(of: key) else { continue }
            found.append(String(text[start.upperBound...].prefix { $0 != "&" && $0 != " " }))
        }
        return (found + found.compactMap(\.unescaped)).sorted { $0.count > $1.count }
    }
}

extension String {
    /// Without percent signs' escapes (RFC 3986, section 2.1); nil when there are none.
    fileprivate var unescaped: String? {
        contains("%") ? PercentEncoding.decoded(self) : nil
    }

    /// The first place of a text.
    fileprivate func range(of other: String) -> Range<String.Index>? { ranges(of: other).first }
}
