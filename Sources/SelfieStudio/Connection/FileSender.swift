import NIOCore
import NIOHTTPTypes

/// Sends a part of a model's file, piece by piece, each when the one before is with the network; then ends the answer.
///
/// Bound to the event loop of its channel.
final class FileSender {
    private static let longestPiece = 64 * 1024

    private let slice: Answer.FileSlice
    private let studio: Studio
    private let limit: Int?
    private var context: ChannelHandlerContext?
    private var file: DiskFile?
    private var offset: Int
    private let pace: Pace

    init(_ slice: Answer.FileSlice, studio: Studio, context: ChannelHandlerContext) {
        self.slice = slice
        self.studio = studio
        self.context = context
        limit = studio.faults.cut(Self.transfer(slice))
        offset = slice.range.lowerBound
        pace = Pace(rate: studio.settings.rate)
    }

    func start() {
        file = try? DiskFile(reading: slice.path)
        sendNext()
    }

    /// The channel is gone.
    func stop() {
        pace.stop()
        context = nil
        file = nil
    }

    private static func transfer(_ slice: Answer.FileSlice) -> String {
        "\(slice.file.rawValue) of \(slice.model)"
    }

    private func sendNext() {
        guard let context else { return }
        let rest = slice.range.upperBound - offset
        guard rest > 0 else {
            context.writeAndFlush(NIOAny(HTTPResponsePart.end(nil)), promise: nil)
            return
        }
        let room = limit.map { $0 - (offset - slice.range.lowerBound) } ?? .max
        guard room > 0 else {
            studio.faults.wasCut(Self.transfer(slice))
            studio.statistics.count(\.cut)
            context.close(promise: nil)
            return
        }
        let tenth = studio.settings.rate.map { max(1024, $0 / 10) } ?? .max
        send(min(rest, room, tenth, Self.longestPiece), context: context)
    }

    private func send(_ count: Int, context: ChannelHandlerContext) {
        // The head has promised these bytes: if they can't be read, only closing says so.
        guard let bytes = try? file?.read(at: offset, count: count), bytes.count == count else {
            context.close(promise: nil)
            return
        }
        let written = context.eventLoop.makePromise(of: Void.self)
        context.writeAndFlush(NIOAny(HTTPResponsePart.body(ByteBuffer(bytes: bytes))), promise: written)
        written.futureResult.assumeIsolated().whenSuccess {
            if self.slice.file == .mesh { self.studio.statistics.sent(count, of: self.slice.model) }
            self.offset += count
            self.pace.spend(count)
            self.scheduleNext(on: context.eventLoop)
        }
    }

    /// Not called directly: a write can be complete at once, and a long file would nest as deep as it has pieces.
    private func scheduleNext(on loop: any EventLoop) {
        loop.assumeIsolated().execute {
            self.pace.whenDue(on: loop) { self.sendNext() }
        }
    }
}
