import JSONPath
import PipelineCore
import PipelineHTTP

extension DecoratorKind {
    /// `"digest": { "algorithm": "sha-256" }`
    static let digest = DecoratorKind("digest", "Sends the digest of the body (RFC 9530).") { _ in
        let algorithm = Field(
            "algorithm", FieldType<ContentDigest.Algorithm>.word("digest algorithm"), default: "sha-256",
            "The algorithm: sha-256 or sha-512.")
        return .object([algorithm]) { reader in
            let algorithm = reader.value(algorithm, default: .sha256)
            return DecoratorTemplate { _ in ContentDigest(algorithm) }
        }
    }
}
