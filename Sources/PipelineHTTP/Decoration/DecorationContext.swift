internal import Crypto

/// The facts that a decorator may know besides the request: no clock and no randomness but these.
public struct DecorationContext: Sendable {
    /// The key that stays over retries and restarts of one logical request; empty when there is none.
    public var key: String
    /// From 1; grows with each try of the same logical request.
    public var attempt: Int
    /// The time since 1 January 1970 UTC.
    public var time: @Sendable () -> Duration
    /// That many random bytes.
    public var randomBytes: @Sendable (Int) -> [UInt8]
    /// Gives what nobody knows who could put a boundary into what a form carries, the same over restarts; empty for none.
    package var boundarySalt: @Sendable () -> String = { "" }

    /// Makes what decorators read besides the request.
    ///
    /// - Parameters:
    ///   - key: a key by which a service knows repetitions; one and the same for all attempts.
    ///   - attempt: the number of the attempt, from 1.
    ///   - time: gives the time since 1970.
    ///   - randomBytes: gives that many random bytes.
    public init(
        key: String = "",
        attempt: Int = 1,
        time: @escaping @Sendable () -> Duration = DecorationContext.systemTime,
        randomBytes: @escaping @Sendable (Int) -> [UInt8] = DecorationContext.systemRandomBytes
    ) {
        self.key = key
        self.attempt = attempt
        self.time = time
        self.randomBytes = randomBytes
    }

    /// Lower-case hexadecimal digits, two for each random byte.
    public func randomHex(bytes count: Int) -> String {
        randomBytes(count).hex
    }

    /// The boundary of a form: under a key the same for all attempts, since a service may compare the bytes that come
    /// again under it; random without a key.
    package var boundary: String {
        guard !key.isEmpty else { return "pipeline-\(randomHex(bytes: 16))" }
        let name = "pipeline-boundary\n\(boundarySalt())\n\(key)"
        return "pipeline-\(SHA256.hash(data: Array(name.utf8)).hex.prefix(32))"
    }

    /// The machine's random number generator.
    public static let systemRandomBytes: @Sendable (Int) -> [UInt8] = { count in
        (0..<count).map { _ in UInt8.random(in: .min ... .max) }
    }

    /// The machine's clock.
    public static let systemTime: @Sendable () -> Duration = { MachineClock.sinceEpoch() }
}
