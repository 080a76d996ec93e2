/// Closes bytes so that only who knows a secret can open them.
///
/// The same bytes under the same secret give the same result, so that values that are equal stay equal.
package protocol SecretSeal: Sendable {
    func seal(_ bytes: [UInt8], under secret: String) -> [UInt8]

    /// Returns what was sealed; nil when it was sealed under another secret, or by nobody.
    func unseal(_ sealed: [UInt8], under secret: String) -> [UInt8]?
}
