import CLibrary

extension LoopbackServer {
    /// A socket connected to the port; nil when nobody listens there.
    static func connection(to port: UInt16) -> Int32? {
        #if canImport(Darwin)
            let descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #else
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #endif
        guard descriptor >= 0 else { return nil }
        prepare(descriptor)
        var address = loopback(port: port)
        let isConnected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                systemConnect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        if isConnected { return descriptor }
        close(descriptor)
        return nil
    }

    /// The next connection of a listener, not passed on to programs that are started.
    static func acceptClosingOnExec(_ listener: Int32) -> Int32 {
        let descriptor = CLibrary.accept(listener, nil, nil)
        if descriptor >= 0 { prepare(descriptor) }
        return descriptor
    }

    /// Sends without SIGPIPE.
    static func systemSend(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
        #if canImport(Darwin)
            CLibrary.send(descriptor, bytes.baseAddress, bytes.count, 0)
        #else
            CLibrary.send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
        #endif
    }

    private static func systemConnect(
        _ descriptor: Int32, _ address: UnsafePointer<sockaddr>, _ length: socklen_t
    ) -> Int32 {
        CLibrary.connect(descriptor, address, length)
    }

    private static func prepare(_ descriptor: Int32) {
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        var one: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
    }
}
