import CLibrary
import JSONPath
import PipelineCore

/// Services that several documents share: `"services": { "openai": { "use": "services/openai.json" } }`.
///
/// What the file says is put into the text of the document before anything else reads it: so a job keeps it as it
/// was when the job started, its digest covers it, and nothing but this knows that there was a second file. It takes the
/// place of the service on one line, and the lines after it keep their numbers.
enum SharedServices {
    /// The longest file that is read.
    private static let longest = 1 << 20

    /// The document with the services that it uses.
    ///
    /// - Parameters:
    ///   - source: as it was read; one with mistakes of syntax comes back as it is.
    ///   - folder: the document's, absolute.
    /// - Throws: all mistakes of the first file that has any, or that a file can't be read.
    static func expanded(_ source: SourceText, in folder: String) throws(DefinitionError) -> SourceText {
        guard mayUse(source.bytes) else { return source }
        let reading = JSONNode.read(source)
        guard reading.errors.isEmpty, case .object(let services)? = reading.node?["services"]?.content else {
            return source
        }
        var bytes = source.bytes
        var isChanged = false
        for service in services.reversed() {
            guard let use = service.value.member("use"), case .string(let path) = use.value.content,
                case .object(let own) = service.value.content
            else { continue }
            var members = try shared(path, of: use, named: service.name, in: folder, source)
            for member in own where member.name != "use" { members[member.name] = member.value.json }
            let range = service.value.range
            let lines = bytes[range.start..<range.end].count { $0 == UInt8(ascii: "\n") }
            var text: [UInt8] = []
            JSON.object(members).write(into: &text)
            text.insert(contentsOf: [UInt8](repeating: UInt8(ascii: "\n"), count: lines), at: text.count - 1)
            bytes.replaceSubrange(range.start..<range.end, with: text)
            isChanged = true
        }
        return isChanged ? SourceText(name: source.name, bytes: bytes) : source
    }

    /// Returns whether the key "use" can stand in the text, written plainly or with escapes: a large document is not read
    /// twice to find out that it shares nothing.
    private static func mayUse(_ bytes: [UInt8]) -> Bool {
        bytes.withUnsafeBytes { text in
            func stands(_ word: String, at place: Int) -> Bool {
                place + word.utf8.count <= text.count && memcmp(text.baseAddress! + place, word, word.utf8.count) == 0
            }
            return text.indices.contains { place in
                switch text[place] {
                case UInt8(ascii: "\""): stands("\"use\"", at: place)
                case UInt8(ascii: "\\"): stands("\\u", at: place)
                default: false
                }
            }
        }
    }

    private static func shared(
        _ path: String, of use: JSONNode.Member, named service: String, in folder: String, _ source: SourceText
    ) throws(DefinitionError) -> JSONObject {
        guard let bytes = FileContent.bytes(AbsolutePath.of(path, in: folder), limit: longest) else {
            let mistake = Diagnostic(
                range: use.value.range, pointer: "/services/\(service)/use",
                message: "cannot read \(path): \(FileContent.reason)",
                hint: "the path is relative to the folder of the document")
            throw DefinitionError(source: source, diagnostics: [mistake])
        }
        // Named as the document is: relative to where the person stands.
        let shown = path.hasPrefix("/") ? path : AbsolutePath.folder(of: source.name) + "/" + path
        return try ServiceDefinition.shared(
            SourceText(name: source.name.contains("/") ? shown : path, bytes: bytes))
    }
}
