import CLibrary
package import JSONPath
import PipelineCore

/// Everything about failed assertions that may be sent to those who mend the program: no secret, no path of a person's.
package struct AssertionReport: Sendable {
    private let entries: [AssertionFiles.Entry]
    private let settings: Settings

    package init(settings: Settings) {
        entries = AssertionFiles(settings: settings).entries
        self.settings = settings
    }

    /// One object: the program, its libraries, the system, and the entries.
    package var json: JSON {
        let libraries = LibraryVersions.ofThisProcess
        var system = utsname()
        uname(&system)
        let words = [Self.text(&system.sysname), Self.text(&system.release), Self.text(&system.machine)]
        let whole: JSON = [
            "version": .string(ProgramVersion.program), "system": .string(words.joined(separator: " ")),
            "libraries": [
                "libcurl": .string(libraries.curl), "SQLite": .string(libraries.sqlite),
                "zlib": .string(libraries.zlib),
            ],
            "assertions": .array(entries.map(AssertionFiles.json)),
        ]
        return redactor.redact(hidingFolders(whole))
    }

    /// Knows the secrets that this process could find by itself.
    private var redactor: Redactor {
        var secrets = settings.secretsFile.flatMap { try? SecretSources.read($0) } ?? [:]
        for (name, value) in settings.environment where name.hasPrefix("PIPELINE_SECRET_") {
            secrets[String(name.dropFirst("PIPELINE_SECRET_".count))] = value
        }
        return Redactor(secrets)
    }

    /// A path tells who somebody is and what they work on.
    private func hidingFolders(_ value: JSON) -> JSON {
        switch value {
        case .string(let text):
            var text = text.replacing(settings.stateFolder, with: "‹state›")
            if let home = settings.environment["HOME"], home.count > 1 { text = text.replacing(home, with: "~") }
            return .string(text)
        case .array(let elements): return .array(elements.map(hidingFolders))
        case .object(let members): return .object(JSONObject(members.map { ($0.name, hidingFolders($0.value)) }))
        case .null, .bool, .number: return value
        }
    }

    private static func text<Field>(_ field: inout Field) -> String {
        withUnsafeBytes(of: &field) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }
}
