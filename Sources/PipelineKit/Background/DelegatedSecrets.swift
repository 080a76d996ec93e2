package import JSONPath
package import PipelineCore

/// The secrets of one background job: what was handed over for it, else what this process finds itself.
package struct DelegatedSecrets: SecretSource {
    private let handed: JSONObject
    private let others: any SecretSource

    package init(_ handed: JSONObject, else others: any SecretSource) {
        self.handed = handed
        self.others = others
    }

    package var holder: String? { others.holder }

    package func secret(_ name: String) async -> String? {
        if let value = handed[name]?.string { return value }
        return await others.secret(name)
    }
}
