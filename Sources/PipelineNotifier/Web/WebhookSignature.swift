import Crypto
import FoundationEssentials

/// The proof of where a webhook comes from (Standard Webhooks 1.0.0, "Signature scheme").
struct WebhookSignature {
    private let key: SymmetricKey

    /// - Parameter secret: `whsec_` and base64; one of another form is taken as it stands.
    init(secret: String) {
        let text = secret.hasPrefix("whsec_") ? String(secret.dropFirst(6)) : secret
        if let bytes = Data(base64Encoded: text), secret.hasPrefix("whsec_") || bytes.count >= 16 {
            key = SymmetricKey(data: bytes)
        } else {
            key = SymmetricKey(data: Data(secret.utf8))
        }
    }

    /// `v1,` and the HMAC-SHA-256 of `ID.TIME.BODY` in base64.
    func text(id: String, seconds: Int64, body: [UInt8]) -> String {
        let signed = Array("\(id).\(seconds).".utf8) + body
        return "v1," + Data(HMAC<SHA256>.authenticationCode(for: signed, using: key)).base64EncodedString()
    }
}
