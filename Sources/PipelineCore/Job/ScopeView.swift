import JSONPath

/// The parts of a job that expressions read, as scopes want them: making a scope looks at no step but its own.
struct ScopeView: Sendable {
    /// The captures of stages that have succeeded, by stage.
    private var captures: [String: JSON] = [:]
    /// Facts that hold for all steps.
    private var facts: [Fact: JSON] = [:]
    /// `now()` and `uuid()` of items, as their expressions name them.
    private var itemFacts: [Int: [Fact: JSON]] = [:]
    /// The state in which expressions have read a file, by its path.
    private var fingerprints: [String: String] = [:]
    /// The keys of steps before their first submit: a digest each, asked for at every evaluation.
    private var firstKeys: [StepKey: String] = [:]

    /// Takes in a step's new row. What a stage gave that runs again for fresh captures is kept until it has ended: a step
    /// that runs at this moment reads it at any time, and would fail for good without it. What is no longer good the service
    /// refuses, and then the step waits for the fresh.
    mutating func move(_ key: StepKey, to step: StepRecord, isRenewed: Bool) {
        if step.state.isEnded { firstKeys[key] = nil }
        guard key.item == nil else { return }
        if case .succeeded(let values) = step.state {
            captures[key.stage] = .object(values)
        } else if !isRenewed {
            captures[key.stage] = nil
        }
    }

    mutating func add(_ fact: Fact, _ value: JSON) {
        if let path = fact.path, let fingerprint = FileFact(value).fingerprint { fingerprints[path] = fingerprint }
        guard let item = fact.item else {
            facts[fact] = value
            return
        }
        itemFacts[item, default: [:]][fact.ofItem(item)] = value
    }

    func fingerprint(ofFileAt path: String) -> String? { fingerprints[path] }

    mutating func keepFirstKey(of key: StepKey, in job: JobRecord) {
        if firstKeys[key] == nil { firstKeys[key] = firstKey(of: key, in: job) }
    }

    func firstKey(of key: StepKey, in job: JobRecord) -> String {
        firstKeys[key] ?? job.submitName(of: key).key(ofGeneration: 1)
    }

    /// Puts in what the stages gave and what is known of files.
    func fill(_ scope: inout Scope, for key: StepKey) {
        scope.stages = captures
        scope.facts = KnownFacts(facts)
        if let item = key.item, let own = itemFacts[item] { scope.facts.add(own) }
    }
}

extension Fact {
    /// The item whose own it is; nil for one that holds for all steps.
    fileprivate var item: Int? {
        let text: String
        switch self {
        case .now(let place), .uuid(let place): text = place
        case .size, .digest, .text, .base64, .jsonLines, .copy, .kept: return nil
        }
        guard let mark = text.utf8.lastIndex(of: UInt8(ascii: "#")) else { return nil }
        return Int(text[text.utf8.index(after: mark)...])
    }
}
