import CLibrary
package import PipelineSQL

/// One connection to a server, in libpq's pipeline mode (postgresql.org/docs/current/libpq-pipeline-mode.html): statements
/// are sent as they come, and one round trip brings the results of all.
///
/// It belongs to whoever holds it and is used by one thread at a time. The end of the object closes it; what was not
/// committed is rolled back then.
package final class PostgresConnection {
    /// A check of a statement's result once it is there; it gives what is wrong with it.
    package typealias Check = (PostgresResult) -> (any Error)?
    /// Asked each second in which the server, or a pooler before it, has not answered, with the time of its silence: false
    /// gives the connection up.
    package typealias Patience = (Duration) -> Bool

    private struct Pending {
        let check: Check?
        /// The text of the statement that it prepares, whose answer is nobody's; nil for any other.
        var prepares: UnsafePointer<UInt8>?
    }

    package let address: PostgresAddress
    /// The place where the server is, for messages.
    package let database: String
    private let library: PostgresLibrary
    private let handle: OpaquePointer
    private let patience: Patience
    private var statements: [UnsafePointer<UInt8>: Known] = [:]
    private var pending: [Pending] = []
    private var prepared = 0
    /// True if a pooler stands between: it may give each transaction another session, so that nothing that belongs to a
    /// session is used.
    package private(set) var isPooled = false
    package private(set) var isInTransaction = false
    /// The error that broke the connection.
    package private(set) var loss: PostgresError?
    /// The last error of the server since the transaction was begun.
    package private(set) var lastError: PostgresError?

    private struct Known {
        let statement: PostgresStatement
        /// The name under which the server knows it, and the types that it was prepared for.
        var name: String?
        var types: [UInt32] = []

        /// Returns whether the prepared statement takes values of those types; NULL is of any.
        func takes(_ other: [UInt32]) -> Bool {
            zip(types, other).allSatisfy { $0 == $1 || $0 == 0 || $1 == 0 }
        }
    }

    /// Connects, which blocks for at most the address's `connect_timeout`, 10 s if it says none.
    ///
    /// - Parameter patience: by default what is asked has to be answered within 10 s as well.
    package init(
        _ address: PostgresAddress, name: String, patience: @escaping Patience = { $0 < .seconds(10) }
    ) throws(PostgresError) {
        let library = try PostgresLibrary.loaded.get()
        self.patience = patience
        self.address = address
        self.library = library
        database = address.description
        // What follows wins: the address has the last word. A server that is gone without a word is noticed in half a
        // minute, before a lease has run out.
        let options: [(String, String)] = [
            ("fallback_application_name", name), ("connect_timeout", "10"), ("keepalives_idle", "10"),
            ("keepalives_interval", "5"), ("keepalives_count", "3"), ("tcp_user_timeout", "20000"),
            ("client_encoding", "UTF8"), ("dbname", address.text),
        ]
        let keys = options.map { strdup($0.0) }
        let values = options.map { strdup($0.1) }
        defer { for text in keys + values { free(text) } }
        let start = ContinuousClock.now
        let opened = (keys.map { UnsafePointer($0) } + [nil]).withUnsafeBufferPointer { keys in
            (values.map { UnsafePointer($0) } + [nil]).withUnsafeBufferPointer { values in
                library.connect(keys.baseAddress, values.baseAddress, 1)
            }
        }
        guard let opened else { throw PostgresError(kind: .refused, message: "out of memory") }
        // From here on the end of the object closes it.
        handle = opened
        if library.status(opened) != 0 {
            var refusal = Self.refusal(library, opened, address)
            if ContinuousClock.now - start < Self.quick {
                // Somebody refused, and the words are in the language of the server. Asked again it says its code too; of an
                // address that it can't read libpq says nothing the second time.
                _ = library.setVerbosity(opened, Self.verbose)
                library.reset(opened)
                _ = library.setVerbosity(opened, Self.plain)
                let coded = Self.refusal(library, opened, address)
                if coded.state != nil { refusal = coded }
            }
            guard library.status(opened) == 0 else { throw refusal }
        }
        _ = library.setNoticeReceiver(opened, { _, _ in }, nil)
        guard library.serverVersion(opened) >= 140_000 else {
            let version = library.serverVersion(opened) / 10_000
            throw PostgresError(
                kind: .refused, state: "0A000",
                message: "its server is PostgreSQL \(version)",
                hint: "a journal needs PostgreSQL 14 or later")
        }
        guard library.setNonblocking(opened, 1) == 0, library.enterPipelineMode(opened) == 1 else {
            throw PostgresError(kind: .refused, message: "libpq refuses pipeline mode")
        }
    }

    deinit { library.finish(handle) }

    package var socket: Int32 { library.socket(handle) }

    /// Makes all that follows see the schema's tables, and finds out whether a pooler stands between.
    package func enter(schema: String) throws(PostgresError) {
        let process = library.backendProcess(handle)
        let real = try query("SELECT pg_backend_pid() AS process").row(0).integer("process")
        isPooled = real != Int64(process)
        if !isPooled { try execute("SET search_path TO \(schema)") }
    }

    /// invalid_sql_statement_name, as behind a pooler that resets sessions, and feature_not_supported, as of a cached plan
    /// whose result has another type by now (postgresql.org/docs/current/errcodes-appendix.html).
    private static let forgotten: Set<String> = ["26000", "0A000"]
    /// What takes longer is a server that does not answer.
    private static let quick = Duration.seconds(2)
    /// PQERRORS_DEFAULT and PQERRORS_VERBOSE of libpq-fe.h.
    private static let (plain, verbose): (Int32, Int32) = (1, 2)

    private static func refusal(
        _ library: PostgresLibrary, _ handle: OpaquePointer, _ address: PostgresAddress
    ) -> PostgresError {
        let text = library.errorMessage(handle).map { String(cString: $0) } ?? ""
        return PostgresError(refusal: address.redacted(text))
    }
}

