package import JSONPath

/// Something that a call under way wants to be kept.
package enum StepReport: Sendable {
    /// Its checkpoint and captures; nil leaves what is there. With `isFarther` it has come further than ever; with `mayWait`
    /// nothing rests on it.
    case progress(checkpoint: [UInt8], captures: JSONObject?, isFarther: Bool, mayWait: Bool)
    /// Its entry of the submit ledger, and the captures of the response in the same transaction.
    case submit(SubmitRecord, captures: JSONObject?, mayWait: Bool)
    case fact(Fact, JSON, mayWait: Bool)
    /// Files that it wrote, and what is to be known of them.
    case files([WrittenFile], facts: [Fact: JSON], mayWait: Bool)
    /// Something that is likely a mistake; the step goes on.
    case warning(String)
}

extension StepReport {
    /// True if it says that a service has taken the submit.
    var isSubmitted: Bool { if case .submit(let submit, _, _) = self { submit.phase == .submitted } else { false } }

    /// The captures that it brings, as they came; nil for none.
    package var captures: JSONObject? {
        switch self {
        case .progress(_, let captures, _, _), .submit(_, let captures, _): captures
        case .fact, .files, .warning: nil
        }
    }

    /// True if what was said of the step besides is kept with it.
    package var takesNotes: Bool { if case .progress = self { true } else { false } }

    /// Keeps what a call under way says; `counts` says how many resumes it begins.
    func keep(
        of key: StepKey, _ notes: StepNotes, counts: Int, in table: inout JobTable
    ) {
        switch self {
        case .progress(let checkpoint, let captures, let isFarther, let mayWait):
            let sealed = captures.map { table.sealed($0, of: key) } ?? [:]
            let now = table.moment.time
            table.edit(key, mayWait: mayWait) { step in
                step.checkpoint = checkpoint
                step.captures = step.captures.merging(sealed)
                step.add(notes)
                // Who comes further forgets earlier failures.
                if isFarther, let next = try? step.state.apply(.progressed, at: now) {
                    step.state = next.state
                }
            }
        case .submit(let submit, let captures, let mayWait):
            table.record(.submit(key, submit), mayWait: mayWait)
            defer { table.judgeEarlyCallbacks(of: CollectionOfOne(key)) }
            guard captures != nil || counts > 0 else { return }
            let sealed = table.sealed(captures ?? [:], of: key)
            table.edit(key) { step in
                step.captures = step.captures.merging(sealed)
                step.resumes += counts
                step.add(notes)
            }
        case .fact(let found, let value, let mayWait):
            let fact = key.item.map { found.kept(forItem: $0) } ?? found
            if table.snapshot.facts[fact] != value { table.record(.fact(fact, value), mayWait: mayWait) }
        case .files(let files, let facts, let mayWait):
            for var file in files {
                file.step = key
                table.record(.file(file), mayWait: mayWait)
            }
            for (fact, value) in facts { table.record(.fact(fact, value), mayWait: mayWait) }
        case .warning(let message): table.publish(.stageWarned, ["message": .string(message)], of: key)
        }
    }
}
