import JSONPath
import PipelineCore

extension JobExecutor {
    /// Captured values as they may be kept: what repeats a secret is sealed.
    func sealed(_ captures: JSONObject) -> JSONObject {
        sealed(.object(captures)).object ?? captures
    }

    func sealed(_ value: JSON) -> JSON {
        guard let sealing else { return value }
        let sealed = sealing.sealed(value)
        holdsSealed = holdsSealed || sealed != value
        return sealed
    }

    /// Captured values as the service gave them.
    func opened(_ captures: JSONObject) -> JSONObject {
        guard holdsSealed, let sealing else { return captures }
        return sealing.opened(.object(captures)).object ?? captures
    }

    /// Makes what seals, when secrets are known or known anew: values of before still open what they sealed.
    func renewSealing() {
        guard let seal = ports.seal else { return }
        let inputs = secretInputs.map { (name: $0.name, value: $0.value.string ?? $0.value.text) }
        for secret in secrets.sorted(by: { $0.key < $1.key }).map({ (name: $0.key, value: $0.value) }) + inputs
        where !sealedUnder.contains(where: { $0 == secret }) {
            sealedUnder.append(secret)
        }
        guard !sealedUnder.isEmpty else { return }
        sealing = CaptureSealing(sealedUnder, seal: seal)
        holdsSealed =
            holdsSealed
            || snapshot.steps.values.contains { step in
                JSON.object(step.captures).holdsSealed || step.value?.holdsSealed == true
            }
    }
}
