/// The level of what the background owner logs: all that is at least as important.
package enum LogLevel: String, Sendable, CaseIterable {
    case trace, debug, info, notice, warning, error, critical
}
