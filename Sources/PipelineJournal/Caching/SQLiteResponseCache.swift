import Dispatch
import JSONPath
package import PipelineHTTP
import PipelineSQL
import PipelineSQLite

/// Responses of services in a database of the state folder, readable by this user alone and shared by all processes.
///
/// It is bounded by the bytes that it takes on the disk: the least recently used responses go first. Each response is
/// stored in one small transaction, which a power cut may undo, but never in half. What can't be read or written counts
/// as not there. A damaged database is begun again.
///
/// The file is named by the version of its schema. A program removes the files of earlier versions; there is nothing to
/// migrate.
///
/// `@unchecked`: ``connection`` is only touched on ``queue``.
package final class SQLiteResponseCache: ResponseCache, @unchecked Sendable {
    private let files: CacheFiles
    private let limit: Int64
    private let now: @Sendable () -> Duration
    private let queue = DispatchQueue(label: "pipeline.response-cache")
    private var connection: SQLiteConnection?

    /// Names the cache of a state folder; nothing is opened before the first use, and nothing is made where there is no
    /// state folder.
    /// - Parameters:
    ///   - limit: bytes of the file.
    ///   - now: the time since 1 January 1970 UTC, by which it is known what was used last.
    package init(
        stateFolder: String, limit: Int64 = 256 << 20,
        now: @escaping @Sendable () -> Duration = DecorationContext.systemTime
    ) {
        files = CacheFiles(folder: StateFolder(stateFolder))
        self.limit = limit
        self.now = now
    }

    package func response(for key: String) async -> CachedResponse? {
        await access { [self] (connection) throws(SQLiteError) in try read(key, connection) } ?? nil
    }

    package func store(_ response: CachedResponse, for key: String) async {
        // One that would push out an eighth of all others is asked for again instead.
        guard response.body.count <= limit / 8 else { return }
        await access { [self] (connection) throws(SQLiteError) in
            try connection.transaction(.writing) { () throws(SQLiteError) in
                try write(response, key, connection)
                try evict(connection)
            }
        }
    }
}

extension SQLiteResponseCache {
    /// Runs the body on the connection; nil when that can't be opened or the body fails.
    @discardableResult
    private func access<Value: Sendable>(
        _ body: @escaping @Sendable (SQLiteConnection) throws(SQLiteError) -> Value
    ) async -> Value? {
        await withCheckedContinuation { continuation in
            queue.async { [self] in continuation.resume(returning: attempt(body)) }
        }
    }

    private func attempt<Value>(_ body: (SQLiteConnection) throws(SQLiteError) -> Value) -> Value? {
        do throws(SQLiteError) {
            if connection == nil { connection = try files.open() }
            return try connection.map(body)
        } catch {
            guard files.isDamage(error) else { return nil }
            connection = nil
            files.remove()
            return nil
        }
    }

    private var seconds: Int64 { now().components.seconds }

    /// The time when a response was used is written at most once a minute: a read is no write then.
    private static let usePrecision: Int64 = 60

    private func read(_ key: String, _ connection: SQLiteConnection) throws(SQLiteError) -> CachedResponse? {
        let found = try connection.first(
            """
            SELECT number, used, status, url, fields, variant_names, variant_digest, time, body FROM responses
            WHERE key = :key
            """, ["key": key]
        ) { row in (row.integer("number"), row.integer("used"), CachedResponse(row)) }
        guard let (number, used, response) = found else { return nil }
        let now = seconds
        if now - used >= Self.usePrecision {
            try connection.run(
                "UPDATE responses SET used = :now WHERE number = :number", ["now": now, "number": number])
        }
        return response
    }

    private func write(
        _ response: CachedResponse, _ key: String, _ connection: SQLiteConnection
    ) throws(SQLiteError) {
        try connection.run(
            """
            INSERT OR REPLACE INTO responses (key, used, status, url, fields, variant_names, variant_digest, time, body)
            VALUES (:key, :used, :status, :url, :fields, :variant_names, :variant_digest, :time, :body)
            """,
            [
                "key": key, "used": seconds, "status": response.status, "url": response.url,
                "fields": JSON.array(response.fields.map { .array([.string($0.name), .string($0.value)]) }),
                "variant_names": JSON.array(response.variant.names.map { .string($0) }),
                "variant_digest": response.variant.digest, "time": response.time, "body": response.body,
            ])
    }

    /// Removes the least recently used responses while the file holds more than the limit.
    private func evict(_ connection: SQLiteConnection) throws(SQLiteError) {
        while try bytes(connection) > limit {
            let removed = try connection.run(
                "DELETE FROM responses WHERE number = (SELECT number FROM responses ORDER BY used, number LIMIT 1)")
            if removed == 0 { return }
        }
    }

    /// The bytes of the pages that hold something; others are used again before the file grows.
    private func bytes(_ connection: SQLiteConnection) throws(SQLiteError) -> Int64 {
        let pages = try connection.first("PRAGMA page_count") { $0.integer("page_count") } ?? 0
        let free = try connection.first("PRAGMA freelist_count") { $0.integer("freelist_count") } ?? 0
        return (pages - free) * CacheFiles.pageSize
    }
}

extension CachedResponse {
    /// Nil for a row that can't be right: it is asked for again.
    fileprivate init?(_ row: SQLiteRow) {
        let fields = row.withUTF8("fields") { try? JSON.parse($0) }??.array?.map {
            $0.array?.compactMap(\.string) ?? []
        }
        let names = row.withUTF8("variant_names") { try? JSON.parse($0) }??.array?.compactMap(\.string)
        guard let fields, let names, fields.allSatisfy({ $0.count == 2 }) else { return nil }
        self.init(
            status: row.int("status"), fields: fields.map { Field(name: $0[0], value: $0[1]) }, url: row.text("url"),
            body: row.blob("body"), time: row.double("time"),
            variant: Variant(names: names, digest: row.text("variant_digest")))
    }
}
