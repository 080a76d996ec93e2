import Crypto
import FoundationEssentials

/// Texts of which one is secret.
package enum SecretText {
    /// Returns whether what somebody brings is the secret, in a time that shows neither its length nor where they
    /// differ: codes of equal length under a key of the moment are compared (HMAC-SHA-256, RFC 2104).
    package static func isSame(_ given: String, as secret: String) -> Bool {
        let key = SymmetricKey(size: .bits256)
        let code = HMAC<SHA256>.authenticationCode(for: Data(secret.utf8), using: key)
        return HMAC<SHA256>.isValidAuthenticationCode(code, authenticating: Data(given.utf8), using: key)
    }
}
