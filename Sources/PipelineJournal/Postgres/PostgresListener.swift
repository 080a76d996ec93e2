import CLibrary
import PipelineCore
import PipelinePostgres
import PipelineSQL
import Synchronization

/// Hears what other processes tell this one, and tells them: LISTEN and NOTIFY on a connection and a thread of their own,
/// begun at the first use.
///
/// Any of it may be lost. So it looks at the rows every five seconds too, more or less, so that workers do not all look
/// at once.
final class PostgresListener: Sendable {
    /// The channel that every process hears.
    static let everybody = "pipeline:all"

    private struct State {
        var isStarted = false
        var isClosed = false
        var owners: Set<OwnerID> = []
        var outgoing: [(channel: String, text: String)] = []
        var isHearing = false
    }

    private let address: PostgresAddress
    private let state = Mutex(State())
    /// The thread sleeps on the one end, the other wakes it.
    private let wakeup: (reading: Int32, writing: Int32)
    /// Gets each message that came, with the owner it is for; nil for everybody.
    private let receive: @Sendable (OwnerID?, String) -> Void
    /// Called every five seconds, more or less, and when the connection was made again.
    private let look: @Sendable () -> Void
    private let interval: Int32

    init(
        _ address: PostgresAddress, interval: Duration, receive: @escaping @Sendable (OwnerID?, String) -> Void,
        look: @escaping @Sendable () -> Void
    ) {
        self.address = address
        self.interval = Int32(interval / .milliseconds(1))
        self.receive = receive
        self.look = look
        var ends: [Int32] = [-1, -1]
        _ = pipe(&ends)
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        wakeup = (ends[0], ends[1])
    }

    deinit {
        CLibrary.close(wakeup.reading)
        CLibrary.close(wakeup.writing)
    }

    static func channel(of owner: OwnerID) -> String { "pipeline:\(owner.text)" }

    /// Returns whether messages come: a pooler that gives each transaction another session swallows them.
    var isHearing: Bool { state.withLock { $0.isHearing } }

    /// Hears for the owner from now on; false when that can't be.
    func listen(for owner: OwnerID) -> Bool {
        let isNew = state.withLock { state in state.isClosed ? nil : state.owners.insert(owner).inserted }
        guard let isNew else { return false }
        if isNew { wake() }
        return start()
    }

    /// Sends a message; it may be lost.
    func send(_ text: String, on channel: String) -> Bool {
        let isTaken = state.withLock { state in
            if state.isClosed || state.outgoing.count > 1_000 { return false }
            state.outgoing.append((channel, text))
            return true
        }
        guard isTaken, start() else { return false }
        wake()
        return true
    }

    func close() {
        state.withLock { $0.isClosed = true }
        wake()
    }

    private func wake() {
        var byte: UInt8 = 1
        _ = write(wakeup.writing, &byte, 1)
    }

    private func start() -> Bool {
        let starts = state.withLock { state in
            defer { state.isStarted = true }
            return !state.isStarted
        }
        return starts ? JournalThread.start({ self.run() }) : true
    }

    // MARK: The thread

    private func run() {
        while !state.withLock({ $0.isClosed }) {
            try? serve()
            state.withLock { $0.isHearing = false }
            // Without a connection only the rows are looked at.
            if state.withLock({ $0.isClosed }) { return }
            pause(Int32.random(in: 700...1300))
            look()
        }
    }

    /// Connects, and serves until the connection is lost.
    private func serve() throws(PostgresError) {
        let connection = try PostgresConnection(address, name: "pipeline listener")
        try connection.enter(schema: PostgresSchema.name)
        // What is told here is worth no sync of a disk.
        if !connection.isPooled { try connection.execute("SET synchronous_commit TO off") }
        var heard: Set<String> = []
        var next = now() + Int64(interval)
        try hear([Self.everybody], &heard, connection)
        let isHearing = try connection.isPooled ? hearsItself(connection) : true
        while true {
            let (owners, outgoing, isClosed) = state.withLock { state in
                defer { state.outgoing = [] }
                return (state.owners, state.outgoing, state.isClosed)
            }
            if isClosed { return }
            if try hear(owners.map(Self.channel), &heard, connection) {
                state.withLock { $0.isHearing = isHearing }
                // What came before anybody listened is found in the rows.
                look()
            }
            for message in outgoing {
                try connection.query(
                    "SELECT pg_notify(:channel, :text)",
                    [("channel", .text(message.channel)), ("text", .text(message.text))])
            }
            for notification in try connection.notifications() { deliver(notification, owners) }
            let rest = next - now()
            if rest <= 0 {
                look()
                next = now() + Int64(Double(interval) * Double.random(in: 0.8...1.2))
                continue
            }
            wait(connection.socket, Int32(rest))
        }
    }

    /// Listens on the channels that it does not listen on yet; true when there was one.
    @discardableResult
    private func hear(
        _ channels: [String], _ heard: inout Set<String>, _ connection: PostgresConnection
    ) throws(PostgresError) -> Bool {
        let new = Set(channels).subtracting(heard)
        for channel in new { try connection.execute("LISTEN \"\(channel.replacing("\"", with: ""))\"") }
        heard.formUnion(new)
        return !new.isEmpty
    }

    /// A pooler that gives each transaction another session takes LISTEN and brings nothing: true if a message from
    /// another session comes within a second.
    private func hearsItself(_ connection: PostgresConnection) throws(PostgresError) -> Bool {
        let word = "ping \(UInt64.random(in: .min ... .max))"
        let other = try PostgresConnection(address, name: "pipeline listener")
        try other.query(
            "SELECT pg_notify(:channel, :text)", [("channel", .text(Self.everybody)), ("text", .text(word))])
        let end = now() + 1_000
        while now() < end {
            if try connection.notifications().contains(where: { $0.payload == word }) { return true }
            wait(connection.socket, Int32(max(1, end - now())))
        }
        return false
    }

    private func deliver(_ notification: (channel: String, payload: String), _ owners: Set<OwnerID>) {
        if notification.channel == Self.everybody { return receive(nil, notification.payload) }
        if let owner = owners.first(where: { Self.channel(of: $0) == notification.channel }) {
            receive(owner, notification.payload)
        }
    }

    /// Sleeps until the server says something, a message is to be sent, or the time is over.
    private func wait(_ socket: Int32, _ milliseconds: Int32) {
        var descriptors = [
            pollfd(fd: socket, events: Int16(POLLIN), revents: 0),
            pollfd(fd: wakeup.reading, events: Int16(POLLIN), revents: 0),
        ]
        _ = poll(&descriptors, 2, milliseconds)
        drain()
    }

    private func pause(_ milliseconds: Int32) {
        var descriptor = pollfd(fd: wakeup.reading, events: Int16(POLLIN), revents: 0)
        _ = poll(&descriptor, 1, milliseconds)
        drain()
    }

    private func drain() {
        var bytes = [UInt8](repeating: 0, count: 64)
        while read(wakeup.reading, &bytes, bytes.count) > 0 {}
    }

    private let clock = BootLeaseClock()
    private func now() -> Int64 { clock.now }
}
