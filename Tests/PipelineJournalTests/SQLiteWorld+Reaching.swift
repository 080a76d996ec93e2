import PipelineTestKit
import Foundation
import PipelineCore
import PipelineSQLite

@testable import PipelineJournal

extension SQLiteWorld {
    var database: String { state + "/journal.sqlite" }

    /// Runs SQL on the database file, as another program could; gives the first column of the rows.
    @discardableResult
    func execute(_ sql: String) throws -> [String] {
        try SQLiteConnection(database, makesFile: true, busyTimeout: .seconds(10)).texts(sql)
    }

    /// Another program's connection that holds the right to write until ``SQLiteConnection/rollBack()``.
    func holdForWriting(_ sql: String = "SELECT 1") throws -> SQLiteConnection {
        let connection = try SQLiteConnection(database, busyTimeout: .seconds(10))
        try connection.execute("BEGIN IMMEDIATE; " + sql)
        return connection
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
