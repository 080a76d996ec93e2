import CLibrary

/// Tells threads apart.
enum ThreadName {
    /// The calling thread's.
    static var current: UInt {
        #if canImport(Glibc)
            pthread_self()
        #else
            UInt(bitPattern: pthread_self())
        #endif
    }
}
