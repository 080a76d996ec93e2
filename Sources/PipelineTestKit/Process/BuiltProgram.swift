import CLibrary

/// An executable of this package, found next to the tests that were built with it.
package struct BuiltProgram: Sendable {
    /// A program that can't be found or started.
    package struct StartError: Error, CustomStringConvertible, Sendable {
        package let description: String
    }

    /// Absolute.
    package let path: String

    /// The program at the path.
    package init(path: String) { self.path = path }

    /// The program of that name in the folder of the test bundle.
    package init(named name: String) throws(StartError) {
        let path = try Self.productFolder() + "/" + name
        guard access(path, X_OK) == 0 else {
            throw StartError(description: "\(path) is not built; `swift build --product \(name)` makes it")
        }
        self.path = path
    }

    /// The folder of what was built: that of the running test bundle (proc(5), `/proc/self/exe`).
    package static func productFolder() throws(StartError) -> String {
        var buffer = [CChar](repeating: 0, count: 4096)
        let count = readlink("/proc/self/exe", &buffer, buffer.count)
        guard count > 0 else { throw StartError(description: "the folder of the tests can't be found") }
        let path = String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
    }

    /// The variables, and where the loader finds the toolchain: nothing else of a test's own environment reaches a program.
    package static func environment(_ variables: [String: String]) -> [String: String] {
        var variables = variables
        variables["LD_LIBRARY_PATH"] = getenv("LD_LIBRARY_PATH").map { String(cString: $0) }
        return variables
    }

    /// The environment of a program whose home is a folder, with its state in `state` there. `more` comes before all else.
    package static func environment(home: String, _ more: [String: String] = [:]) -> [String: String] {
        environment(["HOME": home, "PATH": "/usr/bin:/bin", "PIPELINE_STATE_DIR": home + "/state"]).merging(more) { $1 }
    }

    /// Starts it with nothing of this process but what is given; it is killed when the limit is over.
    package func start(
        _ arguments: [String], environment: [String: String] = [:], folder: String? = nil,
        limit: Duration = .seconds(60)
    ) throws(StartError) -> RunningProgram {
        try RunningProgram(path: path, arguments, environment: environment, folder: folder, limit: limit)
    }

    /// Starts it and waits for its end.
    package func run(
        _ arguments: [String], environment: [String: String] = [:], folder: String? = nil,
        limit: Duration = .seconds(60)
    ) async throws(StartError) -> ProgramEnd {
        await (try start(arguments, environment: environment, folder: folder, limit: limit)).end
    }
}
