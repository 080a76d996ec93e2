import CLibrary
package import JSONPath
package import PipelineCore

/// The values that a person gave for the inputs of a pipeline, by name.
package struct GivenInputs: Sendable {
    /// The text after `-i NAME=`, in order.
    package var assignments: [(name: String, value: String)]
    /// The content of `--inputs FILE.json`.
    package var document: JSONObject

    package init(assignments: [(name: String, value: String)] = [], document: JSONObject = [:]) {
        self.assignments = assignments
        self.document = document
    }

    /// Returns whether an input of that name is given.
    func has(_ name: String) -> Bool { assignments.contains { $0.name == name } || document[name] != nil }
}

/// All mistakes of the inputs: each a sentence and a hint.
package struct InputsError: Error, Sendable {
    package let problems: [StepFailure]
}

/// Turns what a person gave, and the defaults, into the values of a job.
package struct InputValues {
    private let inputs: [InputDefinition]
    private let folders: (document: String, working: String)
    private let scope: Scope
    private let standardInput: () -> String?
    private let allowsMissing: Bool

    /// - Parameters:
    ///   - inputs: the inputs of the document that are meant.
    ///   - folders: the document's, which defaults are relative to, and the working directory, for the rest.
    ///   - scope: the environment that defaults may read.
    ///   - standardInput: what `@-` stands for.
    ///   - allowsMissing: leaves out inputs that have no value, for a plan.
    package init(
        inputs: [InputDefinition], folders: (document: String, working: String), scope: Scope,
        standardInput: @escaping () -> String?, allowsMissing: Bool = false
    ) {
        self.inputs = inputs
        self.folders = folders
        self.scope = scope
        self.standardInput = standardInput
        self.allowsMissing = allowsMissing
    }

    /// All values; throws everything that is wrong with them.
    package func values(from given: GivenInputs) throws(InputsError) -> JSONObject {
        var problems = unknownNames(in: given)
        var values = JSONObject()
        for input in inputs {
            do throws(StepFailure) {
                if let value = try value(of: input, given) { values[input.name] = value }
            } catch {
                problems.append(error)
            }
        }
        if !problems.isEmpty { throw InputsError(problems: problems) }
        return values
    }

    private func unknownNames(in given: GivenInputs) -> [StepFailure] {
        let known = inputs.map(\.name)
        let names = given.document.names + given.assignments.map(\.name)
        return names.filter { !known.contains($0) }.map { name in
            let guess = Suggestion.nearest(to: name, among: known)
            return StepFailure(
                "there is no input called '\(name)'",
                hint: guess.map { "did you mean '\($0)'?" }
                    ?? (known.isEmpty
                        ? "this pipeline has no inputs" : "inputs here: " + known.joined(separator: ", ")))
        }
    }

    private func value(of input: InputDefinition, _ given: GivenInputs) throws(StepFailure) -> JSON? {
        let texts = given.assignments.filter { $0.name == input.name }.map(\.value)
        if input.kind == .files, !texts.isEmpty {
            var paths: [JSON] = []
            for text in texts {
                let value = try parsed(text, for: input)
                paths += value.array ?? [value]
            }
            return try checked(.array(paths), for: input, relativeTo: folders.working)
        }
        guard texts.count < 2 else {
            throw StepFailure(
                "the input '\(input.name)' is given \(texts.count) times",
                hint: "it takes one value: keep one -i \(input.name)=…; an input of type \"files\" takes several")
        }
        if let text = texts.first {
            return try checked(try parsed(text, for: input), for: input, relativeTo: folders.working)
        }
        if let value = given.document[input.name] {
            return try checked(value, for: input, relativeTo: folders.working)
        }
        guard let fallback = input.fallback else {
            if allowsMissing { return nil }
            throw StepFailure(
                "the input '\(input.name)' is missing" + (input.summary.map { " (\($0))" } ?? ""),
                hint: "add -i \(input.name)=\(input.kind.example)")
        }
        let value: JSON
        do throws(EvaluationFailure) {
            value = try fallback.evaluate(in: scope)
        } catch {
            throw StepFailure("the default of the input '\(input.name)': \(error.message)", hint: error.hint)
        }
        return try checked(value, for: input, relativeTo: folders.document)
    }

    private func parsed(_ text: String, for input: InputDefinition) throws(StepFailure) -> JSON {
        try input.value(of: try content(of: text, for: input))
    }

    /// Returns what `@path` and `@-` stand for; of a `file` input the path itself.
    private func content(of text: String, for input: InputDefinition) throws(StepFailure) -> String {
        guard text.hasPrefix("@") else { return text }
        let path = String(text.dropFirst())
        if input.kind == .file || input.kind == .files, path != "-" { return path }
        if path == "-" {
            guard let content = standardInput() else { throw StepFailure("cannot read standard input as UTF-8 text") }
            return content
        }
        guard let content = FileContent.text(AbsolutePath.of(path, in: folders.working)) else {
            throw StepFailure("cannot read \(path) for the input '\(input.name)': \(FileContent.reason)")
        }
        return content
    }

    private func checked(
        _ value: JSON, for input: InputDefinition, relativeTo folder: String
    ) throws(StepFailure) -> JSON {
        guard input.kind.accepts(value) else {
            let found = value.string.map(input.shown) ?? value.kindName
            throw StepFailure(
                "the input '\(input.name)' must be \(input.kind.noun), not \(found)",
                hint: "for example -i \(input.name)=\(input.kind.example)")
        }
        if let choices = input.choices, !choices.contains(value) {
            throw StepFailure(
                "the input '\(input.name)' cannot be \(input.isSecret ? "the value given" : value.text)",
                hint: "one of " + choices.map(\.text).joined(separator: ", "))
        }
        if let pattern = input.pattern, let text = value.string, pattern.firstMatch(in: text) == nil {
            throw StepFailure(
                "the input '\(input.name)' does not match its pattern", hint: "the pattern is \(pattern.pattern)")
        }
        switch input.kind {
        case .file:
            return .string(try Self.readable(AbsolutePath.of(value.string ?? "", in: folder), for: input))
        case .files:
            let named = (value.array ?? [value]).compactMap(\.string)
            var paths: [String] = []
            for text in named {
                for path in try FileList.paths(of: text, in: folder, for: input.name) where !paths.contains(path) {
                    paths.append(try Self.readable(path, for: input))
                }
            }
            return .array(paths.map(JSON.string))
        case .url, .string, .number, .boolean, .json: return value
        }
    }

    private static func readable(_ path: String, for input: InputDefinition) throws(StepFailure) -> String {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            throw StepFailure(
                "cannot read \(path) for the input '\(input.name)': \(FileContent.reason)",
                hint: "give another file with -i \(input.name)=PATH")
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw StepFailure(
                "\(path) is not a file", hint: "give a file with -i \(input.name)=PATH, not a folder or a device")
        }
        return path
    }
}

