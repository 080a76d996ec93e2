import HTTPTypes
import NIOCore
import NIOHTTPTypes

/// Stands before the upload library on each connection: asks for the token, counts what arrives, and makes the faults
/// and the slowness that were ordered.
///
/// It asks for each next read itself. The library stops reading when it answers a request whose body has not come
/// completely, and such a connection would stand still for ever.
final class RequestGate: ChannelDuplexHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private let studio: Studio
    private let uploadsPath: String
    private let access: BearerAccess
    private var upload: UploadMeter?
    private var refuses = false
    private var closesAfterAnswer = false
    private var isCut = false
    private let pace: Pace

    /// - Parameter uploadsPath: the path under which the upload library gives out its uploads, with a slash at the end.
    init(_ studio: Studio, uploadsPath: String) {
        self.studio = studio
        self.uploadsPath = uploadsPath
        access = BearerAccess(token: studio.settings.token)
        pace = Pace(rate: studio.settings.rate)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isCut else { return }
        switch unwrapInboundIn(data) {
        case .head(let request): receive(request, context: context)
        case .body(let body): receive(body, context: context)
        case .end(let trailers):
            if !refuses { context.fireChannelRead(wrapInboundOut(.end(trailers))) }
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        context.fireChannelReadComplete()
        read(context: context)
    }

    func channelInactive(context: ChannelHandlerContext) {
        pace.stop()
        context.fireChannelInactive()
    }

    func read(context: ChannelHandlerContext) {
        pace.whenDue(on: context.eventLoop) { context.read() }
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head(var response):
            note(response)
            if closesAfterAnswer, response.status.kind != .informational {
                response.headerFields[.connection] = "close"
            }
            context.write(wrapOutboundOut(.head(response)), promise: promise)
        case .end(let trailers) where closesAfterAnswer:
            let written = promise ?? context.eventLoop.makePromise()
            written.futureResult.assumeIsolated().whenComplete { _ in context.close(promise: nil) }
            context.write(wrapOutboundOut(.end(trailers)), promise: written)
        case .body, .end:
            context.write(data, promise: promise)
        }
    }

    private func receive(_ head: HTTPRequest, context: ChannelHandlerContext) {
        studio.statistics.count(\.requests)
        var request = head
        request.headerFields[.uploadNumber] = nil
        closesAfterAnswer = request.headerFields[.connection]?.lowercased() == "close"
        let route = Route(path: request.path)
        let refusal = route == .health ? nil : refusal(request, route)
        refuses = refusal != nil
        upload = meter(&request, route)
        if let refusal {
            let answer = Answer(refusal)
            send(request.method == .head ? answer.withoutBody : answer, context: context)
            return
        }
        if request.headerFields[.expect]?.lowercased() == "100-continue" {
            context.writeAndFlush(wrapOutboundOut(.head(HTTPResponse(status: .continue))), promise: nil)
        }
        context.fireChannelRead(wrapInboundOut(.head(request)))
    }

    private func refusal(_ request: HTTPRequest, _ route: Route?) -> Problem? {
        guard access.admits(request) else {
            studio.statistics.count(\.refused)
            return .unauthorized(tokenSent: request.headerFields[.authorization] != nil)
        }
        guard route != .stats, studio.faults.failsRequest() else { return nil }
        studio.statistics.count(\.failed)
        return .unavailable
    }

    /// Says which upload the body belongs to, if any. The number of a new upload travels on with the request, because
    /// the library gives the handler of the upload nothing but the request.
    private func meter(_ request: inout HTTPRequest, _ route: Route?) -> UploadMeter? {
        let path = request.path ?? "/"
        if request.method == .patch, path.hasPrefix(uploadsPath) {
            let number = refuses ? nil : studio.statistics.uploadContinued(at: path)
            return UploadMeter(number: number, faults: studio.faults, transfer: "upload \(path)")
        }
        guard route?.takesVideo(request.method) == true else { return nil }
        let version = request.headerFields[.uploadDraftInteropVersion]
        guard !refuses, version.map(["3", "5", "6"].contains) ?? true else {
            return UploadMeter(number: nil, faults: studio.faults, transfer: nil)
        }
        let number = studio.statistics.uploadCreated()
        request.headerFields[.uploadNumber] = String(number)
        let transfer = version == nil ? "\(request.method.rawValue) \(path)" : nil
        return UploadMeter(number: number, faults: studio.faults, transfer: transfer)
    }

    private func receive(_ body: ByteBuffer, context: ChannelHandlerContext) {
        pace.spend(body.readableBytes)
        var body = body
        let room = upload?.room ?? .max
        let isTooMuch = body.readableBytes > room
        let taken = isTooMuch ? body.readSlice(length: room)! : body
        if upload != nil {
            upload?.bytes += taken.readableBytes
            studio.statistics.received(taken.readableBytes, upload: upload?.number)
        }
        if !refuses { context.fireChannelRead(wrapInboundOut(.body(taken))) }
        guard isTooMuch else { return }
        upload?.noteCut()
        isCut = true
        studio.statistics.count(\.cut)
        context.close(promise: nil)
    }

    /// The library tells the client in `Location` where a new upload is continued.
    private func note(_ response: HTTPResponse) {
        guard let number = upload?.number, let location = response.headerFields[.location],
            let start = location.firstRange(of: uploadsPath)
        else { return }
        let path = String(location[start.lowerBound...])
        studio.statistics.upload(number, continuesAt: path)
        upload?.transfer = "upload \(path)"
    }

    private func send(_ answer: Answer, context: ChannelHandlerContext) {
        let head = HTTPResponse(status: answer.status, headerFields: answer.fields)
        write(context: context, data: wrapOutboundOut(.head(head)), promise: nil)
        if case .bytes(let bytes) = answer.body {
            context.write(wrapOutboundOut(.body(ByteBuffer(bytes: bytes))), promise: nil)
        }
        write(context: context, data: wrapOutboundOut(.end(nil)), promise: nil)
        context.flush()
    }
}

extension HTTPField.Name {
    /// Inside the process only; what a client sends under this name is dropped.
    static let uploadNumber = HTTPField.Name("Selfie-Studio-Upload")!
}
