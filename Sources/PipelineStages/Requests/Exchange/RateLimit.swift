import HTTPTypes
import PipelineCore
import PipelineHTTP

/// The ways in which services say that they have counted too many requests, besides 429 (RFC 6585, section 4).
enum RateLimit {
    /// Returns the status by which an answer is judged: 429 for a 403 that asks to wait, or that counts no requests as
    /// left, as GitHub does ("Rate limits for the REST API"). Other credentials would not help. A wait of 0 is none.
    static func judgedStatus(_ status: Int, headers: [(name: String, value: String)]) -> Int {
        guard status == 403 else { return status }
        let isLimit = headers.contains { field in
            let name = field.name.lowercased()
            return name == "retry-after" && field.value != "0"
                || name.hasSuffix("ratelimit-remaining") && field.value == "0"
        }
        return isLimit ? 429 : status
    }

    /// The hint after a refusal that speaks of a limit in what is shown of it; nil for any other answer.
    static func hint(after answer: ServiceResponse, saying message: String) -> String? {
        let start = String(decoding: answer.body.prefix(ShownText.excerptLength), as: UTF8.self)
        guard [401, 403].contains(answer.judgedStatus), isNamed(in: "\(message) \(start)") else { return nil }
        return "it speaks of a limit: where retry.statuses names \(answer.status) it is tried again, and \"limits\" "
            + "sets \"requestsPerSecond\""
    }

    private static let words: Set<String> = ["rate", "rates", "ratelimit", "quota", "quotas", "limit", "limits"]

    /// Returns whether a text speaks of a limit, in words of their own or of a name such as `userRateLimitExceeded`.
    private static func isNamed(in text: String) -> Bool {
        var word = ""
        var followsSmall = false
        for character in text {
            if !character.isLetter || character.isUppercase && followsSmall {
                if words.contains(word.lowercased()) { return true }
                word = ""
            }
            if character.isLetter { word.append(character) }
            followsSmall = character.isLowercase
        }
        return words.contains(word.lowercased())
    }
}

extension RetryPolicy {
    /// Returns whether it names the status of an answer, or the one by which that is judged.
    func names(_ response: HTTPExchangeResponse) -> Bool {
        statuses.contains(response.status) || statuses.contains(response.judgedStatus)
    }
}

extension HTTPExchangeResponse {
    /// The status by which it is judged.
    var judgedStatus: Int {
        RateLimit.judgedStatus(status, headers: headers.map { ($0.name.rawName, $0.value) })
    }

    /// The response with its ``judgedStatus``, for those who know statuses alone, such as protocols of uploads.
    var judged: HTTPExchangeResponse {
        var response = self
        response.status = judgedStatus
        return response
    }
}

extension ServiceResponse {
    /// The status by which it is judged.
    var judgedStatus: Int { RateLimit.judgedStatus(status, headers: headers) }
}
