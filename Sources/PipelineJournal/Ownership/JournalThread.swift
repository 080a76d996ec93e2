import CLibrary

/// A thread of our own for work that blocks: Swift's pool has too few to lend one out.
enum JournalThread {
    /// Starts a detached thread that ends with the body; false when the system gives none.
    static func start(_ body: @escaping @Sendable () -> Void) -> Bool {
        let box = Unmanaged.passRetained(Body(body))
        #if canImport(Glibc)
            var thread = pthread_t()
        #else
            var thread: pthread_t?
        #endif
        let code = pthread_create(&thread, nil, threadBody, box.toOpaque())
        guard code == 0 else {
            box.release()
            return false
        }
        #if canImport(Glibc)
            pthread_detach(thread)
        #else
            if let thread { pthread_detach(thread) }
        #endif
        return true
    }

    fileprivate final class Body: Sendable {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }
}

#if canImport(Glibc)
    private func threadBody(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
        guard let argument else { return nil }
        Unmanaged<JournalThread.Body>.fromOpaque(argument).takeRetainedValue().run()
        return nil
    }
#else
    private func threadBody(_ argument: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
        Unmanaged<JournalThread.Body>.fromOpaque(argument).takeRetainedValue().run()
        return nil
    }
#endif
