package import JSONPath

/// The time of day, the time that passes, and waiting. Virtual in tests.
package protocol WallClock: Sendable {
    /// The time of day now: it jumps when somebody sets the clock.
    var now: Timestamp { get }
    /// The time that has passed since some moment before this process began, also while the machine slept. No setting of
    /// the clock changes it.
    var elapsed: Duration { get }
    /// Returns when the time has come, or when as long has passed as was left until then, whichever is first: a clock that
    /// is set back makes nobody wait longer. At once when the time is past.
    func sleep(until time: Timestamp) async throws(CancellationError)
}

extension WallClock {
    /// Both times at one moment. A thread that was held up between the two reads them again.
    package var reading: ClockReading {
        for _ in 0..<3 {
            let before = elapsed
            let reading = ClockReading(time: now, elapsed: before)
            if elapsed - before < .milliseconds(100) { return reading }
        }
        return ClockReading(time: now, elapsed: elapsed)
    }
}

/// The reading of a clock at one moment: the time of day, and the time that has passed.
package struct ClockReading: Sendable, Hashable {
    package let time: Timestamp
    package let elapsed: Duration

    package init(time: Timestamp, elapsed: Duration) {
        self.time = time
        self.elapsed = elapsed
    }

    /// By how much the clock was set since an earlier reading, negative when it was set back; nil for less than a second,
    /// which time servers correct all the time.
    package func shift(since earlier: ClockReading) -> Duration? {
        let shift = (time - earlier.time) - (elapsed - earlier.elapsed)
        return shift >= .seconds(1) || shift <= .seconds(-1) ? shift : nil
    }

    /// Returns how long a wait that began at this reading still lasts: until the time has come, or as long has passed
    /// as was left then.
    package func left(until end: Timestamp, at reading: ClockReading) -> Duration {
        min(end - reading.time, (end - time) - (reading.elapsed - elapsed))
    }
}

/// A source of random numbers: seeded in tests.
package protocol Randomness: Sendable {
    /// 64 uniform bits.
    func bits() -> UInt64
}

extension Randomness {
    /// Uniform in 0..<1.
    package func unit() -> Double { Double(bits() >> 11) * 0x1p-53 }
}

/// The source of secrets.
package protocol SecretSource: Sendable {
    /// The value of a secret; nil when no source has it.
    func secret(_ name: String) async -> String?
    /// The value of a secret as it is by now, when a service has refused the one that is known.
    func renewed(_ name: String) async -> String?
    /// The name of who has these secrets, where others that work on the same jobs may have more; nil where all have the same.
    var holder: String? { get }
}

extension SecretSource {
    package var holder: String? { nil }

    /// For sources that look at each question.
    package func renewed(_ name: String) async -> String? { await secret(name) }
}

/// The answers to what expressions ask of files, and digests that need a key.
package protocol FileFacts: Sendable {
    /// The value of a fact about a file, as ``Fact`` says; throws one sentence and a hint.
    func value(of fact: Fact) async throws(StepFailure) -> JSON
    /// Returns what tells one state of the file from another without reading it; nil when that can't be told.
    func fingerprint(ofFileAt path: String) -> String?
    /// Returns what tells the content of a file from another one's, on any machine; nil when it can't be read.
    func contentDigest(ofFileAt path: String) async -> String?
    /// Removes a local copy of an input that is a URL.
    func forget(copyAt path: String)
    /// Returns whether a file that was written is not on this machine.
    func lacks(fileAt path: String) -> Bool
    /// Returns what tells the file from another one at its path on another machine, the same on all that share it; nil where
    /// no other machine takes jobs over, or it can't be looked at.
    func sharedFingerprint(ofFileAt path: String) -> String?
    /// The absolute path of a local copy of an input that is a URL, fetched now unless it is there. It goes on where an
    /// earlier call was interrupted, and the copy is verified as a download is.
    ///
    /// - Parameters:
    ///   - url: the value of one of the job's inputs.
    ///   - document: the job's, whose services may give the request their credentials.
    ///   - host: of the step that reads it.
    func copy(
        of url: String, for document: PipelineDefinition, host: any StageHost
    ) async throws(StageFailure) -> String
}

extension FileFacts {
    package func copy(
        of url: String, for document: PipelineDefinition, host: any StageHost
    ) async throws(StageFailure) -> String {
        throw .definite(StepFailure("nothing here fetches \(url)", hint: "give a file", place: host.facts.place))
    }

    package func fingerprint(ofFileAt path: String) -> String? { nil }
    package func contentDigest(ofFileAt path: String) async -> String? { nil }
    package func forget(copyAt path: String) {}
    package func lacks(fileAt path: String) -> Bool { false }
    package func sharedFingerprint(ofFileAt path: String) -> String? { nil }
}

/// The probe to which named points of the program report that they were passed; a crash test's dies there.
package protocol CrashProbe: Sendable {
    func pass(_ point: CrashPoint)
}
