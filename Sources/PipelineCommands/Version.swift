import CBuild
import PipelineKit

/// The version of the program, and of what it stands on.
enum Version {
    static let number = "0.1.0"

    /// The program and the commit it was built from.
    static var program: String { "pipeline \(number) (\(String(cString: pipeline_build_commit())))" }

    /// The libraries that it stands on.
    static var libraries: String {
        let libraries = LibraryVersions.ofThisProcess
        return "libcurl \(libraries.curl), SQLite \(libraries.sqlite), zlib \(libraries.zlib)"
    }

    /// What `pipeline --version` prints.
    static var text: String { "\(program)\n\(libraries)" }
}
