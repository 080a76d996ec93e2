import HTTPTypes
import NIOCore
import NIOHTTPTypes

/// Serves one request: small bodies are collected, videos go to the disk, and the answer is sent when it is ready.
///
/// The upload library makes a channel, and with it one of these, for each request; an upload that comes in several
/// requests stays with its first, and looks here like one long body.
final class StudioHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPRequestPart
    typealias OutboundOut = HTTPResponsePart

    private enum Phase {
        case waiting
        case collecting(HTTPRequest, [UInt8])
        case receiving(HTTPRequest, IncomingVideo, number: Int)
        case answering
    }

    private let studio: Studio
    private var phase = Phase.waiting
    private var context: ChannelHandlerContext?
    private var sender: FileSender?

    init(_ studio: Studio) {
        self.studio = studio
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        leave()
    }

    /// The connection is gone; for a resumable upload: it was finished, cancelled, or waited for too long.
    func channelInactive(context: ChannelHandlerContext) {
        leave()
        context.fireChannelInactive()
    }

    /// Errors end the channel; `channelInactive` follows.
    func errorCaught(context: ChannelHandlerContext, error: any Error) {}

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let request): begin(request)
        case .body(let body): take(body)
        case .end: complete()
        }
    }

    private func begin(_ request: HTTPRequest) {
        let number = request.headerFields[.uploadNumber].flatMap { Int($0) }
        guard let number, Route(path: request.path)?.takesVideo(request.method) == true else {
            phase = .collecting(request, [])
            return
        }
        do {
            phase = .receiving(request, try studio.library.incoming(number), number: number)
        } catch {
            fail(error)
        }
    }

    private func take(_ body: ByteBuffer) {
        switch phase {
        case .collecting(let request, var bytes):
            guard bytes.count + body.readableBytes <= Studio.longestBody else {
                phase = .answering
                let detail = "the body may have \(Studio.longestBody) bytes"
                send(Answer(Problem(status: .contentTooLarge, detail: detail)))
                return
            }
            phase = .waiting
            bytes += body.readableBytesView
            phase = .collecting(request, bytes)
        case .receiving(_, let video, let number):
            do {
                try video.append(body)
            } catch {
                studio.library.discardIncoming(number)
                fail(error)
            }
        case .waiting, .answering: break
        }
    }

    private func complete() {
        let studio = studio
        switch phase {
        case .collecting(let request, let bytes):
            answer { await studio.respond(to: request, body: bytes) }
        case .receiving(let request, let video, let number):
            let received = video.finish()
            let isResumable = request.headerFields[.uploadDraftInteropVersion] != nil
            let name: String? = if case .video(let name) = Route(path: request.path) { name } else { nil }
            answer {
                var answer = studio.keep(received, upload: number, name: name)
                // The library sets a misspelt field here, `Upload-Incomplete`, for interop versions 5 and 6.
                if isResumable { answer.fields[.uploadComplete] = "?1" }
                return answer
            }
        case .waiting, .answering: break
        }
    }

    /// Works off the event loop and sends the answer back on it.
    private func answer(_ work: @escaping @Sendable () async -> Answer) {
        phase = .answering
        guard let context else { return }
        context.eventLoop.makeFutureWithTask(work).assumeIsolated().whenSuccess { self.send($0) }
    }

    private func fail(_ error: DiskError) {
        phase = .answering
        send(Answer(Problem(status: .init(code: 507), detail: "the video can't be kept: \(error)")))
    }

    private func send(_ answer: Answer) {
        guard let context else { return }
        if answer.isLost {
            studio.statistics.count(\.answersLost)
            context.close(promise: nil)
            return
        }
        let head = HTTPResponse(status: answer.status, headerFields: answer.fields)
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        switch answer.body {
        case .file(let slice):
            sender = FileSender(slice, studio: studio, context: context)
            sender?.start()
        case .bytes(let bytes):
            context.write(wrapOutboundOut(.body(ByteBuffer(bytes: bytes))), promise: nil)
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        case .none:
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        }
    }

    private func leave() {
        if case .receiving(_, _, let number) = phase { studio.library.discardIncoming(number) }
        phase = .answering
        sender?.stop()
        sender = nil
        context = nil
    }
}
