/// The ids of a job's trace, made from the job alone: every process that ever has the job makes the same.
package struct TraceIdentity: Sendable, Hashable {
    private let job: JobID

    package init(_ job: JobID) { self.job = job }

    /// 32 hex digits.
    package var traceID: String { String(SHA256Text.hex(of: "pipeline trace\n\(job.text)").prefix(32)) }

    /// 16 hex digits, of one span of the job by its path.
    package func spanID(_ path: String) -> String {
        String(SHA256Text.hex(of: "pipeline span\n\(job.text)\n\(path)").prefix(16))
    }

    /// The span of the job as a whole; `run` counts how often it was taken up again after its end, from 1.
    package func jobSpan(run: Int = 1) -> String { spanID("job\(Self.suffix(run))") }

    /// The span of a step; `run` counts how often it was begun again, from 1.
    package func stepSpan(_ step: StepKey, run: Int = 1) -> String {
        spanID("step/\(step.stage)/\(step.item.map { "\($0)" } ?? "")\(Self.suffix(run))")
    }

    private static func suffix(_ run: Int) -> String { run > 1 ? "#\(run)" : "" }

    /// The `traceparent` of all requests of a step (https://www.w3.org/TR/trace-context/#traceparent-header): the same
    /// over all its attempts, so that one submit that is sent again says the same.
    package func parent(_ step: StepKey) -> String { "00-\(traceID)-\(stepSpan(step))-01" }
}

/// The trace and the span that a program was started in: what `TRACEPARENT` says.
package struct TraceLink: Sendable, Hashable {
    /// 32 and 16 hex digits.
    package let traceID: String
    package let spanID: String

    /// Reads a `traceparent`; nil for what is none (https://www.w3.org/TR/trace-context/#traceparent-header).
    package init?(_ text: String) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false).map(String.init)
        guard parts.count >= 4, parts[0].count == 2, parts[0] != "ff", parts[1].count == 32, parts[2].count == 16,
            parts[0...2].joined().utf8.allSatisfy({ (48...57).contains($0) || (97...102).contains($0) }),
            parts[1].contains(where: { $0 != "0" }), parts[2].contains(where: { $0 != "0" })
        else { return nil }
        (traceID, spanID) = (parts[1], parts[2])
    }

    /// The form that the initializer reads.
    package var text: String { "00-\(traceID)-\(spanID)-01" }
}

/// The place up to which the spans of a job were exported.
package struct TraceCursor: Sendable, Hashable {
    /// The number of the last event whose span a collector has.
    package var sequence: Int
    /// The span from which the job was started.
    package var link: TraceLink?
    /// True if the job has ended and nothing of it is left to export.
    package var isWhole: Bool

    package init(sequence: Int = 0, link: TraceLink? = nil, isWhole: Bool = false) {
        self.sequence = sequence
        self.link = link
        self.isWhole = isWhole
    }
}

/// A journal that remembers how far jobs were exported.
package protocol TraceJournal: Sendable {
    /// Returns how far the job was exported; nil where it never was.
    func traceCursor(of job: JobID) async throws(JournalFailure) -> TraceCursor?
    /// Keeps how far the job was exported; of a job that is gone nothing.
    func keep(_ cursor: TraceCursor, of job: JobID) async throws(JournalFailure)
    /// The jobs of which something may be left to export, oldest first.
    func openTraces(limit: Int) async throws(JournalFailure) -> [JobID]
}
