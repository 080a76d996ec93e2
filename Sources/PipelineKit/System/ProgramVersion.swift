import CBuild

/// The version of the program, and of what it stands on.
package enum ProgramVersion {
    package static let number = "0.1.0"

    /// The commit it was built from, or a word that says that nobody knows.
    package static var commit: String { String(cString: pipeline_build_commit()) }

    /// The program and the commit it was built from.
    package static var program: String { "pipeline \(number) (\(commit))" }

    /// The libraries that it stands on.
    package static var libraries: String {
        let libraries = LibraryVersions.ofThisProcess
        return "libcurl \(libraries.curl), SQLite \(libraries.sqlite), zlib \(libraries.zlib)"
    }

    /// The text that `pipeline --version` prints.
    package static var text: String { "\(program)\n\(libraries)" }
}
