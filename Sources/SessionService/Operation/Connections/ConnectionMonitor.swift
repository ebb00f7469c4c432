import HTTPTypes
import Hummingbird
import NIOCore
import NIOHTTPTypes

/// Watches one connection, from the bytes to the requests. It closes slow connections, answers invalid requests, and,
/// when the service stops, closes the connection after the accepted requests are answered.
///
/// Lives on the connection's event loop, shared by the two handlers that see bytes and messages.
final class ConnectionMonitor {
    /// How long a connection without a request stays open after the service began to stop. Requests that the client
    /// sent before it could know arrive in the meantime.
    static let drainGrace = TimeAmount.milliseconds(250)
    /// How long a connection is still read that was answered for the last time. A close with bytes unread would reset
    /// it, and take the answer along.
    static let linger = TimeAmount.seconds(2)

    private let limits: ServiceLimits
    private let patience: ConnectionProgress.Patience
    private let loop: any EventLoop
    /// Whether there were too many connections when this one came.
    private let isRefused: Bool
    private var progress: ConnectionProgress
    private var check: Scheduled<Void>?
    private var isDraining = false
    /// The head that is being read, as far as it has come; `nil` if a request before it ended with the same bytes.
    private var headBytes: ByteBuffer?
    /// Whether the client waits to be told to go on before it sends the body (RFC 9110, section 10.1.1).
    private var expectsContinue = false
    /// The problem to report for bytes that are not a request, after the requests before them are answered.
    private var lastProblem: ServiceFailure?
    /// Whether the client wants the connection to end after its current request.
    private var hasLastRequest = false
    /// Whether the answer that is being written is the last one.
    private var isLastAnswer = false
    /// Whether the last answer is written: nothing that comes now is looked at.
    private(set) var isFinished = false

    init(limits: ServiceLimits, isRefused: Bool, loop: any EventLoop) {
        self.limits = limits
        self.isRefused = isRefused
        self.loop = loop
        patience = ConnectionProgress.Patience(limits)
        progress = ConnectionProgress(now: loop.now)
    }

    // MARK: - Bytes

    func beginReading() {
        progress.beginReading(loop.now)
    }

    /// Bytes come, which `next` reads.
    func receive(_ bytes: ByteBuffer, _ next: () -> Void) {
        switch progress.phase {
        case .between: headBytes = bytes
        case .head: if headBytes?.readableBytes ?? .max < limits.headerBytes { headBytes?.writeImmutableBuffer(bytes) }
        case .body: headBytes = nil
        }
        progress.receiveBytes(loop.now)
        next()
        if progress.phase != .head { headBytes = nil }
    }

    // MARK: - Requests

    /// A request comes after which the connection is to end.
    func receiveLastRequest() {
        hasLastRequest = true
    }

    func receive(_ part: HTTPRequestPart, _ context: ChannelHandlerContext) {
        guard !isFinished, lastProblem == nil else { return }
        switch part {
        case .head(let head):
            // There is no time limit for data that is not read anyway.
            if let length = head.headerFields.declaredLength, length > limits.bodyBytes {
                return fail(.bodyTooLarge, context)
            }
            progress.receiveHead(loop.now)
            if isRefused { return finish(with: .tooManyConnections, context) }
            expectsContinue = head.headerFields.expectsContinue
        case .body(let bytes):
            expectsContinue = false
            progress.receiveBody(bytes.readableBytes)
            if progress.bodyBytes > limits.bodyBytes { return fail(.bodyTooLarge, context) }
        case .end:
            expectsContinue = false
            progress.receiveEnd(loop.now)
        }
        context.fireChannelRead(NIOAny(part))
    }

    /// Handles bytes that cannot be read as a request.
    func receive(_ error: any Error, _ context: ChannelHandlerContext) {
        guard !isFinished, lastProblem == nil else { return }
        let head = progress.phase == .head ? headBytes.map { RequestHeadBytes($0.readableBytesView) } : nil
        fail(ServiceFailure(malformed: error, head: head), context)
    }

    /// The body of the current request is read. A client that expects 100 (Continue) is told to go on.
    func readBody(_ context: ChannelHandlerContext) {
        // Pipelined requests are answered one after the other, so that a body that is read is that of the last one.
        guard expectsContinue, progress.unanswered == 1, !isFinished else { return }
        expectsContinue = false
        context.writeAndFlush(NIOAny(HTTPResponsePart.head(HTTPResponse(status: .continue))), promise: nil)
    }

