import Crypto
import FoundationEssentials
import PipelineCore
import PipelineKit
import PipelineServer

/// The way in which a callback proves itself, with the secrets filled in: a pure judgement, comparisons in constant
/// time.
enum CallbackAuthenticator: Sendable {
    case standardWebhooks(secret: String)
    case token(value: String, header: String?, query: String?)
    case signature(CallbackSignature, secret: String, isTimestamped: Bool)

    /// The time by which a callback's time may lie apart from ours, in seconds: older ones may be replays (Standard
    /// Webhooks 1.0.0, "Verifying the timestamp").
    static let window: Int64 = 300

    /// Returns whether the push is genuine and fresh; `now` is in seconds since 1970.
    func accepts(_ push: IncomingRequest, now: Int64) -> Bool {
        switch self {
        case .standardWebhooks(let secret): Self.isStandard(push, secret, now)
        case .token(let value, let header, let query): Self.brings(push, value, header, query)
        case .signature(let definition, let secret, let isTimestamped):
            Self.isSigned(push, definition, secret, isTimestamped ? now : nil)
        }
    }

    // MARK: Standard Webhooks

    private static func isStandard(_ push: IncomingRequest, _ secret: String, _ now: Int64) -> Bool {
        guard let id = push.value("webhook-id"), let time = push.value("webhook-timestamp"),
            let signatures = push.value("webhook-signature"), isFresh(time, now)
        else { return false }
        return StandardWebhook(secret: secret).accepts(signatures, id: id, time: time, body: push.body)
    }

    private static func isFresh(_ seconds: String, _ now: Int64) -> Bool {
        guard let time = Int64(seconds) else { return false }
        let (difference, overflow) = now.subtractingReportingOverflow(time)
        return !overflow && difference.magnitude <= UInt64(window)
    }

    // MARK: Tokens

    private static func brings(_ push: IncomingRequest, _ value: String, _ header: String?, _ query: String?) -> Bool {
        let given: String?
        if let query {
            let found = PercentEncoding.formPairs(push.query).filter { $0.name == query }
            given = found.count == 1 ? found[0].value : nil
        } else if let header {
            given = push.value(header)
        } else {
            let prefix = "bearer "
            let text = push.value("Authorization") ?? ""
            given = text.lowercased().hasPrefix(prefix) ? String(text.dropFirst(prefix.count)) : nil
        }
        guard let given, !value.isEmpty else { return false }
        return SecretText.isSame(given, as: value)
    }

    // MARK: Keyed hashes

    /// - Parameter now: the time that a header with a time is held against; nil for one without.
    private static func isSigned(
        _ push: IncomingRequest, _ definition: CallbackSignature, _ secret: String, _ now: Int64?
    ) -> Bool {
        guard let header = push.value(definition.header), !secret.isEmpty else { return false }
        let key = SymmetricKey(data: Data(secret.utf8))
        guard let now else {
            let prefix = "\(definition.algorithm.rawValue)="
            let text = header.hasPrefix(prefix) ? String(header.dropFirst(prefix.count)) : header
            return isCode(text, of: push.body, definition, key)
        }
        let parts = header.split(separator: ",").map { $0.split(separator: "=", maxSplits: 1) }.filter { $0.count == 2 }
        let times = parts.filter { trimmed($0[0]) == "t" }
        guard times.count == 1, isFresh(trimmed(times[0][1]), now) else { return false }
        let signed = Array("\(trimmed(times[0][1])).".utf8) + push.body
        return parts.contains { trimmed($0[0]) == "v1" && isCode(trimmed($0[1]), of: signed, definition, key) }
    }

    private static func trimmed(_ text: Substring) -> String { String(text.drop { $0 == " " }) }

    private static func isCode(
        _ text: String, of bytes: [UInt8], _ definition: CallbackSignature, _ key: SymmetricKey
    ) -> Bool {
        let code: Data? =
            switch definition.encoding {
            case .hex: Hex.bytes(text.utf8).map { Data($0) }
            case .base64: Data(base64Encoded: text)
            }
        guard let code else { return false }
        return switch definition.algorithm {
        case .sha256: HMAC<SHA256>.isValidAuthenticationCode(code, authenticating: bytes, using: key)
        case .sha1: HMAC<Insecure.SHA1>.isValidAuthenticationCode(code, authenticating: bytes, using: key)
        case .sha512: HMAC<SHA512>.isValidAuthenticationCode(code, authenticating: bytes, using: key)
        }
    }
}
