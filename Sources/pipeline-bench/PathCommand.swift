import ArgumentParser
import CSpawn
import CLibrary

/// A far network between two network namespaces of this machine: what the tun device of one sends comes out of that of the
/// other late, no faster than a rate, and not always. For kernels without netem(8).
struct PathCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "path", abstract: "Carry packets between two network namespaces, as a far network would.")

    @Option(help: "The name of the tun device in both.") var device: String
    @Option(help: "A process in the other namespace.") var peer: Int32
    @Option(help: "Milliseconds that a packet takes.") var delay = 25.0
    @Option(help: "How many of a hundred packets are lost.") var loss = 0.0
    @Option(help: "Megabits per second.") var rate = 200.0

    func run() throws {
        let near = try Self.open(device)
        let failure = spawn_enter_network(peer)
        guard failure == 0 else {
            throw ValidationError("can't enter the network of \(peer): \(String(cString: strerror(failure)))")
        }
        let ends = [near, try Self.open(device)]
        let empty = PacketQueue(delay: delay / 1000, loss: loss / 100, bytesPerSecond: rate * 125_000)
        var queues = [empty, empty]
        var polled = ends.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            // A packet may be a millisecond later than it should: that is little next to the delay.
            let left = queues.compactMap(\.nextDue).min().map { max(0, $0 - Self.now) } ?? 1
            poll(&polled, 2, Int32(min(left, 1) * 1000) + 1)
            for side in 0..<2 {
                while case let count = read(ends[side], &buffer, buffer.count), count > 0 {
                    queues[side].append(buffer[..<count], at: Self.now)
                }
                while let packet = queues[side].takeDue(at: Self.now) {
                    _ = write(ends[1 - side], packet, packet.count)
                }
            }
        }
    }

    private static var now: Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// Attaches to a tun device: packets as they are, without a head (TUNSETIFF, linux/if_tun.h).
    private static func open(_ device: String) throws -> Int32 {
        let descriptor = CLibrary.open("/dev/net/tun", O_RDWR | O_NONBLOCK)
        var request = [UInt8](repeating: 0, count: 40)
        for (index, byte) in device.utf8.prefix(15).enumerated() { request[index] = byte }
        (request[16], request[17]) = (0x01, 0x10)
        guard descriptor >= 0, ioctl(descriptor, 0x4004_54CA, &request) == 0 else {
            throw ValidationError("can't use the tun device \(device): \(String(cString: strerror(errno)))")
        }
        return descriptor
    }
}

/// Packets on their way, in the order in which they arrive.
private struct PacketQueue {
    let delay: Double
    let loss: Double
    let bytesPerSecond: Double
    private var packets: [(due: Double, bytes: [UInt8])] = []
    private var first = 0
    /// The time when the line is free for the next packet.
    private var free = 0.0

    /// What waits longer for the line than this is dropped, as by a router whose buffer is full.
    private static let longestWait = 0.05

    init(delay: Double, loss: Double, bytesPerSecond: Double) {
        self.delay = delay
        self.loss = loss
        self.bytesPerSecond = bytesPerSecond
    }

    var nextDue: Double? { first < packets.count ? packets[first].due : nil }

    mutating func append(_ bytes: ArraySlice<UInt8>, at now: Double) {
        let start = max(now, free)
        guard start - now < Self.longestWait, Double.random(in: 0..<1) >= loss else { return }
        free = start + Double(bytes.count) / bytesPerSecond
        packets.append((free + delay, Array(bytes)))
    }

    mutating func takeDue(at now: Double) -> [UInt8]? {
        guard let due = nextDue, due <= now else { return nil }
        defer {
            first += 1
            if first > 4096 {
                packets.removeFirst(first)
                first = 0
            }
        }
        return packets[first].bytes
    }
}
