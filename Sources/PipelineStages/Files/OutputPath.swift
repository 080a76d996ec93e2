import JSONPath
import PipelineCore

/// The place to which a result goes: the value of a `to` template, made absolute, `.` and empty parts taken out, so that one
/// file has one name as far as that can be told without looking.
enum OutputPath: Sendable, Hashable {
    /// A file of that path.
    case file(String)
    /// A folder, without the slash at its end; the name is the server's.
    case folder(String)

    /// Reads the text of `to`; relative paths belong to `folder`.
    init(_ text: String, in folder: String) throws(StepFailure) {
        guard !text.isEmpty, !text.utf8.contains(0) else {
            throw StepFailure("\"to\" names no file", hint: "give a file, or a folder with '/' at its end")
        }
        let path = text.hasPrefix("/") ? text : folder + (folder.hasSuffix("/") ? "" : "/") + text
        let last = path.split(separator: "/", omittingEmptySubsequences: false).last ?? ""
        let plain = "/" + path.split(separator: "/").filter { $0 != "." }.joined(separator: "/")
        self = last.isEmpty || last == "." || last == ".." ? .folder(plain) : .file(plain)
    }

    /// The path of the file; `name` is used in a folder.
    func path(named name: String) -> String {
        switch self {
        case .file(let path): path
        case .folder(let path): path == "/" ? "/\(name)" : "\(path)/\(name)"
        }
    }

    /// Turns every text that came from a response into a safe name, so that no server can choose a folder: captures of
    /// this and other stages, and items of a list that a server sent.
    static func disarm(_ scope: inout Scope) {
        scope.stages = scope.stages.mapValues(disarmed)
        if case .object(let own) = disarmed(.object(scope.own)) { scope.own = own }
        if !scope.itemIsOwn { scope.item = scope.item.map(disarmed) }
    }

    private static func disarmed(_ value: JSON) -> JSON {
        switch value {
        case .string(let text): .string(text.isEmpty ? "" : SafeFileName.make(text) ?? "file")
        case .array(let elements): .array(elements.map(disarmed))
        case .object(let members): .object(JSONObject(members.map { ($0.name, disarmed($0.value)) }))
        case .null, .bool, .number: value
        }
    }

    /// The failure of a `to` that is to name a file.
    static func failure(ofFolder text: String) -> StepFailure {
        StepFailure("\"to\" is a folder, \(text)", hint: "name the file in it")
    }
}

extension FieldType where Value == Template {
    /// A template of the place to which a result goes. A text without expressions is looked at while the document is read.
    ///
    /// - Parameter hasFolders: whether it may name a folder, in which the name is the server's.
    static func outputPath(hasFolders: Bool = false) -> FieldType {
        let template = FieldType.template()
        return FieldType(schema: ["type": "string"]) { place, findings in
            guard let read = template.read(place, findings) else { return nil }
            guard let text = read.constant else { return read }
            do throws(StepFailure) {
                if case .folder = try OutputPath(text, in: "/"), !hasFolders {
                    throw OutputPath.failure(ofFolder: text)
                }
            } catch {
                findings.report(place, error.title, hint: error.hint)
                return nil
            }
            return read
        }
    }
}
