import CLateLibrary
import CLibrary

/// The functions of libpq that are used here (postgresql.org/docs/current/libpq.html), found in the library that the
/// machine has. It is opened when the first connection is made: a program that makes none needs no libpq.
package struct PostgresLibrary: Sendable {
    typealias Connection = OpaquePointer
    typealias Result = OpaquePointer
    typealias Texts = UnsafePointer<UnsafePointer<CChar>?>
    typealias Notice = @convention(c) (UnsafeMutableRawPointer?, Result?) -> Void

    let connect: @convention(c) (Texts?, Texts?, Int32) -> Connection?
    let parse:
        @convention(c) (UnsafePointer<CChar>, UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?) ->
            UnsafeMutableRawPointer?
    let freeOptions: @convention(c) (UnsafeMutableRawPointer?) -> Void
    let setVerbosity: @convention(c) (Connection?, Int32) -> Int32
    let reset: @convention(c) (Connection?) -> Void
    let freeMemory: @convention(c) (UnsafeMutableRawPointer?) -> Void
    let finish: @convention(c) (Connection?) -> Void
    let status: @convention(c) (Connection?) -> Int32
    let errorMessage: @convention(c) (Connection?) -> UnsafePointer<CChar>?
    let socket: @convention(c) (Connection?) -> Int32
    let backendProcess: @convention(c) (Connection?) -> Int32
    let serverVersion: @convention(c) (Connection?) -> Int32
    let setNonblocking: @convention(c) (Connection?, Int32) -> Int32
    let setNoticeReceiver: @convention(c) (Connection?, Notice?, UnsafeMutableRawPointer?) -> UnsafeRawPointer?
    let enterPipelineMode: @convention(c) (Connection?) -> Int32
    let pipelineSync: @convention(c) (Connection?) -> Int32
    let sendPrepare:
        @convention(c) (Connection?, UnsafePointer<CChar>, UnsafePointer<CChar>, Int32, UnsafePointer<UInt32>?) -> Int32
    let sendPrepared:
        @convention(c) (
            Connection?, UnsafePointer<CChar>, Int32, Texts?, UnsafePointer<Int32>?, UnsafePointer<Int32>?, Int32
        ) -> Int32
    let sendQuery:
        @convention(c) (
            Connection?, UnsafePointer<CChar>, Int32, UnsafePointer<UInt32>?, Texts?, UnsafePointer<Int32>?,
            UnsafePointer<Int32>?, Int32
        ) -> Int32
    let flush: @convention(c) (Connection?) -> Int32
    let consumeInput: @convention(c) (Connection?) -> Int32
    let isBusy: @convention(c) (Connection?) -> Int32
    let getResult: @convention(c) (Connection?) -> Result?
    let notifies: @convention(c) (Connection?) -> UnsafeMutableRawPointer?
    let resultStatus: @convention(c) (Result?) -> Int32
    let errorField: @convention(c) (Result?, Int32) -> UnsafePointer<CChar>?
    let commandTuples: @convention(c) (Result?) -> UnsafePointer<CChar>?
    let tuples: @convention(c) (Result?) -> Int32
    let fields: @convention(c) (Result?) -> Int32
    let fieldName: @convention(c) (Result?, Int32) -> UnsafePointer<CChar>?
    let fieldType: @convention(c) (Result?, Int32) -> UInt32
    let isNull: @convention(c) (Result?, Int32, Int32) -> Int32
    let value: @convention(c) (Result?, Int32, Int32) -> UnsafePointer<CChar>?
    let length: @convention(c) (Result?, Int32, Int32) -> Int32
    let clear: @convention(c) (Result?) -> Void

    /// The machine's library, opened once; why it can't be used if it can't.
    package static let loaded: Swift.Result<PostgresLibrary, PostgresError> = load(named: names)

    #if os(Linux)
        static let names = ["libpq.so.5"]
    #else
        static let names = ["libpq.5.dylib", "/opt/homebrew/opt/libpq/lib/libpq.5.dylib"]
    #endif

    /// Opens the first of the libraries that is there.
    static func load(named names: [String]) -> Swift.Result<PostgresLibrary, PostgresError> {
        for name in names {
            guard let handle = dlopen(name, RTLD_NOW | RTLD_LOCAL) else { continue }
            clate_spare_exit(handle)
            guard let library = try? PostgresLibrary(handle) else {
                return .failure(
                    PostgresError(
                        kind: .library, message: "\(name) is older than version 14",
                        hint: "install libpq5 of PostgreSQL 14 or later"))
            }
            return .success(library)
        }
        return .failure(
            PostgresError(
                kind: .library, message: "a journal in PostgreSQL needs the library \(names[0]), which is not there",
                hint: "install it: 'apt install libpq5', on Fedora 'dnf install libpq'"))
    }

    /// Throws when one of the functions is not there.
    private init(_ handle: UnsafeMutableRawPointer) throws(MissingFunction) {
        func find<Function>(_ name: String) throws(MissingFunction) -> Function {
            guard let symbol = dlsym(handle, name) else { throw MissingFunction() }
            return unsafeBitCast(symbol, to: Function.self)
        }
        connect = try find("PQconnectdbParams")
        parse = try find("PQconninfoParse")
        freeOptions = try find("PQconninfoFree")
        setVerbosity = try find("PQsetErrorVerbosity")
        reset = try find("PQreset")
        freeMemory = try find("PQfreemem")
        finish = try find("PQfinish")
        status = try find("PQstatus")
        errorMessage = try find("PQerrorMessage")
        socket = try find("PQsocket")
        backendProcess = try find("PQbackendPID")
        serverVersion = try find("PQserverVersion")
        setNonblocking = try find("PQsetnonblocking")
        setNoticeReceiver = try find("PQsetNoticeReceiver")
        enterPipelineMode = try find("PQenterPipelineMode")
        pipelineSync = try find("PQpipelineSync")
        sendPrepare = try find("PQsendPrepare")
        sendPrepared = try find("PQsendQueryPrepared")
        sendQuery = try find("PQsendQueryParams")
        flush = try find("PQflush")
        consumeInput = try find("PQconsumeInput")
        isBusy = try find("PQisBusy")
        getResult = try find("PQgetResult")
        notifies = try find("PQnotifies")
        resultStatus = try find("PQresultStatus")
        errorField = try find("PQresultErrorField")
        commandTuples = try find("PQcmdTuples")
        tuples = try find("PQntuples")
        fields = try find("PQnfields")
        fieldName = try find("PQfname")
        fieldType = try find("PQftype")
        isNull = try find("PQgetisnull")
        value = try find("PQgetvalue")
        length = try find("PQgetlength")
        clear = try find("PQclear")
    }

    private struct MissingFunction: Error {}

    /// The options that a connection string gives; nil if it can't be read.
    func options(of text: String) -> [String: String]? {
        var complaint: UnsafeMutablePointer<CChar>?
        let found = parse(text, &complaint)
        freeMemory(complaint)
        guard let found else { return nil }
        defer { freeOptions(found) }
        var options: [String: String] = [:]
        var option = found.assumingMemoryBound(to: PostgresOption.self)
        while let name = option.pointee.name {
            options[String(cString: name)] = option.pointee.value.map { String(cString: $0) }
            option += 1
        }
        return options
    }
}

/// PQconninfoOption of libpq-fe.h.
private struct PostgresOption {
    let name: UnsafeMutablePointer<CChar>?
    private let variable: UnsafeMutablePointer<CChar>?
    private let standard: UnsafeMutablePointer<CChar>?
    let value: UnsafeMutablePointer<CChar>?
    private let label: UnsafeMutablePointer<CChar>?
    private let shown: UnsafeMutablePointer<CChar>?
    private let size: Int32
}

/// PGnotify of libpq-fe.h.
struct PostgresNotify {
    let channel: UnsafeMutablePointer<CChar>?
    let process: Int32
    let payload: UnsafeMutablePointer<CChar>?
    private let next: UnsafeMutableRawPointer?
}
