import Crypto
import JSONPath
import PipelineCore
import PipelineStages

/// The items of a source, made of its rows: values checked, paths absolute, each with its key.
struct SourceItems {
    private let definition: PipelineDefinition
    private let source: ItemSource
    private let reader: any ItemReader
    /// The inputs that all items share, checked.
    private let shared: JSONObject
    private let scope: Scope
    private let plan: Plan
    /// The folders in which items write; nil while nothing is to be said of that.
    private let folders: JobFolders?
    /// The folder to which a row's paths are relative.
    private let folder: String
    private let documentFolder: String
    private let header: [String]
    private let keyTrim: String
    /// The state of the source's file before it was opened; nil for other sources.
    private let fingerprint: String?

    /// - Parameters:
    ///   - source: where the rows come from.
    ///   - draft: the document and the inputs that all items share.
    ///   - working: what patterns, paths and rows of standard input are relative to.
    ///   - folders: those of the batch, for the files that items write.
    ///   - place: where an earlier reading came to.
    /// - Throws: ``ItemSourceError`` for a source that can't be read, or whose header names no input.
    init(
        _ source: ItemSource, draft: JobDraft, working: String, folders: JobFolders?, from place: ReadingPlace?
    ) throws(ItemSourceError) {
        self.source = source
        (plan, definition, self.folders) = (draft.plan, draft.plan.definition, folders)
        shared = draft.inputs
        scope = draft.known
        documentFolder = AbsolutePath.folder(of: draft.path)
        let start = place.flatMap { place in
            place.offset.map { ItemPlace.byte($0, line: place.line ?? 1) } ?? place.path.map { ItemPlace.path($0) }
        }
        var (header, keyTrim, folder) = ([String](), "", working)
        fingerprint = source.path.flatMap { SourceFingerprint.text(ofFileAt: AbsolutePath.of($0, in: working)) }
        switch source {
        case .files(_, let pattern):
            let files = try FileReader(pattern, in: working, from: start)
            keyTrim = files.fixedPart
            reader = files
        case .values(_, let separator): reader = try ValueReader(nil, separator: separator)
        case .objects(let path):
            let absolute = path.map { AbsolutePath.of($0, in: working) }
            reader = try JSONLinesReader(absolute, from: start)
            folder = absolute.map { AbsolutePath.folder(of: $0) } ?? working
        case .table(let path, let separator):
            let absolute = path.map { AbsolutePath.of($0, in: working) }
            let table = try TableReader(absolute, separator: separator, from: start)
            header = table.header
            reader = table
            folder = absolute.map { AbsolutePath.folder(of: $0) } ?? working
        }
        (self.header, self.keyTrim, self.folder) = (header, keyTrim, folder)
        try check(header)
    }

    private func check(_ header: [String]) throws(ItemSourceError) {
        let names = definition.inputs.map(\.name)
        if case .files(let name, let pattern) = source,
            let kind = definition.inputs.first(where: { $0.name == name })?.kind, kind != .file
        {
            throw ItemSourceError(
                "--each \(name)='\(pattern)' finds files, and the input '\(name)' is of the type \"\(kind.rawValue)\"",
                hint: "let its type be \"file\"; or give the names as values: printf '%s\\n' \(pattern) "
                    + "| pipeline run … --each \(name)=-")
        }
        for name in header where !names.contains(name) {
            let guess = Suggestion.nearest(to: name, among: names).map { "did you mean '\($0)'?" }
            throw ItemSourceError(
                "the header names '\(name)', which is no input of the document",
                hint: guess ?? "its inputs are \(names.joined(separator: ", "))")
        }
        let secret = definition.inputs.filter(\.isSecret).map(\.name)
        if let name = (sourceInputs ?? header).first(where: secret.contains) {
            throw ItemSourceError(
                "the secret input '\(name)' can't come from --each, whose rows are kept in the journal",
                hint: "give it to all items with -i \(name)=…")
        }
        guard let given = sourceInputs ?? (header.isEmpty ? nil : header) else { return }
        let missing = definition.inputs.filter {
            $0.fallback == nil && shared[$0.name] == nil && !given.contains($0.name)
        }
        if let input = missing.first {
            throw ItemSourceError(
                "the input '\(input.name)' is missing: neither --each nor -i gives it", hint: "add -i \(input.name)=…")
        }
        for name in given
        where shared[name] != nil && definition.inputs.first(where: { $0.name == name })?.fallback == nil {
            throw ItemSourceError(
                "the input '\(name)' is given with -i and by --each", hint: "leave one of them out")
        }
    }

