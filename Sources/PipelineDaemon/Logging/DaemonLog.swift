import JSONPath
import Logging
import PipelineCore
import PipelineKit

/// The lines that the background owner writes for a person who looks why something happened: one line an event, which
/// the service manager or the starter keeps.
///
/// A program of one's own that has called `LoggingSystem.bootstrap` gets the events there; else they are lines on
/// standard error.
struct DaemonLog: Sendable {
    private var logger: Logger

    /// - Parameter level: what is less important is not said.
    init(clock: any WallClock, format: LogFormat = .logfmt, level: Logger.Level = .info) {
        let ambient = Logger(label: "pipeline")
        // What it is as long as nobody has chosen another.
        guard ambient.handler is StreamLogHandler else {
            logger = ambient
            return
        }
        var own = Logger(label: "pipeline") { _ in LineLogHandler(clock: clock, format: format) }
        own.logLevel = level
        logger = own
    }

    /// Returns the same log, each line of it with the worker's name.
    func of(worker: String) -> DaemonLog {
        var log = self
        log.logger[metadataKey: "worker"] = "\(worker)"
        return log
    }

    /// Says what happened to a job, as its events do.
    func record(_ event: JobEvent) {
        let level: Logger.Level = event.trouble == nil ? event.kind.level : .warning
        guard level >= logger.logLevel else { return }
        var fields: Logger.Metadata = ["event": "\(event.kind.rawValue)"]
        if let attempt = event.attempt { fields["attempt"] = "\(attempt)" }
        for member in event.data where !member.value.isNull {
            switch member.value {
            case .string(let text): fields[member.name] = "\(text)"
            case .object(let error): fields[member.name] = (error["title"]?.string).map { "\($0)" }
            default: fields[member.name] = "\(member.value.text)"
            }
        }
        log(event.logText, level, event.job, event.step, fields)
    }

    /// Says something of the owner itself, or of a job and one of its steps.
    func note(_ text: String, level: Logger.Level = .info, job: JobID? = nil, step: StepKey? = nil) {
        log(text, level, job, step, [:])
    }

    private func log(
        _ text: String, _ level: Logger.Level, _ job: JobID?, _ step: StepKey?, _ more: Logger.Metadata
    ) {
        var fields = more
        if let job {
            fields["job"] = "\(job)"
            fields["trace"] = "\(TraceIdentity(job).traceID)"
        }
        if let step {
            fields["stage"] = "\(step.stage)"
            if let item = step.item { fields["item"] = "\(item)" }
        }
        logger.log(level: level, "\(text)", metadata: fields.isEmpty ? nil : fields)
    }
}

extension JobEvent.Kind {
    /// How important it is: a failure is a warning, the end of a job is told, its steps where one looks closely.
    fileprivate var level: Logger.Level {
        switch self {
        case .jobFailed, .stageFailed, .stageUnknown, .stageWarned: .warning
        case .jobSucceeded, .jobCancelled, .jobSuspended: .info
        case .jobStarted, .jobResumed, .stageStarted, .stageWaiting, .stageResumed, .stageSucceeded, .stageCancelled,
            .stageSkipped, .attemptFailed, .resumeDeferred, .notificationSent:
            .debug
        case .transferProgress, .estimateChanged: .trace
        }
    }
}

extension JobEvent {
    /// The event in words: `job X failed: …`, `stage a started`, `stage a: attempt failed: …`.
    fileprivate var logText: String {
        let words = kind.rawValue.split(separator: ".").joined(separator: " ")
        let subject: String
        switch (step, words.hasPrefix("stage ")) {
        case (let step?, true): subject = "stage \(step) \(words.dropFirst(6))"
        case (let step?, false): subject = "stage \(step): \(words)"
        case (nil, _) where words.hasPrefix("job "): subject = "job \(job) \(words.dropFirst(4))"
        case (nil, _): subject = "job \(job): \(words)"
        }
        let detail =
            data["error"]?["title"] ?? data["message"] ?? data["cause"] ?? (trouble == nil ? nil : data["detail"])
        return subject + (detail?.string.map { ": \($0)" } ?? "")
    }
}
