import NIOCore
import NIOHTTP1

/// Lets requests through whose target is a path. Others are for proxies; what they name could be taken for the host by
/// one reader and for nothing by the next. Tells the connection's monitor of the request after which it is to end, which
/// depends on the version of HTTP (RFC 9112, section 9.3).
final class TargetHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart

    private let monitor: ConnectionMonitor
    private var isRefused = false

    init(_ monitor: ConnectionMonitor) {
        self.monitor = monitor
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isRefused else { return }
        if case .head(let head) = unwrapInboundIn(data) {
            guard head.uri.utf8.first == UInt8(ascii: "/") else {
                isRefused = true
                return context.fireErrorCaught(HTTPParserError.invalidURL)
            }
            if !head.isKeepAlive { monitor.receiveLastRequest() }
        }
        context.fireChannelRead(data)
    }
}
