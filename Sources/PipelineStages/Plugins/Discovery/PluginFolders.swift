import CLibrary
import PipelineCore

/// The folders in which programs that extend `pipeline` are looked for, the first one first.
package struct PluginFolders: Sendable, Hashable {
    /// The folders in their order; one that is not there has no programs.
    package let paths: [String]

    package init(_ paths: [String]) {
        var seen: Set<String> = []
        self.paths = paths.filter { $0.hasPrefix("/") && seen.insert($0).inserted }
    }

    /// `--plugins DIR`, `$PIPELINE_PLUGINS`, the user's data folder (XDG Base Directory Specification 0.8), PATH, and
    /// what came with the program, so that anybody can put another in its place.
    ///
    /// - Parameters:
    ///   - named: the folder given on the command line, absolute.
    ///   - installed: the folder of what came with the program; nil if there is none.
    package init(named: String?, environment: [String: String], installed: String? = nil) {
        let data =
            environment["XDG_DATA_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
            ?? environment["HOME"].map { "\($0)/.local/share" }
        self.init(
            (named.map { [$0] } ?? []) + Self.list(environment["PIPELINE_PLUGINS"])
                + (data.map { ["\($0)/pipeline/plugins"] } ?? []) + Self.list(environment["PATH"])
                + (installed.map { [$0] } ?? []))
    }

    /// The programs of all roles, one role after the other; those of a role in the order of the folders and then of the names.
    /// Files that nobody may execute come last: they can't be used, and hide nothing.
    package func programs() -> [PluginProgram] {
        let names = paths.map { Self.names(in: $0) }
        return PluginRole.allCases.flatMap { programs($0, among: names) }
    }

    private func programs(_ role: PluginRole, among names: [[String]]) -> [PluginProgram] {
        let prefix = role.prefix
        var first: [String: String] = [:]
        var programs: [PluginProgram] = []
        var unusable: [PluginProgram] = []
        for (folder, names) in zip(paths, names) {
            for file in names where file.hasPrefix(prefix) {
                let name = String(file.dropFirst(prefix.count))
                let path = "\(folder)/\(file)"
                guard Self.isName(name), Self.isFile(path) else { continue }
                guard Self.isProgram(path) else {
                    unusable.append(PluginProgram(name: name, path: path, role: role, isExecutable: false))
                    continue
                }
                programs.append(PluginProgram(name: name, path: path, role: role, hiddenBy: first[name]))
                if first[name] == nil { first[name] = path }
            }
        }
        return programs + unusable.filter { first[$0.name] == nil }
    }

    /// The first program of that file name; nil when there is none.
    package func program(called file: String) -> String? {
        guard !file.contains("/") else { return nil }
        return paths.map { "\($0)/\(file)" }.first(where: Self.isProgram)
    }

    private static func list(_ text: String?) -> [String] {
        (text ?? "").split(separator: ":").map(String.init)
    }

    /// `[a-z][a-zA-Z0-9_-]*`: what can stand as a kind in a document.
    static func isName(_ text: String) -> Bool {
        guard let first = text.utf8.first, (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(first) else { return false }
        return text.utf8.allSatisfy { $0.isASCIIAlphanumeric || "-_".utf8.contains($0) }
    }

    static func isProgram(_ path: String) -> Bool { isFile(path) && access(path, X_OK) == 0 }

    private static func isFile(_ path: String) -> Bool {
        var facts = stat()
        return stat(path, &facts) == 0 && facts.st_mode & S_IFMT == S_IFREG
    }

    /// The beginning of the names of plugins of all roles.
    private static let commonPrefix = "pipeline-"

    /// The names in a folder that a plugin may have, sorted. The folders of PATH have thousands of others, of which no text
    /// is made.
    private static func names(in folder: String) -> [String] {
        guard let stream = opendir(folder) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                guard strncmp(bytes.bindMemory(to: CChar.self).baseAddress!, commonPrefix, commonPrefix.utf8.count) == 0
                else { return }
                names.append(String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self))
            }
        }
        return names.sorted()
    }
}

/// A program that was found in a plugin folder; nothing of it has been run.
package struct PluginProgram: Sendable, Hashable {
    /// The text after the prefix in its file name: the kind, the decorator or the sink that it is.
    package let name: String
    /// The place where it is, absolute.
    package let path: String
    package let role: PluginRole
    /// The program of the same name in an earlier folder, which is used instead of this one.
    package let hiddenBy: String?
    /// False for a file that this process may not execute.
    package let isExecutable: Bool

    package init(
        name: String, path: String, role: PluginRole = .stage, hiddenBy: String? = nil, isExecutable: Bool = true
    ) {
        self.name = name
        self.path = path
        self.role = role
        self.hiddenBy = hiddenBy
        self.isExecutable = isExecutable
    }
}

extension PluginProgram {
    /// Reports at a place of the document that the program can't be used.
    func report(_ fault: PluginFault, at place: SourceLocation, to findings: DiagnosticCollector) {
        findings.report(
            place, "the plugin '\(name)' at \(path) \(fault.message)",
            hint: fault.hint ?? "'pipeline plugins test \(path)' looks into it")
    }
}