// MARK: Statements

extension PostgresConnection {
    /// Sends a statement; its result is checked by ``drain()``.
    package func send(
        _ sql: StaticString, _ values: [(name: String, value: SQLParameter)], check: Check? = nil
    ) throws(PostgresError) {
        var known = statements[sql.utf8Start] ?? Known(statement: PostgresStatement(sql.description))
        var parameters = PostgresParameters()
        try fill(&parameters, known.statement, values)
        if !isPooled {
            if known.name == nil || !known.takes(parameters.types) {
                prepared += 1
                known.name = "s\(prepared)"
                known.types = parameters.types
                let isSent = library.sendPrepare(
                    handle, "s\(prepared)", known.statement.text, Int32(parameters.types.count), parameters.types)
                guard isSent == 1 else { throw lost() }
                pending.append(Pending(check: nil, prepares: sql.utf8Start))
            }
            statements[sql.utf8Start] = known
        } else {
            statements[sql.utf8Start] = known
        }
        try transmit(known.statement, name: known.name, parameters, check)
    }

    /// Sends a statement that is not kept.
    package func send(
        text sql: String, _ values: [(name: String, value: SQLParameter)] = [], check: Check? = nil
    ) throws(PostgresError) {
        let statement = PostgresStatement(sql)
        var parameters = PostgresParameters()
        try fill(&parameters, statement, values)
        try transmit(statement, name: nil, parameters, check)
    }

    /// Brings the results of all that was sent, in one round trip; throws the first error of the server, else what the
    /// first check found. After an error of the server nothing that was sent after it was done.
    package func drain() throws {
        if let loss { throw loss }
        guard !pending.isEmpty else { return }
        guard library.pipelineSync(handle) == 1 else { throw lost() }
        try exchange()
        let asked = pending
        pending = []
        var failure: PostgresError?
        var finding: (any Error)?
        for statement in asked {
            let (result, error) = try receive()
            if failure == nil { failure = error }
            if let text = statement.prepares {
                // Nothing was prepared after the error.
                if failure != nil { statements[text]?.name = nil }
                continue
            }
            // What a later statement found says nothing once an earlier one is refused.
            if failure != nil || finding != nil { continue }
            if let result { finding = statement.check?(result) }
        }
        try receiveSync()
        if let failure {
            if failure.isAway { loss = failure }
            // The server no longer has what was prepared, or has it for a table as it was before.
            if Self.forgotten.contains(failure.state ?? "") {
                statements = statements.mapValues { Known(statement: $0.statement) }
            }
            lastError = failure
            throw failure
        }
        if let finding { throw finding }
    }

    /// Runs a statement that is not kept, and returns its rows.
    @discardableResult
    package func query(
        _ sql: String, _ values: [(name: String, value: SQLParameter)] = []
    ) throws(PostgresError) -> PostgresResult {
        var found: PostgresResult?
        try send(text: sql, values) { result in
            found = result
            return nil
        }
        try drained()
        guard let found else { throw PostgresError(kind: .statement, message: "a statement gave no result") }
        return found
    }

    /// Runs a statement without parameters.
    package func execute(_ sql: String) throws(PostgresError) { try query(sql) }

    /// Settles where no check stands that throws anything else.
    package func drained() throws(PostgresError) {
        do { try drain() } catch let error as PostgresError { throw error } catch {
            throw PostgresError(kind: .statement, message: "\(error)")
        }
    }

    /// Says what is so from here on: a transaction was begun, or has ended.
    package func markTransaction(_ isOpen: Bool) {
        isInTransaction = isOpen
        if isOpen { lastError = nil }
    }

    /// Returns what the server was told by others since the last look: channel and payload.
    package func notifications() throws(PostgresError) -> [(channel: String, payload: String)] {
        guard library.consumeInput(handle) == 1 else { throw lost() }
        var found: [(channel: String, payload: String)] = []
        while let pointer = library.notifies(handle) {
            defer { library.freeMemory(pointer) }
            let notify = pointer.load(as: PostgresNotify.self)
            let channel = notify.channel.map { String(cString: $0) } ?? ""
            found.append((channel, notify.payload.map { String(cString: $0) } ?? ""))
        }
        return found
    }
}

