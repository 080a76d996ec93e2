internal import Crypto
import FoundationEssentials

/// The proof of where a webhook comes from, made and checked (Standard Webhooks 1.0.0, "Signature scheme").
package struct StandardWebhook: Sendable {
    private let key: SymmetricKey

    /// The proof by a secret.
    ///
    /// - Parameter secret: `whsec_` and base64; one of another form is taken as it stands.
    package init(secret: String) {
        let text = secret.hasPrefix("whsec_") ? String(secret.dropFirst(6)) : secret
        if let bytes = Data(base64Encoded: text), secret.hasPrefix("whsec_") || bytes.count >= 16 {
            key = SymmetricKey(data: bytes)
        } else {
            key = SymmetricKey(data: Data(secret.utf8))
        }
    }

    /// `v1,` and the HMAC-SHA-256 of `ID.TIME.BODY` in base64.
    package func signature(id: String, seconds: Int64, body: [UInt8]) -> String {
        let signed = Self.signed(id: id, time: "\(seconds)", body: body)
        return "v1," + Data(HMAC<SHA256>.authenticationCode(for: signed, using: key)).base64EncodedString()
    }

    /// Returns whether one of the signatures is of this secret; none is when the secret is empty.
    ///
    /// - Parameters:
    ///   - signatures: the header `webhook-signature`, with a space between each two.
    ///   - time: the header `webhook-timestamp`; the caller holds it against the clock.
    package func accepts(_ signatures: String, id: String, time: String, body: [UInt8]) -> Bool {
        // Everyone knows the key of an empty secret.
        guard key.bitCount > 0 else { return false }
        let signed = Self.signed(id: id, time: time, body: body)
        return signatures.split(separator: " ").contains { entry in
            guard entry.hasPrefix("v1,"), let code = Data(base64Encoded: String(entry.dropFirst(3))) else {
                return false
            }
            return HMAC<SHA256>.isValidAuthenticationCode(code, authenticating: signed, using: key)
        }
    }

    private static func signed(id: String, time: String, body: [UInt8]) -> [UInt8] {
        Array("\(id).\(time).".utf8) + body
    }
}
