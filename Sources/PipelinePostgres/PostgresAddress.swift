import Encodings

/// A connection string of libpq, a URL or `key=value` words (postgresql.org/docs/current/libpq-connect.html): hosts, `sslmode`,
/// `service`, PGPASSFILE and all else mean what they mean to psql.
package struct PostgresAddress: Sendable, Hashable {
    /// The string as it was given; it may hold a password and is shown nowhere.
    let text: String

    package init(_ text: String) { self.text = text }

    /// Returns whether a journal's address names a database of PostgreSQL.
    package static func isOne(_ text: String) -> Bool {
        text.hasPrefix("postgres://") || text.hasPrefix("postgresql://") || text.contains(#/^\s*[a-z_]+\s*=/#)
    }

    /// The address without what is secret in it: user, hosts and database, as libpq reads them. Where that may be wrong, as
    /// with a password whose `/` begins a path, nothing of the text is shown.
    package var description: String {
        guard let options = trustedOptions else { return "a PostgreSQL database" }
        func part(_ name: String) -> String { PercentEncoding.component(options[name] ?? "") }
        let ports = (options["port"] ?? "").split(separator: ",", omittingEmptySubsequences: false)
        let hosts = (options["host"] ?? "").split(separator: ",").enumerated().compactMap { place, host -> String? in
            // A socket's folder is no host.
            guard !host.hasPrefix("/"), !host.hasPrefix("@") else { return nil }
            let name = host.contains(":") ? "[\(host)]" : String(host)
            let port = ports.count == 1 ? ports.first : ports.dropFirst(place).first
            return name + (port.map { $0.isEmpty ? "" : ":\($0)" } ?? "")
        }
        let isLocal = options["host"]?.hasPrefix("/") == true
        let socket =
            isLocal
            ? "?host=" + (options["host"] ?? "") + (options["port"].flatMap { UInt16($0) }.map { "&port=\($0)" } ?? "")
            : ""
        return "postgres://" + (options["user"] == nil ? "" : part("user") + "@") + hosts.joined(separator: ",")
            + (options["dbname"] == nil ? "" : "/" + part("dbname")) + socket
    }

    /// A text of libpq or of the server, without the password if it should hold one. Of an address that is not understood
    /// libpq quotes pieces, and any of them may be the password.
    func redacted(_ message: String) -> String {
        guard let options = trustedOptions else { return message.withoutQuoted }
        return ["password", "sslpassword"].compactMap { options[$0] }.filter { !$0.isEmpty }
            .sorted { $0.count > $1.count }
            .reduce(message) { $0.replacing($1, with: "***") }
    }

    /// The options that the text gives, by libpq's own reading; nil if it can't be read, or reads so oddly that a password
    /// may stand in the place of something else.
    private var trustedOptions: [String: String]? {
        guard let options = try? PostgresLibrary.loaded.get().options(of: text) else { return nil }
        let ports = (options["port"] ?? "").split(separator: ",")
        let isTrusted =
            ports.allSatisfy { UInt16($0) != nil }
            && ["host", "hostaddr", "dbname", "user"].allSatisfy { options[$0]?.dropFirst().contains("@") != true }
        return isTrusted ? options : nil
    }
}

extension String {
    /// Without what stands between double quotes.
    var withoutQuoted: String {
        split(separator: "\"", omittingEmptySubsequences: false).enumerated()
            .filter { $0.offset.isMultiple(of: 2) }.map { String($0.element) }.joined(separator: "…")
    }
}
