import CookieModel
import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import SessionOperations
import SessionStore
import Synchronization
import WebPrimitives

/// Answers the requests of one listener: admits them, passes them to the routes, and counts the results.
struct ServiceResponder: Sendable {
    let listener: ListenerKind
    let admission: Admission
    let routes: RouterResponder<ServiceRequestContext>
    let auditLog: AuditWriter?
    let metrics: ServiceMetrics
    let health: ServiceHealth
    /// The page for a link on another site's page; `nil` if the request is not one for such a page.
    let foreignLink: @Sendable (Request) -> Response?
    let date: DateField
    let logger: Logger
    /// Where the service is reached behind a proxy, whose prefix no route knows.
    let publicURL: PublicURL?
    /// The database if it is on a server, which a request asks for its state before anything else.
    let server: SessionDatabase?
    let now: @Sendable () -> Timestamp

    @concurrent
    func respond(
        to request: Request, _ writer: consuming ResponseWriter, on channel: any Channel
    ) async throws {
        let start = NIODeadline.now()
        var request = request.withoutPrefix(of: publicURL)
        if request.headers.expectsContinue {
            request.body = RequestBody(asyncSequence: AwaitedBody(body: request.body, channel: channel))
        }
        var logger = logger
        logger[metadataKey: "hb.request.id"] = .stringConvertible(RequestID())
        var context = ServiceRequestContext(source: ApplicationRequestContextSource(channel: channel, logger: logger))
        context.auditLog = auditLog
        context.metrics = metrics
        context.health = health
        context.peer = listener.peer(of: request.head, on: channel)
        let moment = now()
        var response = try await answer(request, &context, channel, moment)
        let status = response.status
        let route = context.endpointPath
        response.headers[.date] = date.text(moment)
        response.headers[.xContentTypeOptions] = "nosniff"
        // A body that is streamed is part of the answer, which takes as long.
        defer {
            metrics.record(
                route: route, method: request.method, status: status, took: NIODeadline.now() - start)
        }
        if logger.logLevel <= .debug {
            logger.debug(
                "Request answered",
                metadata: [
                    "method": "\(request.method)", "route": "\(route ?? "-")", "status": "\(status.code)",
                    "caller": "\(context.caller.name)", "peer": "\(context.peer)",
                ])
        }
        try await writer.write(response: response.head, body: response.body)
    }

    private func answer(
        _ request: Request, _ context: inout ServiceRequestContext, _ channel: any Channel, _ moment: Timestamp
    ) async throws -> Response {
        do {
            try admission.check(request.head, by: listener, on: channel)
            // `/readyz` without a token must not wait for a server that does not answer.
            let isOwnersCall = listener.isOwners && request.head.path?.hasPrefix("/v1/") == true
            if let server, isOwnersCall || request.headers.contains(.authorization) {
                try health.checkHeartbeat(server)
                context.committed = try await server.committedState(
                    ofJar: request.head.path.flatMap(JarPath.name))
            }
            context.caller = try admission.admit(
                request.head, by: listener, on: channel, in: context.committed, now: moment)
            context.isInspectorSession =
                !listener.isOwners && context.caller != .nobody && !request.headers.contains(.authorization)
            return try await routes.respond(to: request, context: context)
        } catch let error as SessionStoreError {
            health.note(error, peer: context.peer)
            return ServiceFailure(error).response
        } catch let error as any HTTPResponseError {
            health.note(error, peer: context.peer)
            if error as? ServiceFailure == .originRefused, let page = foreignLink(request) { return page }
            return try error.response(from: request, context: context)
        } catch let error where error.saysClientIsGone {
            throw error
        } catch {
            // An error's description may quote the request; its type does not.
            context.logger.error("A request failed", metadata: ["error": "\(type(of: error))"])
            return ServiceFailure.internalError.response
        }
    }
}

/// A body that its client sends once it is wanted: a request that is refused by its head alone is never told to go on.
private struct AwaitedBody: AsyncSequence, Sendable {
    let body: RequestBody
    let channel: any Channel

    struct AsyncIterator: AsyncIteratorProtocol {
        var base: RequestBody.AsyncIterator
        /// The connection, until it was told.
        var channel: (any Channel)?

        @concurrent
        mutating func next() async throws -> ByteBuffer? {
            channel?.triggerUserOutboundEvent(MessageHandler.ReadBody(), promise: nil)
            channel = nil
            return try await base.next()
        }
    }

    func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(base: body.makeAsyncIterator(), channel: channel)
    }
}

extension Request {
    /// The request as the routes know it.
    fileprivate func withoutPrefix(of publicURL: PublicURL?) -> Request {
        guard let publicURL, !publicURL.prefix.isEmpty, let path = head.path else { return self }
        let local = publicURL.withoutPrefix(path)
        guard local != path else { return self }
        var head = head
        head.path = local
        return Request(head: head, body: body)
    }
}

/// The paths of what belongs to a jar.
private enum JarPath {
    private static let prefix = "/v1/jars/"

    /// The jar's name in a path of a jar's; `nil` for another path, and if the name is not valid.
    static func name(_ path: String) -> String? {
        guard path.hasPrefix(prefix) else { return nil }
        let segment = path.utf8.dropFirst(prefix.utf8.count).prefix {
            $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?")
        }
        guard segment.contains(UInt8(ascii: "%")) else { return String(segment) }
        return String(segment).flatMap { PercentEncoding.text($0) }
    }
}

extension Error {
    /// Whether the client is gone and will not read an answer.
    var saysClientIsGone: Bool { self is CancellationError || self is ChannelError || self is IOError }
}

/// The Date field, made once a second.
final class DateField: Sendable {
    private let last = Mutex<(seconds: Int64, text: String)>((.min, ""))

    func text(_ now: Timestamp) -> String {
        let seconds = now.seconds
        return last.withLock { last in
            if last.seconds != seconds { last = (seconds, now.httpDate) }
            return last.text
        }
    }
}

extension HTTPField.Name {
    fileprivate static let xContentTypeOptions = HTTPField.Name("X-Content-Type-Options") ?? .contentType
}
