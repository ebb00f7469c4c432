import NIOCore
import NIOHTTP1

/// Lets requests through whose head can be read in one way only. Tells the connection's monitor of the request after which
/// it is to end, which depends on the version of HTTP (RFC 9112, section 9.3).
///
/// A target other than a path is for proxies: one reader could take what it names for the host, the next one for nothing.
/// A transfer coding that the service does not undo hides where the body ends (RFC 9112, section 6.1).
final class RequestHeadHandler: ChannelInboundHandler {
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
            if let error = RequestHeadHandler.refusal(of: head) {
                isRefused = true
                return context.fireErrorCaught(error)
            }
            if !head.isKeepAlive { monitor.receiveLastRequest() }
        }
        context.fireChannelRead(data)
    }

    private static func refusal(of head: HTTPRequestHead) -> (any Error)? {
        guard head.uri.utf8.first == UInt8(ascii: "/") else { return HTTPParserError.invalidURL }
        let codings = head.headers["Transfer-Encoding"]
        guard !codings.isEmpty else { return nil }
        // Before 1.1 there was none: a proxy in front may have passed over the field.
        guard head.version == .http1_1 else { return HTTPParserError.unexpectedContentLength }
        return codings.count == 1 && codings[0].lowercased() == "chunked" ? nil : ServiceProblem.transferCodingUnknown
    }
}
