package import NIOCore

/// A handler of a server's connections that gathers whole requests: what each of them does about the connection itself.
package protocol GatheringHandler: ChannelInboundHandler {
    var gatherer: RequestGatherer { get set }
}

extension GatheringHandler {
    package func channelActive(context: ChannelHandlerContext) {
        gatherer.awaitRequest(context)
        context.fireChannelActive()
    }

    package func channelInactive(context: ChannelHandlerContext) {
        gatherer.stopWaiting()
        context.fireChannelInactive()
    }

    package func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
