#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A thread for work that blocks: never one of the pool that Swift's tasks share.
package enum OwnThread {
    private final class Body {
        let run: @Sendable () -> Void
        init(run: @escaping @Sendable () -> Void) { self.run = run }
    }

    /// Runs the body on a new detached thread on which SIGPIPE is blocked: OpenSSL writes to closed sockets.
    package static func start(_ run: @escaping @Sendable () -> Void) {
        let context = Unmanaged.passRetained(Body(run: run)).toOpaque()
        #if canImport(Darwin)
            var thread: pthread_t?
            let code = pthread_create(&thread, nil, { OwnThread.main($0) }, context)
            if code == 0, let thread { pthread_detach(thread) }
        #else
            var thread = pthread_t()
            let code = pthread_create(&thread, nil, { OwnThread.main($0!) }, context)
            if code == 0 { pthread_detach(thread) }
        #endif
        precondition(code == 0, "the system can't start a thread")
    }

    private static func main(_ context: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGPIPE)
        pthread_sigmask(SIG_BLOCK, &signals, nil)
        Unmanaged<Body>.fromOpaque(context).takeRetainedValue().run()
        return nil
    }
}