extension PostgresConnection {
    private func fill(
        _ parameters: inout PostgresParameters, _ statement: PostgresStatement,
        _ values: [(name: String, value: SQLParameter)]
    ) throws(PostgresError) {
        for (place, name) in statement.names.enumerated() {
            if place < values.count, values[place].name == name {
                parameters.append(values[place].value)
            } else if let found = values.first(where: { $0.name == name }) {
                parameters.append(found.value)
            } else {
                throw PostgresError(kind: .statement, message: "no value for \(name) in: \(statement.text)")
            }
        }
    }

    private func transmit(
        _ statement: PostgresStatement, name: String?, _ parameters: PostgresParameters, _ check: Check?
    ) throws(PostgresError) {
        if let loss { throw loss }
        let count = Int32(parameters.places.count)
        let lengths = parameters.places.map { Int32($0?.count ?? 0) }
        let formats = [Int32](repeating: 1, count: parameters.places.count)
        // One byte more, so that an empty value has an address too.
        let isSent = (parameters.bytes + [0]).withUnsafeBytes { bytes -> Int32 in
            let values = parameters.places.map { place in
                place.flatMap { bytes.baseAddress?.advanced(by: $0.lowerBound).assumingMemoryBound(to: CChar.self) }
            }
            return values.withUnsafeBufferPointer { values in
                if let name {
                    return library.sendPrepared(handle, name, count, values.baseAddress, lengths, formats, 1)
                }
                return library.sendQuery(
                    handle, statement.text, count, parameters.types, values.baseAddress, lengths, formats, 1)
            }
        }
        guard isSent == 1 else { throw lost() }
        pending.append(Pending(check: check))
        // What waits in libpq's buffer goes out while more is made.
        if pending.count % 32 == 0 { try exchange(untilSent: false) }
    }

    /// Sends all that waits, and takes in what comes meanwhile: a server that can't get rid of results reads no more.
    private func exchange(untilSent: Bool = true) throws(PostgresError) {
        while true {
            let rest = library.flush(handle)
            if rest == 0 { return }
            guard rest == 1 else { throw lost() }
            try wait(for: POLLIN | POLLOUT, isPatient: untilSent)
            if !untilSent { return }
        }
    }

    /// Waits until the server has read something or says something, and takes that in; with `isPatient` for as long as
    /// ``patience`` allows, else only looks.
    private func wait(for events: Int32, isPatient: Bool = true) throws(PostgresError) {
        var wait = pollfd(fd: socket, events: Int16(events), revents: 0)
        var silence = Duration.zero
        while poll(&wait, 1, isPatient ? 1_000 : 0) == 0 {
            guard isPatient else { return }
            silence += .seconds(1)
            guard patience(silence) else {
                throw lost(PostgresError(kind: .lost, message: "it takes connections and does not answer"))
            }
        }
        if wait.revents & Int16(POLLOUT) != wait.revents, library.consumeInput(handle) != 1 { throw lost() }
    }

    /// Returns the next result of the server; nil at the end of a statement's.
    private func nextResult() throws(PostgresError) -> OpaquePointer? {
        while library.isBusy(handle) == 1 { try wait(for: POLLIN) }
        return library.getResult(handle)
    }

    /// The result of the next statement.
    private func receive() throws(PostgresError) -> (PostgresResult?, PostgresError?) {
        var found: PostgresResult?
        var failure: PostgresError?
        // One result, and a null at its end.
        var isFirst = true
        while let pointer = try nextResult() {
            isFirst = false
            switch library.resultStatus(pointer) {
            case 1, 2: found = PostgresResult(pointer, library, database: database)
            case 11:
                failure = failure ?? PostgresError(kind: .statement, message: "an earlier statement failed")
                library.clear(pointer)
            default:
                failure = failure ?? error(of: pointer)
                library.clear(pointer)
                if library.status(handle) != 0 { throw lost(failure) }
            }
        }
        if isFirst { throw lost() }
        return (found, failure)
    }

    private func receiveSync() throws(PostgresError) {
        guard let pointer = try nextResult() else { throw lost() }
        let status = library.resultStatus(pointer)
        library.clear(pointer)
        guard status == 10 else { throw lost() }
    }

    private func error(of result: OpaquePointer) -> PostgresError {
        func field(_ code: Character) -> String? {
            library.errorField(result, Int32(code.asciiValue ?? 0)).map { address.redacted(String(cString: $0)) }
        }
        return PostgresError(
            kind: .statement, state: field("C"), message: field("M") ?? connectionMessage, hint: field("H"))
    }

    private var connectionMessage: String {
        let text = library.errorMessage(handle).map { String(cString: $0) } ?? ""
        return address.redacted(text).split(separator: "\n").joined(separator: "; ")
    }

    private func lost(_ cause: PostgresError? = nil) -> PostgresError {
        let error = PostgresError(
            kind: .lost, state: cause?.state, message: cause?.message ?? connectionMessage)
        loss = error
        pending = []
        return error
    }
}
