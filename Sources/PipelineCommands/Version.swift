import CBuild
import PipelineKit

/// The version of the program, and of what it stands on.
enum Version {
    static let number = "0.1.0"

    /// `pipeline --version`: the first line names the program and its commit, the second its libraries.
    static var text: String {
        let libraries = LibraryVersions.ofThisProcess
        return """
            pipeline \(number) (\(String(cString: pipeline_build_commit())))
            libcurl \(libraries.curl), SQLite \(libraries.sqlite), zlib \(libraries.zlib)
            """
    }
}
