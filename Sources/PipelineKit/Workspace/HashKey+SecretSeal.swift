import Crypto
import FoundationEssentials
import PipelineCore

/// AES-GCM (NIST SP 800-38D) under a key made of the secret and the folder's key (HKDF, RFC 5869): neither the folder
/// nor the secret alone opens anything. The nonce is a keyed hash of what is sealed, so that equal values seal equally.
extension HashKey: SecretSeal {
    func seal(_ bytes: [UInt8], under secret: String) -> [UInt8] {
        let key = key(for: secret)
        let code = Array(HMAC<SHA256>.authenticationCode(for: bytes, using: key))
        guard let nonce = try? AES.GCM.Nonce(data: code[..<12]),
            let box = try? AES.GCM.seal(bytes, using: key, nonce: nonce), let combined = box.combined
        else { return [] }
        return Array(combined)
    }

    func unseal(_ sealed: [UInt8], under secret: String) -> [UInt8]? {
        guard let box = try? AES.GCM.SealedBox(combined: sealed) else { return nil }
        return (try? AES.GCM.open(box, using: key(for: secret))).map { Array($0) }
    }

    private func key(for secret: String) -> SymmetricKey {
        HKDF<SHA256>.deriveKey(
            inputKeyMaterial: SymmetricKey(data: Array(secret.utf8)), salt: key.withUnsafeBytes { Array($0) },
            info: Array("captured value".utf8),
            outputByteCount: 32)
    }
}
