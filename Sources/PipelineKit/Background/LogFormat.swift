/// The form of a line of the background owner's log.
package enum LogFormat: String, Sendable, CaseIterable {
    /// `time=… level=info msg="…" job=…` (https://brandur.org/logfmt).
    case logfmt
    /// An object with the members `time`, `level`, `msg`, and the fields.
    case json
}