extension InputDefinition {
    /// Returns the value that a text stands for, after `-i` and in a field of a table: numbers, booleans and `json` as
    /// in JSON, as are several paths of `files` in an array; others as they are.
    func value(of text: String) throws(StepFailure) -> JSON {
        switch kind {
        case .string, .file, .url: return .string(text)
        case .files:
            // Any other text is a path or a pattern, also one that begins with a bracket.
            guard let list = try? JSON.parse(Array(text.utf8)), list.array?.allSatisfy({ $0.string != nil }) == true
            else { return .string(text) }
            return list
        case .number, .boolean, .json:
            do throws(JSONSyntaxError) {
                return try JSON.parse(Array(text.utf8))
            } catch {
                throw StepFailure(
                    "the input '\(name)' must be \(kind.noun), not \(shown(text))",
                    hint: kind == .json ? "\(error.message); strings need quotes" : "write it as in JSON")
            }
        }
    }

    /// Returns the value with absolute paths, of files that need not be there: it means the same in any folder. What
    /// names no path stays as it is.
    func withAbsolutePaths(_ value: JSON, in folder: String) -> JSON {
        switch kind {
        case .file:
            guard let path = value.string, !path.isEmpty else { return value }
            return .string(AbsolutePath.of(path, in: folder))
        case .files:
            if let text = value.string { return .string(FileList.absolute(text, in: folder)) }
            guard let paths = value.array else { return value }
            return .array(paths.map { withAbsolutePaths($0, in: folder) })
        case .url, .string, .number, .boolean, .json: return value
        }
    }

    /// A text that was given for it, as a message shows it.
    fileprivate func shown(_ text: String) -> String { isSecret ? "the text given" : "'\(text.prefix(80))'" }
}

extension InputDefinition.Kind {
    fileprivate var example: String {
        switch self {
        case .file: "PATH"
        case .files: "'FOLDER/*.jpg'"
        case .url: "https://…"
        case .string: "TEXT"
        case .number: "NUMBER"
        case .boolean: "true"
        case .json: "'JSON'"
        }
    }
}
