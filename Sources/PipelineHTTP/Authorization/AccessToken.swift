import FoundationEssentials

/// A token that an endpoint gave, in memory only.
struct AccessToken: Sendable {
    let text: String
    /// Times since 1 January 1970 UTC: until when the token is good, and from when on another one is asked for. Nil
    /// while nothing but a refusal can tell.
    let expiry: Duration?
    let renewal: Duration?
    /// The refresh token that takes the place of the one that was sent.
    let rotated: String?

    /// Returns whether it is to be given out: it is not the one that a service did not take, and not near its end.
    func serves(insteadOf refused: String?, now: Duration) -> Bool {
        text != refused && renewal.map { now < $0 } ?? true
    }

    /// A token that was signed here.
    init(signed text: String, obtained: Duration, lifetime: Duration) {
        self.text = text
        rotated = nil
        expiry = obtained + lifetime
        renewal = obtained + lifetime - min(lifetime / 5, .seconds(60))
    }

    /// The token of an answer. The last fifth of its life, at most a minute, is left unused: clocks differ, and the
    /// requests that it is put into take their time.
    init(_ answer: TokenAnswer, obtained: Duration) {
        text = answer.access_token
        rotated = answer.refresh_token
        // A hundred years: an endpoint may say any number, and clocks can't hold every one.
        let longest = 36_525.0 * 86_400
        let life = answer.expires_in.map { Duration.seconds(max(0, min(longest, $0.value))) }
        expiry = life.map { obtained + $0 }
        renewal = life.map { obtained + $0 - min($0 / 5, .seconds(60)) }
    }
}

/// The response of an endpoint (RFC 6749, section 5.1), as far as it matters.
struct TokenAnswer: Model {
    let access_token: String
    let refresh_token: String?
    let expires_in: Seconds?

    /// A number that some servers send as a string.
    struct Seconds: Codable, Sendable {
        let value: Double

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let number = try? container.decode(Double.self) {
                value = number
            } else {
                value = Double(try container.decode(String.self)) ?? 0
            }
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(value)
        }
    }
}

/// The response of an endpoint that refuses (RFC 6749, section 5.2).
struct TokenRefusal: Model {
    let error: String?
    let error_description: String?

    /// True for what the codes of RFC 6749, section 4.1.2.1, call a passing trouble of the server: some endpoints send
    /// them with status 400.
    var isPassing: Bool { error == "temporarily_unavailable" || error == "server_error" }
}
