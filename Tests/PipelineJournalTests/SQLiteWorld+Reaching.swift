import Foundation
import GRDB
import PipelineCore

@testable import PipelineJournal

extension SQLiteWorld {
    var database: String { state + "/journal.sqlite" }

    /// Runs SQL on the database file, as another program could.
    @discardableResult
    func execute(_ sql: String) throws -> [String] {
        try DatabaseQueue(path: database).inDatabase { database in
            try database.execute(sql: "PRAGMA foreign_keys = OFF")
            return try String.fetchAll(database, sql: sql)
        }
    }

    /// Another program's connection that holds the right to write until ``DatabaseQueue/letGo()``.
    func holdForWriting(_ sql: String = "SELECT 1") throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        let queue = try DatabaseQueue(path: database, configuration: configuration)
        try queue.inDatabase { try $0.execute(sql: "BEGIN IMMEDIATE; " + sql) }
        return queue
    }

    /// Copies the state folder with another program: a copy made in this process would drop SQLite's locks.
    func copy(to name: String) throws -> String {
        let target = folder.path + "/" + name
        try Self.run(["cp", "-r", state, target])
        try? FileManager.default.removeItem(atPath: target + "/owners")
        return target
    }

    /// Runs a program to its end; false when it fails.
    @discardableResult
    static func run(_ arguments: [String]) throws -> Bool {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = arguments
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        return process.terminationStatus == 0
    }

    /// The permissions of a file, e.g. 0o600.
    static func mode(_ path: String) -> Int {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        return attributes?[.posixPermissions] as? Int ?? 0
    }
}

extension DatabaseQueue {
    func letGo() throws { try inDatabase { try $0.execute(sql: "ROLLBACK") } }
}
