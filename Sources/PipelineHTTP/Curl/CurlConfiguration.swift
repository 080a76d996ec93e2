/// The settings for all exchanges of one ``CurlTransport``.
public struct CurlConfiguration: Sendable {
    /// Sent as `User-Agent` when a request has none.
    public var userAgent: String
    /// Exchanges at a time; further ones wait for their turn. Each costs a file descriptor for its connection.
    public var maximumConnections: Int
    /// Exchanges at a time with one origin; 0 for no limit of its own.
    public var maximumConnectionsPerOrigin: Int
    /// Size of one read from the network for bodies that go to a file: larger than curl's own, for less CPU time. More than
    /// four such exchanges at a time share what four would have, down to 128 KiB each.
    public var receiveBufferBytes: Int
    /// Size of one write to the network for large bodies, up to 2 MiB; shared likewise.
    ///
    /// It saves system calls (two thirds of curl's), and little time: four fifths of what sending a file costs are the
    /// kernel's two copies of each byte, out of the file and into the socket. Buffers from 64 KiB to 2 MiB, send buffers
    /// from 256 KiB to 4 MiB and a file that is mapped instead of read came to 0.83 to 1.0 of curl's CPU time. Only
    /// sendfile(2) spares a copy: 0.3 of the CPU time and 1.2 to 1.35 of the wall time, as the receiver then fetches from
    /// memory what otherwise lies in a cache. libcurl has no use for it.
    public var sendBufferBytes: Int

    /// Makes the settings by which the transport uses libcurl; both buffers are of bytes and per transfer, 0
    /// connections are unlimited.
    public init(
        userAgent: String = "pipeline",
        maximumConnections: Int = 512,
        maximumConnectionsPerOrigin: Int = 0,
        receiveBufferBytes: Int = 512 << 10,
        sendBufferBytes: Int = 512 << 10
    ) {
        self.userAgent = userAgent
        self.maximumConnections = maximumConnections
        self.maximumConnectionsPerOrigin = maximumConnectionsPerOrigin
        self.receiveBufferBytes = receiveBufferBytes
        self.sendBufferBytes = sendBufferBytes
    }
}
