package import JSONPath
package import PipelineCore

/// The secrets of one background job: what was handed over for it, else what this process finds itself. A value
/// that a service refused gives way to another one that this process finds.
package struct DelegatedSecrets: SecretSource {
    private let handed: JSONObject
    private let others: any SecretSource
    private let onRenewal: @Sendable (String) -> Void

    /// - Parameter onRenewal: called with the name of a secret in whose place a service was given another, which this
    ///   process found itself.
    package init(
        _ handed: JSONObject, else others: any SecretSource, onRenewal: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        self.handed = handed
        self.others = others
        self.onRenewal = onRenewal
    }

    package var holder: String? { others.holder }

    package func secret(_ name: String) async -> String? {
        if let value = handed[name]?.string { return value }
        return await others.secret(name)
    }

    /// What was handed over is as old as the job: where it was refused, what this process finds comes first.
    package func renewed(_ name: String) async -> String? {
        let value = handed[name]?.string
        guard let found = await others.renewed(name), found != value else { return value }
        if value != nil { onRenewal(name) }
        return found
    }
}
