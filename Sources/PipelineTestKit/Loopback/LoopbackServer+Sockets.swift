import CLibrary

extension LoopbackServer {
    /// A listening socket on a free port of 127.0.0.1.
    static func listen(backlog: Int32 = 4096) throws(SocketError) -> (descriptor: Int32, port: UInt16) {
        let descriptor = streamSocket()
        guard descriptor >= 0 else { throw SocketError(code: errno) }
        var address = loopback(port: 0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isReady = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) == 0 && systemListen(descriptor, backlog) == 0
                    && getsockname(descriptor, $0, &length) == 0
            }
        }
        guard isReady else {
            defer { close(descriptor) }
            throw SocketError(code: errno)
        }
        return (descriptor, UInt16(bigEndian: address.sin_port))
    }

    /// A port on which nothing listens: it was free a moment ago.
    package static func unusedPort() throws(SocketError) -> UInt16 {
        let (descriptor, port) = try listen()
        close(descriptor)
        return port
    }

    static func startThread(_ body: @escaping @Sendable () -> Void) {
        let context = Unmanaged.passRetained(ThreadBody(body)).toOpaque()
        #if canImport(Darwin)
            var thread: pthread_t?
            pthread_create(&thread, nil, { ThreadBody.run($0) }, context)
            if let thread { pthread_detach(thread) }
        #else
            var thread = pthread_t()
            pthread_create(&thread, nil, { ThreadBody.run($0!) }, context)
            pthread_detach(thread)
        #endif
    }

    /// A connection that has begun; -1 without one.
    static func connectWithoutWaiting(to port: UInt16) -> Int32 {
        let descriptor = streamSocket()
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        var address = loopback(port: port)
        withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                _ = connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        return descriptor
    }

    private static func streamSocket() -> Int32 {
        #if canImport(Darwin)
            let kind = SOCK_STREAM
        #else
            let kind = Int32(SOCK_STREAM.rawValue)
        #endif
        let descriptor = socket(AF_INET, kind, 0)
        if descriptor >= 0 { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
        return descriptor
    }

    static func loopback(port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        address.sin_port = port.bigEndian
        return address
    }

    private static func systemListen(_ descriptor: Int32, _ backlog: Int32) -> Int32 {
        CLibrary.listen(descriptor, backlog)
    }
}

private final class ThreadBody {
    let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) {
        self.body = body
    }

    static func run(_ context: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
        Unmanaged<ThreadBody>.fromOpaque(context).takeRetainedValue().body()
        return nil
    }
}
