public import JSONPath
public import PipelineCore

/// The secrets of one background job: what was handed over for it, else what this process finds itself.
public struct DelegatedSecrets: SecretSource {
    private let handed: JSONObject
    private let others: any SecretSource

    public init(_ handed: JSONObject, else others: any SecretSource) {
        self.handed = handed
        self.others = others
    }

    public func secret(_ name: String) async -> String? {
        if let value = handed[name]?.string { return value }
        return await others.secret(name)
    }
}