    /// Reports a problem, after the responses to earlier requests.
    private func fail(_ problem: ServiceFailure, _ context: ChannelHandlerContext) {
        if progress.phase == .body {
            // The reader of the body gets the error, and answers.
            lastProblem = problem
            isLastAnswer = true
            context.fireErrorCaught(problem)
        } else if progress.unanswered > 0 {
            lastProblem = problem
        } else {
            finish(with: problem, context)
        }
    }

    // MARK: - Answers

    func write(_ part: HTTPResponsePart, _ promise: EventLoopPromise<Void>?, _ context: ChannelHandlerContext) {
        guard !isFinished else {
            promise?.fail(ChannelError.outputClosed)
            return
        }
        switch part {
        case .head(var head) where head.status.kind != .informational:
            // A refused body is not read to its end.
            let isRefusal = head.status.code >= 400 && progress.phase == .body
            // An answer that begins before the body is read does not do without it.
            if !isRefusal { readBody(context) }
            let isToEnd = (isDraining || hasLastRequest) && progress.unanswered == 1
            if isRefusal || isToEnd || head.headerFields[.connection] == "close" {
                isLastAnswer = true
            }
            if isLastAnswer { head.headerFields[.connection] = "close" }
            context.write(NIOAny(HTTPResponsePart.head(head)), promise: promise)
        case .end:
            context.write(NIOAny(part), promise: promise)
            progress.finishAnswer(loop.now)
            if let problem = lastProblem, progress.unanswered == 0, !isLastAnswer {
                finish(with: problem, context)
            } else if isLastAnswer {
                finish(context)
            } else if isDraining, progress.isQuiet {
                closeWhenQuiet(context)
            }
        default:
            context.write(NIOAny(part), promise: promise)
        }
    }

    func becomeWritable(_ isWritable: Bool) {
        progress.becomeWritable(isWritable, loop.now)
    }

    /// Writes a last answer.
    private func finish(with problem: ServiceFailure, _ context: ChannelHandlerContext) {
        var (head, body) = problem.message
        head.headerFields[.connection] = "close"
        context.write(NIOAny(HTTPResponsePart.head(head)), promise: nil)
        context.write(NIOAny(HTTPResponsePart.body(body)), promise: nil)
        context.write(NIOAny(HTTPResponsePart.end(nil)), promise: nil)
        finish(context)
    }

    /// Ends this side of the connection, and the whole of it when the other side is done, or in a moment.
    private func finish(_ context: ChannelHandlerContext) {
        isFinished = true
        context.flush()
        context.close(mode: .output, promise: nil)
        schedule(in: ConnectionMonitor.linger, context) { _, context in context.close(promise: nil) }
    }

    // MARK: - Time

    func begin(_ context: ChannelHandlerContext) {
        scheduleCheck(context)
    }

    func end() {
        check?.cancel()
        check = nil
    }

    private func scheduleCheck(_ context: ChannelHandlerContext) {
        let shortest = min(patience.idle, patience.head, patience.bodyGrace)
        schedule(in: .nanoseconds(max(shortest.nanoseconds / 4, 10_000_000)), context) { $0.checkTime($1) }
    }

    private func checkTime(_ context: ChannelHandlerContext) {
        switch progress.delay(patience, loop.now) {
        case nil: scheduleCheck(context)
        case .head: finish(with: .headLate, context)
        case .body:
            scheduleCheck(context)
            fail(.bodyLate, context)
        case .request where isRefused: finish(with: .tooManyConnections, context)
        case .request, .reader: context.close(promise: nil)
        }
    }

    /// The one task for later, which replaces the one before.
    private func schedule(
        in time: TimeAmount, _ context: ChannelHandlerContext,
        _ body: @escaping (ConnectionMonitor, ChannelHandlerContext) -> Void
    ) {
        check?.cancel()
        check = loop.assumeIsolated().scheduleTask(in: time) { [weak self] in
            guard let self, context.channel.isActive else { return }
            body(self, context)
        }
    }

    // MARK: - Stopping

    /// The service stops: this connection ends after its accepted requests are answered.
    func drain(_ context: ChannelHandlerContext) {
        guard !isDraining, !isFinished else { return }
        isDraining = true
        if progress.isQuiet { closeWhenQuiet(context) }
    }

    private func closeWhenQuiet(_ context: ChannelHandlerContext) {
        schedule(in: ConnectionMonitor.drainGrace, context) { monitor, context in
            if monitor.progress.isQuiet {
                monitor.finish(context)
            } else {
                monitor.scheduleCheck(context)
            }
        }
    }
}
