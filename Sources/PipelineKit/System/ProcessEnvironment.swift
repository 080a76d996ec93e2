import CLibrary

/// The environment of the process.
package enum ProcessEnvironment {
    /// All variables; of one that is set twice the first.
    package static var all: [String: String] {
        var variables: [String: String] = [:]
        var entry = environ
        while let pointer = entry.pointee {
            // By scalars: a value may begin with a mark, which makes one Character with the sign before it.
            let text = String(cString: pointer).unicodeScalars
            if let equals = text.firstIndex(of: "=") {
                let name = String(text[..<equals])
                if variables[name] == nil { variables[name] = String(text[text.index(after: equals)...]) }
            }
            entry += 1
        }
        return variables
    }

    /// The path of the program that runs (proc(5)); nil where that can't be known.
    package static var programPath: String? {
        var buffer = [CChar](repeating: 0, count: 4096)
        let count = readlink("/proc/self/exe", &buffer, buffer.count)
        guard count > 0 else { return nil }
        return String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// The folder of the plugins that were installed with the program, `../share/pipeline/plugins` from its own; nil
    /// for one that was not installed.
    static var installedPlugins: String? {
        let program = programPath.map { AbsolutePath.folder(of: $0) }
        let folder = program.map { AbsolutePath.folder(of: $0) + "/share/pipeline/plugins" }
        return folder.flatMap { access($0, R_OK | X_OK) == 0 ? $0 : nil }
    }
}
