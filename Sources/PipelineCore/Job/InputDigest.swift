import JSONPath

/// What a job's inputs were, as far as the keys of its submits tell: their values, and of files the names and what stood in
/// them.
///
/// A key that a person or a batch gave may come again with other inputs once the journal has forgotten the first job, or
/// where there is none yet: under the same key a service would give the result of other inputs. With the same inputs it is
/// the same job. Folders and times of files don't count, for they are others on the next machine.
package struct InputDigest {
    let job: JobRecord
    let plan: Plan
    let files: any FileFacts

    package init(of job: JobRecord, plan: Plan, files: any FileFacts) {
        self.job = job
        self.plan = plan
        self.files = files
    }

    /// The SHA-256 in hex; nil where the job's key is its id, which comes once, and where no request carries a key.
    ///
    /// Files are read for it.
    package func value() async -> String? {
        guard plan.sendsKeys, job.key != job.id.text, !job.inputs.isEmpty else { return nil }
        var told: [(String, JSON)] = []
        for input in plan.definition.inputs.sorted(by: { $0.name < $1.name }) {
            guard let value = job.inputs[input.name] else { continue }
            switch input.kind {
            case .file, .files:
                var contents: [JSON] = []
                for path in (value.array ?? [value]).compactMap(\.string) { contents.append(await content(of: path)) }
                told.append((input.name, .array(contents)))
            case .url, .string, .number, .boolean, .json: told.append((input.name, value))
            }
        }
        return SHA256Text.hex(of: JSON.object(JSONObject(told)).text)
    }

    /// The name and the digest of a file; one that can't be read fails where it is needed.
    private func content(of path: String) async -> JSON {
        let name = path.split(separator: "/").last.map(String.init) ?? path
        return [.string(name), JSON(await files.contentDigest(ofFileAt: path))]
    }
}
