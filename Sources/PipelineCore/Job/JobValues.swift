package import JSONPath

/// The values that expressions of a job may read besides its own steps: environment, secrets, values that are kept
/// nowhere.
///
/// A value: whoever looks the secrets up puts them in. Nothing is sent, read or drawn for a scope.
package struct JobValues: Sendable {
    package var environment: [String: String?]
    package var secrets: [String: String] = [:]
    /// Values of inputs that are kept nowhere but in memory.
    package var secretInputs: JSONObject
    /// The address at which a callback for a step is taken, of its job, the step and the step's own key.
    package var callbackURL: @Sendable (JobID, StepKey, String) -> String?
    /// The seal of secrets in captured values; nil keeps these as they came.
    private let seal: (any SecretSeal)?
    private var sealing: CaptureSealing?
    /// The secrets that captured values may be sealed under, the latest of a name last.
    private var sealedUnder: [(name: String, value: String)] = []
    /// The texts that stages are repeated over and that were made of a secret, with its name: secrets too.
    package private(set) var secretParts: [(name: String, value: String)] = []
    /// The names of all secrets that the job has, also of those that are not known.
    private var names: Set<String> = []
    /// True if a captured value of the job may be sealed: mostly none is, and then none is looked through.
    private var holdsSealed = false

    package init(
        environment: [String: String?], secretInputs: JSONObject = [:], secrets: [String: String] = [:],
        seal: (any SecretSeal)? = nil,
        callbackURL: @escaping @Sendable (JobID, StepKey, String) -> String? = { _, _, _ in nil }
    ) {
        self.environment = environment
        self.secretInputs = secretInputs
        self.secrets = secrets
        self.seal = seal
        self.callbackURL = callbackURL
    }

    /// Makes what seals, when secrets are known or known again: values of before still open what they sealed.
    package mutating func renewSealing(for steps: [StepKey: StepRecord], of plan: Plan) {
        guard let seal else { return }
        names = Set(plan.secrets).union(plan.definition.inputs.filter(\.isSecret).map(\.name))
        let inputs = secretInputs.map { (name: $0.name, value: $0.value.string ?? $0.value.text) }
        for secret in secrets.sorted(by: { $0.key < $1.key }).map({ (name: $0.key, value: $0.value) }) + inputs
        where !sealedUnder.contains(where: { $0 == secret }) {
            sealedUnder.append(secret)
        }
        guard !names.isEmpty else { return }
        sealing = CaptureSealing(sealedUnder, parts: secretParts, seal: seal)
        holdsSealed =
            holdsSealed
            || steps.values.contains { JSON.object($0.captures).holdsSealed || $0.value?.holdsSealed == true }
        for stage in plan.stages + plan.finally {
            guard let secret = plan.elementSecret(of: stage) else { continue }
            let elements = steps.compactMap { key, step in key.stage == stage.id ? step.value.map { opened($0) } : nil }
            add(elements, madeOf: secret)
        }
    }

    /// Takes in what a stage is repeated over, where that is made of a secret.
    mutating func add(_ elements: [JSON], madeOf secret: String) {
        var known = Set(secretParts.map(\.value))
        let texts = elements.flatMap(\.longTexts).filter { known.insert($0).inserted }
        guard !texts.isEmpty else { return }
        secretParts += texts.map { (name: secret, value: $0) }
        if let seal, sealing != nil { sealing = CaptureSealing(sealedUnder, parts: secretParts, seal: seal) }
    }

    /// Captured values as they may be kept: what repeats a secret is sealed.
    package mutating func sealed(_ captures: JSONObject) -> JSONObject {
        sealed(.object(captures)).object ?? captures
    }

    mutating func sealed(_ value: JSON) -> JSON {
        guard let sealing else { return value }
        let sealed = sealing.sealed(value)
        // What a callback brought is sealed already.
        holdsSealed = holdsSealed || sealed != value || sealed.holdsSealed
        return sealed
    }

    /// The first secret that sealed captures repeat and that was not kept, as there is no key to seal it with.
    func lostSecret(of captures: JSONObject) -> String? {
        guard holdsSealed else { return nil }
        return JSON.object(captures).sealedPieces.first { $0.isLost && names.contains($0.name) }?.name
    }

    /// Captured values as the service gave them.
    package func opened(_ captures: JSONObject) -> JSONObject { opened(.object(captures)).object ?? captures }

    func opened(_ value: JSON) -> JSON {
        guard holdsSealed, let sealing else { return value }
        return sealing.opened(value)
    }

    /// What seals texts of checkpoints: as captured values are, and under these captures besides.
    func textSealing(with captures: [(name: String, value: String)]) -> CaptureSealing? {
        guard let seal, !captures.isEmpty else { return sealing }
        return CaptureSealing(sealedUnder + captures, parts: secretParts, seal: seal)
    }

    /// Opens what is sealed in the scope.
    func open(_ scope: inout Scope) {
        if holdsSealed, let sealing { scope.open(with: sealing, names: names) }
    }
}
