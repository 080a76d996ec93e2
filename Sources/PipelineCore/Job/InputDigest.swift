import JSONPath

/// What a job's inputs were, as far as the keys of its submits tell: their values, and of files the names and what stands in
/// them.
///
/// A key that a person or a batch gave may come again with other inputs once the journal has forgotten the first job, or
/// where there is none yet: under the same key a service would give the result of other inputs. With the same inputs it is
/// the same job. Folders and times of files don't count, for they are others on the next machine; nor do secret inputs, of
/// which no digest is kept.
package struct InputDigest {
    let job: JobRecord
    let plan: Plan
    let files: any FileFacts

    package init(of job: JobRecord, plan: Plan, files: any FileFacts) {
        self.job = job
        self.plan = plan
        self.files = files
    }

    /// The SHA-256 in hex; nil where the job's key is its id, which comes once.
    package func value() async -> String? {
        guard job.key != job.id.text, !job.inputs.isEmpty else { return nil }
        var told: [(String, JSON)] = []
        for input in plan.definition.inputs {
            guard let value = job.inputs[input.name] else { continue }
            switch input.kind {
            case .file, .files:
                var contents: [JSON] = []
                for path in (value.array ?? [value]).compactMap(\.string) { contents.append(await content(of: path)) }
                told.append((input.name, .array(contents)))
            case .url, .string, .number, .boolean, .json: told.append((input.name, value))
            }
        }
        // An item is known by its own name: its number is another one when one before it is gone.
        if let item = job.item { told.append((" item", .string(item.key))) }
        return SHA256Text.hex(of: JSON.object(JSONObject(told)).sorted.text)
    }

    /// The name and the content of a file; one that can't be read fails where it is needed.
    private func content(of path: String) async -> JSON {
        let name = path.split(separator: "/").last.map(String.init) ?? path
        return [.string(name), JSON(await files.contentDigest(ofFileAt: path))]
    }
}

extension JSON {
    /// The same value, with one text for all that are equal: whole numbers without a fraction, members by name.
    fileprivate var sorted: JSON {
        switch self {
        case .null, .bool, .string: self
        case .number(let number): number.int.map { .number(JSONNumber($0)) } ?? self
        case .array(let elements): .array(elements.map(\.sorted))
        case .object(let members):
            .object(JSONObject(members.sorted { $0.name < $1.name }.map { ($0.name, $0.value.sorted) }))
        }
    }
}
