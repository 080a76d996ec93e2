/// A user and a password (RFC 7617, in UTF-8).
public struct Basic: CredentialDecorator {
    private let user: String
    private let password: String

    /// A user and a password (RFC 7617).
    public init(user: String, password: String) {
        self.user = user
        self.password = password
    }

    public var phase: DecorationPhase { .credentials }
    public var account: String { "\(user):\(password)" }

    public func decorate(_ request: inout RequestDescription, in context: DecorationContext) throws(RequestFailure) {
        guard !user.contains(":") else { throw RequestFailure("a user name can't contain a colon (RFC 7617)") }
        guard request.claimCredentials() else { return }
        try request.setCredentialHeader("Authorization", to: Self.value(user: user, password: password))
    }

    /// The field's value for people who want to see what goes into it.
    package var described: String { "Basic ‹base64 of \(user):\(password)›" }

    static func value(user: String, password: String) -> String {
        "Basic \(base64(Array("\(user):\(password)".utf8)))"
    }

    static func base64(_ bytes: [UInt8]) -> String {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        var text: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let bits = group.reduce(0) { $0 << 8 | UInt32($1) } << (8 * (3 - UInt32(group.count)))
            for place in 0..<4 {
                let isPadding = place > group.count
                text.append(isPadding ? UInt8(ascii: "=") : alphabet[Int(bits >> (18 - 6 * UInt32(place)) & 63)])
            }
        }
        return String(decoding: text, as: UTF8.self)
    }
}
