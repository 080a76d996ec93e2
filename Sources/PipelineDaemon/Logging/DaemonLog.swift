import Logging
import PipelineCore

/// The lines that the background owner writes for a person who looks why something happened: one line an event, which
/// the service manager or the starter keeps.
///
/// A program of one's own that has called `LoggingSystem.bootstrap` gets the events there; else they are lines on
/// standard error.
struct DaemonLog: Sendable {
    private let logger: Logger

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

    /// Says something of the owner itself, or of a job and one of its steps.
    func note(_ text: String, level: Logger.Level = .info, job: JobID? = nil, step: StepKey? = nil) {
        var fields: Logger.Metadata = [:]
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