    private var sourceInputs: [String]? {
        switch source {
        case .files(let input, _), .values(let input, _): [input]
        case .objects, .table: nil
        }
    }

    /// The place that reading has reached, of the source with the number.
    func place(_ number: Int) -> ReadingPlace {
        switch reader.place {
        case .byte(let offset, let line):
            ReadingPlace(source: number, offset: offset, line: line, fingerprint: fingerprint)
        case .path(let path): ReadingPlace(source: number, path: path)
        }
    }

    /// Has `body` called before the rest of an item is waited for, of a pipe in which nothing is now.
    func willWait(_ body: @escaping () -> Void) { reader.willWait(body) }

    /// The next item; nil at the end.
    func next() throws(ItemSourceError) -> NewItem? {
        guard let row = try reader.next() else { return nil }
        do throws(StepFailure) {
            return try item(row)
        } catch {
            var failure = error
            // Apart from the sentence, so that rows that are bad alike are one group.
            failure.place = failure.place ?? place(of: row)
            return NewItem(
                key: key(ofBad: row), line: row.line, inputs: inputs(ofBad: row), failure: failure,
                place: failure.place)
        }
    }

    private func place(of row: ItemRow) -> String? { row.line.map { "\(source.name):\($0)" } }

    /// The inputs of a bad row as far as they can be read, so that the row can be mended and given again: values of
    /// their types, paths absolute, as those of good rows are, and no secret. None of a row that is not even one.
    private func inputs(ofBad row: ItemRow) -> JSONObject {
        let given: JSONObject
        switch row.content {
        case .bad, .badName: return [:]
        case .value(let text): given = typed([(sourceInputs?[0] ?? "", text)]).values
        case .fields(let fields): given = typed(zip(header, fields)).values
        case .members(let members): given = members
        }
        let known = Dictionary(definition.inputs.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        return JSONObject(
            given.filter { known[$0.name]?.isSecret != true }.map { member in
                (member.name, known[member.name]?.withAbsolutePaths(member.value, in: folder) ?? member.value)
            })
    }

    private func item(_ row: ItemRow) throws(StepFailure) -> NewItem {
        var (own, failure) = (JSONObject(), StepFailure?.none)
        var key: String?
        switch row.content {
        case .bad(let reason): throw StepFailure(reason)
        case .badName: throw StepFailure("its path is no text in UTF-8", hint: "rename the file or its folder")
        case .value(let text):
            (own, failure) = typed([(sourceInputs?[0] ?? "", text)])
            key = text.hasPrefix(keyTrim) ? String(text.dropFirst(keyTrim.count)) : text
        case .fields(let fields): (own, failure) = typed(zip(header, fields))
        case .members(let members):
            let names = definition.inputs.map(\.name)
            if let unknown = members.names.first(where: { !names.contains($0) }) {
                let guess = Suggestion.nearest(to: unknown, among: names).map { "did you mean '\($0)'?" }
                throw StepFailure("there is no input called '\(unknown)'", hint: guess)
            }
            if let name = members.names.first(where: { name in
                definition.inputs.contains { $0.name == name && $0.isSecret }
            }) {
                throw StepFailure("the secret input '\(name)' can't stand in a row: rows are kept in the journal")
            }
            own = members
        }
        if let failure { throw failure }
        var given = shared
        for member in own { given[member.name] = member.value }
        let values: JSONObject
        do throws(InputsError) {
            values = try InputValues(
                inputs: definition.inputs, folders: (documentFolder, folder), scope: scope, standardInput: { nil }
            ).values(from: GivenInputs(document: given))
        } catch {
            throw error.problems.first ?? StepFailure("its inputs can't be read")
        }
        if let template = definition.batch?.key {
            var scope = scope
            scope.inputs = values
            do throws(EvaluationFailure) {
                key = try template.evaluateText(in: scope)
            } catch {
                throw StepFailure("its batch.key: \(error.message)", hint: error.hint)
            }
        }
        let kept = JSONObject(values.filter { own[$0.name] != nil }.map { ($0.name, $0.value) })
        var item = NewItem(
            key: try checked(key ?? Self.digest(own)), line: row.line, inputs: kept, place: place(of: row))
        if let folders {
            var scope = scope
            scope.inputs = values
            item.targets = Array(Set(plan.targets(at: JobStart(known: scope, folders: folders, overwrites: true))))
            if let count = item.targets.map(\.utf8.count).max(), count > NewItem.longestName {
                throw StepFailure(
                    "it would write a file whose path has \(count) bytes, and may have \(NewItem.longestName)",
                    hint: "let \"to\" be shorter, for example by slug()")
            }
        }
        return item
    }

    /// The values of texts, each with the name of its input, as `-i` reads them. An empty text of an input that is no
    /// text is not given; one that can't be read stays a text, and the first of those is the failure.
    private func typed(_ texts: some Sequence<(String, String)>) -> (values: JSONObject, failure: StepFailure?) {
        var (values, failure) = (JSONObject(), StepFailure?.none)
        for (name, text) in texts {
            guard let input = definition.inputs.first(where: { $0.name == name }) else { continue }
            if text.isEmpty, ![.string, .file, .url].contains(input.kind) { continue }
            do throws(StepFailure) {
                values[name] = try input.value(of: text)
            } catch {
                values[name] = .string(text)
                failure = failure ?? error
            }
        }
        return (values, failure)
    }

    private func checked(_ key: String) throws(StepFailure) -> String {
        guard !key.isEmpty else { throw StepFailure("its key is empty") }
        guard key.utf8.count <= NewItem.longestName else {
            throw StepFailure(
                "its key has \(key.utf8.count) bytes, and may have \(NewItem.longestName)",
                hint: "let \"batch\": { \"key\": … } name items by something shorter")
        }
        // PostgreSQL keeps no such text, and both journals take the same rows.
        guard !key.utf8.contains(0) else { throw StepFailure("its key holds a NUL (U+0000)") }
        return key
    }

    /// A row that can't be read is known by its line, and what was said of it goes when it is mended.
    private func key(ofBad row: ItemRow) -> String { content(ofBad: row).replacing("\0", with: "\u{FFFD}") }

    private func content(ofBad row: ItemRow) -> String {
        switch row.content {
        case .value(let text), .badName(let text):
            Self.start(of: text.hasPrefix(keyTrim) ? String(text.dropFirst(keyTrim.count)) : text, 200)
        case .fields(let fields): "line \(row.line ?? 0): " + Self.start(of: fields.joined(separator: ","), 60)
        case .members(let members): Self.digest(members)
        case .bad: "line \(row.line ?? 0)"
        }
    }

    /// The first code points of a text. What is shown as one letter may be any number of them.
    private static func start(of text: String, _ count: Int) -> String { String(text.unicodeScalars.prefix(count)) }

    /// Sixteen hex digits of SHA-256 over the members in their canonical form: `1` and `1.0` are one.
    private static func digest(_ members: JSONObject) -> String {
        String(SHA256.hash(data: JSON.object(members).canonical.bytes).hex.prefix(16))
    }
}
