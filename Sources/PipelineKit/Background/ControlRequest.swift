package import JSONPath
package import PipelineCore

/// A request to the background owner over its control socket.
package enum ControlRequest: Sendable {
    /// Take the job up, with the values of its secrets, which are kept in memory only. `ended` is when it ended, as the person
    /// saw it who wants tried again what failed: one that was begun again since is not begun a third time.
    case take(JobID, HandedValues, retriesFailed: Bool, ended: Timestamp?)
    /// Verify pushes with these values for the job, which stays with another process.
    case lend(JobID, HandedValues)
    /// Say how you are.
    case status
    /// Make a link that opens the dashboard: `{"link": null}` from one that serves none; `journal` is the place of the one
    /// that it is over, null for the state folder's.
    case dashboard

    /// The form on the wire.
    package var json: JSON {
        switch self {
        case .take(let job, let values, let retriesFailed, let ended):
            [
                "type": "take", "job": .string(job.text), "secrets": .object(values.secrets),
                "inputs": .object(values.inputs), "retriesFailed": .bool(retriesFailed),
                "ended": (ended?.description).map { .string($0) } ?? .null,
            ]
        case .lend(let job, let values):
            [
                "type": "lend", "job": .string(job.text), "secrets": .object(values.secrets),
                "inputs": .object(values.inputs),
            ]
        case .status: ["type": "status"]
        case .dashboard: ["type": "dashboard"]
        }
    }

    /// Reads what ``json`` wrote; nil for anything else.
    package init?(json: JSON) {
        switch json["type"]?.string {
        case "take", "lend":
            guard let job = json["job"]?.string else { return nil }
            let values = HandedValues(
                secrets: json["secrets"]?.object ?? [:], inputs: json["inputs"]?.object ?? [:])
            self =
                json["type"]?.string == "lend"
                ? .lend(JobID(job), values)
                : .take(
                    JobID(job), values, retriesFailed: json["retriesFailed"]?.bool ?? false,
                    ended: json["ended"]?.moment)
        case "status": self = .status
        case "dashboard": self = .dashboard
        default: return nil
        }
    }
}

/// The values that are kept nowhere but in the memory of the process that drives a job: values of secrets and of secret
/// inputs.
package struct HandedValues: Sendable {
    package var secrets: JSONObject
    package var inputs: JSONObject

    package init(secrets: JSONObject = [:], inputs: JSONObject = [:]) {
        self.secrets = secrets
        self.inputs = inputs
    }

    /// The values of all secrets that a plan names, as far as they are found.
    package init(of plan: Plan, from source: some SecretSource, inputs: JSONObject) async {
        self.init(inputs: inputs)
        for name in plan.secrets {
            if let value = await source.secret(name) { secrets[name] = .string(value) }
        }
    }

    /// With what was handed over before and is not among these: a later shell may know less.
    package func over(_ earlier: HandedValues) -> HandedValues {
        var values = earlier
        for member in secrets { values.secrets[member.name] = member.value }
        for member in inputs { values.inputs[member.name] = member.value }
        return values
    }
}
