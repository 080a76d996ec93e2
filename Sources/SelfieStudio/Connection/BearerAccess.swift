import Crypto
import HTTPTypes

/// Compares bearer tokens (RFC 6750 §2.1) without telling by the time taken how much of one was right.
struct BearerAccess: Sendable {
    private let expected: SHA256.Digest

    init(token: String) {
        expected = SHA256.hash(data: Array(token.utf8))
    }

    func admits(_ request: HTTPRequest) -> Bool {
        guard let field = request.headerFields[.authorization] else { return false }
        let words = field.split(separator: " ", maxSplits: 1)
        guard words.count == 2, words[0].lowercased() == "bearer" else { return false }
        return SHA256.hash(data: Array(words[1].trimmingSpaces.utf8)) == expected
    }
}
