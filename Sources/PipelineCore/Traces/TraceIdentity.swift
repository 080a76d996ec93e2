/// The ids of a job's trace, made from the job alone: every process that ever has the job makes the same.
public struct TraceIdentity: Sendable, Hashable {
    private let job: JobID

    public init(_ job: JobID) { self.job = job }

    /// 32 hex digits.
    public var traceID: String { String(SHA256Text.hex(of: "pipeline trace\n\(job.text)").prefix(32)) }

    /// 16 hex digits, of one span of the job by its path.
    public func spanID(_ path: String) -> String {
        String(SHA256Text.hex(of: "pipeline span\n\(job.text)\n\(path)").prefix(16))
    }

    /// The span of the job as a whole; `run` counts how often it was taken up again after its end, from 1.
    public func jobSpan(run: Int = 1) -> String { spanID("job\(Self.suffix(run))") }

    /// The span of a step; `run` counts how often it was begun again, from 1.
    public func stepSpan(_ step: StepKey, run: Int = 1) -> String {
        spanID("step/\(step.stage)/\(step.item.map { "\($0)" } ?? "")\(Self.suffix(run))")
    }

    private static func suffix(_ run: Int) -> String { run > 1 ? "#\(run)" : "" }

    /// The `traceparent` of all requests of a step (https://www.w3.org/TR/trace-context/#traceparent-header): the same
    /// over all its attempts, so that one submit that is sent again says the same.
    public func parent(_ step: StepKey) -> String { "00-\(traceID)-\(stepSpan(step))-01" }
}

/// The trace and the span that a program was started in: what `TRACEPARENT` says.
public struct TraceLink: Sendable, Hashable {
    /// 32 and 16 hex digits.
    public let traceID: String
    public let spanID: String

    /// Reads a `traceparent`; nil for what is none (https://www.w3.org/TR/trace-context/#traceparent-header).
    public init?(_ text: String) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false).map(String.init)
        guard parts.count >= 4, parts[0].count == 2, parts[0] != "ff", parts[1].count == 32, parts[2].count == 16,
            parts[0...2].joined().utf8.allSatisfy({ (48...57).contains($0) || (97...102).contains($0) }),
            parts[1].contains(where: { $0 != "0" }), parts[2].contains(where: { $0 != "0" })
        else { return nil }
        (traceID, spanID) = (parts[1], parts[2])
    }

    /// The form that the initializer reads.
    public var text: String { "00-\(traceID)-\(spanID)-01" }
}

/// How far the spans of a job were exported.
public struct TraceCursor: Sendable, Hashable {
    /// The number of the last event whose span a collector has.
    public var sequence: Int
    /// What the job was started from.
    public var link: TraceLink?
    /// Whether the job has ended and nothing of it is left to export.
    public var isWhole: Bool

    public init(sequence: Int = 0, link: TraceLink? = nil, isWhole: Bool = false) {
        self.sequence = sequence
        self.link = link
        self.isWhole = isWhole
    }
}

/// A journal that remembers how far jobs were exported.
public protocol TraceJournal: Sendable {
    /// How far the job was exported; nil where it never was.
    func traceCursor(of job: JobID) async throws(JournalFailure) -> TraceCursor?
    /// Keeps how far the job was exported; of a job that is gone nothing.
    func keep(_ cursor: TraceCursor, of job: JobID) async throws(JournalFailure)
    /// The jobs of which something may be left to export, oldest first.
    func openTraces(limit: Int) async throws(JournalFailure) -> [JobID]
}

extension TraceJournal {
    /// Nil, of a journal that remembers nothing.
    public func traceCursor(of job: JobID) async throws(JournalFailure) -> TraceCursor? { nil }
    /// Keeps nothing.
    public func keep(_ cursor: TraceCursor, of job: JobID) async throws(JournalFailure) {}
    /// None.
    public func openTraces(limit: Int) async throws(JournalFailure) -> [JobID] { [] }
}
