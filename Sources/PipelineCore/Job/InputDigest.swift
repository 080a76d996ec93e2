package import JSONPath

/// What a job's inputs were, as far as the keys of its submits tell: their values, and of files the names and what stands in
/// them.
///
/// A key that a person or a batch gave may come again with other inputs once the journal has forgotten the first job, or
/// where there is none yet: under the same key a service would give the result of other inputs. With the same inputs it is
/// the same job. Folders and times of files don't count, for they are others on the next machine; nor do secret inputs, of
/// which no digest is kept.
package struct InputDigest {
    private let job: JobRecord
    private let inputs: [InputDefinition]

    /// Nil where the job's key is its id, which comes once.
    package init?(of job: JobRecord, plan: Plan) {
        guard job.key != job.id.text, !job.inputs.isEmpty else { return nil }
        self.job = job
        inputs = plan.definition.inputs
    }

    /// The absolute paths of the files whose content tells.
    package var files: [String] { inputs.flatMap { $0.files(of: job.inputs[$0.name]) } }

    /// The SHA-256 in hex.
    ///
    /// - Parameter contents: what tells the content of each file from another one's; none of one that can't be read, which
    ///   fails where it is needed.
    package func value(of contents: [String: String]) -> String {
        var told: [(String, JSON)] = []
        for input in inputs {
            guard let value = job.inputs[input.name] else { continue }
            guard input.isOfFiles else {
                told.append((input.name, value))
                continue
            }
            let files = input.files(of: value).map { path -> JSON in
                [.string(path.split(separator: "/").last.map(String.init) ?? path), JSON(contents[path])]
            }
            told.append((input.name, .array(files)))
        }
        // An item is known by its own name: its number is another one when one before it is gone.
        if let item = job.item { told.append((" item", .string(item.key))) }
        return SHA256Text.hex(of: JSON.object(JSONObject(told)).canonical.text)
    }
}

extension InputDefinition {
    /// True if its value is a path, or an array of paths.
    fileprivate var isOfFiles: Bool { kind == .file || kind == .files }

    /// The paths that a value of it names.
    package func files(of value: JSON?) -> [String] {
        guard isOfFiles, let value else { return [] }
        return (value.array ?? [value]).compactMap(\.string)
    }
}
