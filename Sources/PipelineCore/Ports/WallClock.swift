public import JSONPath

/// The time of day, and waiting for one. Virtual in tests.
public protocol WallClock: Sendable {
    /// The time now.
    var now: Timestamp { get }
    /// Returns when the time has come, also when it came while the machine slept; at once when it is past.
    func sleep(until time: Timestamp) async throws(CancellationError)
}

/// A source of random numbers: seeded in tests.
public protocol Randomness: Sendable {
    /// 64 uniform bits.
    func bits() -> UInt64
}

extension Randomness {
    /// Uniform in 0..<1.
    public func unit() -> Double { Double(bits() >> 11) * 0x1p-53 }
}

/// Where secrets come from.
public protocol SecretSource: Sendable {
    /// The value of a secret; nil when no source has it.
    func secret(_ name: String) async -> String?
}

/// What expressions ask of files, and digests that need a key.
public protocol FileFacts: Sendable {
    /// The value of a fact about a file, as ``Fact`` says; throws one sentence and a hint.
    func value(of fact: Fact) async throws(StepFailure) -> JSON
    /// What tells one state of the file from another without reading it; nil when that can't be told.
    func fingerprint(ofFileAt path: String) -> String?
}

extension FileFacts {
    public func fingerprint(ofFileAt path: String) -> String? { nil }
}

/// Where named points of the program report that they were passed; a crash test's dies there.
public protocol CrashProbe: Sendable {
    func pass(_ point: CrashPoint)
}
