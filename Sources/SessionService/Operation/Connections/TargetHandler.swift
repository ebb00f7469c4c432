import NIOCore
import NIOHTTP1

/// Lets requests through whose target is a path. Others are for proxies; what they name could be taken for the host by
/// one reader and for nothing by the next.
final class TargetHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart

    private var isRefused = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isRefused else { return }
        if case .head(let head) = unwrapInboundIn(data), head.uri.utf8.first != UInt8(ascii: "/") {
            isRefused = true
            context.fireErrorCaught(HTTPParserError.invalidURL)
        } else {
            context.fireChannelRead(data)
        }
    }
}
