import CLibrary

/// A thread for work that blocks: never one of the pool that Swift's tasks share.
package enum OwnThread {
    private final class Body {
        let run: @Sendable () -> Void
        init(run: @escaping @Sendable () -> Void) { self.run = run }
    }

    /// Runs the body on a new detached thread on which SIGPIPE is blocked, for OpenSSL writes to closed sockets, and on
    /// which text is UTF-8: libcurl reads the host of a URL in the thread's locale when it turns it into ASCII (RFC 5891).
    ///
    /// - Returns: false when the system can't start one now (EAGAIN, pthread_create(3)); then the body is not run.
    package static func start(_ run: @escaping @Sendable () -> Void) -> Bool {
        let body = Unmanaged.passRetained(Body(run: run))
        let context = body.toOpaque()
        #if canImport(Darwin)
            var thread: pthread_t?
            let code = pthread_create(&thread, nil, { OwnThread.main($0) }, context)
            if code == 0, let thread { pthread_detach(thread) }
        #else
            var thread = pthread_t()
            let code = pthread_create(&thread, nil, { OwnThread.main($0!) }, context)
            if code == 0 { pthread_detach(thread) }
        #endif
        if code != 0 { body.release() }
        return code == 0
    }

    /// The locale whose text is UTF-8 and whose other ways are those of C; nil where the system has none. Never freed.
    nonisolated(unsafe) private static let text = newlocale(LC_CTYPE_MASK, "C.UTF-8", nil)

    private static func main(_ context: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGPIPE)
        pthread_sigmask(SIG_BLOCK, &signals, nil)
        if let text { uselocale(text) }
        Unmanaged<Body>.fromOpaque(context).takeRetainedValue().run()
        return nil
    }
}
