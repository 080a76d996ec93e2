package import NIOCore

/// A handler of a server's connections that gathers whole requests: what each of them does about the connection itself.
package protocol GatheringHandler: ChannelInboundHandler {
    var gatherer: RequestGatherer { get set }
    /// Of no interest to anybody once the connection has ended, when it is cancelled.
    var work: Task<Void, Never>? { get }
}

extension GatheringHandler {
    package var work: Task<Void, Never>? { nil }

    package func channelActive(context: ChannelHandlerContext) {
        gatherer.awaitRequest(context)
        context.fireChannelActive()
    }

    package func channelInactive(context: ChannelHandlerContext) {
        gatherer.stopWaiting()
        work?.cancel()
        context.fireChannelInactive()
    }

    package func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
