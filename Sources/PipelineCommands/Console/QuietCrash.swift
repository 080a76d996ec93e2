import CLibrary

/// The traces that a crash of the program leaves: nothing that could hold a secret.
///
/// The memory of a job has secrets in plain. A core dump would write it to disk, and the Swift runtime's backtrace
/// prints registers and the memory that they point to.
enum QuietCrash {
    /// Turns both off. Whoever wants a backtrace all the same sets `SWIFT_BACKTRACE`.
    static func arrange(environment: [String: String]) {
        guard environment["SWIFT_BACKTRACE"] == nil else { return }
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
        for number in [SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTRAP, SIGQUIT] { signal(number, SIG_DFL) }
    }
}
