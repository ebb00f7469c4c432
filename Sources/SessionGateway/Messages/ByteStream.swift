import HTTPMessages
import NIOCore
import NIOSSL
import WebPrimitives

/// One connection as a stream of octets.
///
/// It reads from the network only on request, and a write waits while the other side does not read. So a slow side
/// slows the fast one down, and memory stays bounded. Everything runs on the connection's event loop.
actor ByteStream {
    nonisolated let channel: any Channel
    nonisolated let clock: any GatewayClock
    private nonisolated let executor: any SerialExecutor
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// Octets that have arrived and were not consumed.
    private var buffer = ByteBuffer()
    /// How many octets have arrived so far.
    private var arrived = 0
    /// How many octets had arrived when the last octets were written.
    private(set) var arrivedBeforeWrite = 0
    private(set) var isEnded = false
    /// Whether it has ended without the closing alert of TLS (RFC 8446, section 6.1), so that an attacker may have cut
    /// it off.
    private var isTruncated = false
    /// Whether such an end also ends a body of unknown length.
    private var endsAnyhow = false
    private(set) var failure: (any Error)?
    private var reader: CheckedContinuation<Void, any Error>?
    /// The number of events so far. Readers wait for the next one.
    private var eventCount = 0
    private var writers: [Int: CheckedContinuation<Void, any Error>] = [:]
    private var writerCount = 0
    private var isReadingStopped = false
    /// Whether it is a stream of an HTTP/2 connection, which ends with one request.
    nonisolated let isStream: Bool
    /// Whether a TLS handshake has ended.
    private var isSecured = false
    /// Whether a TLS handshake has begun and has not ended: nothing can be written.
    private(set) var isHandshaking = false
    /// The protocol that was negotiated in the handshake (ALPN); `nil` if none was.
    private(set) var applicationProtocol: String?
    /// The server's certificate in the handshake; `nil` if it has sent none.
    private(set) var serverCertificate: NIOSSLCertificate?
    private var body = BodyReader(.none)
    /// Whether a piece of the body has arrived.
    private(set) var hasBegunBody = false
    private var timer: GatewayTimer?
    private var failureAction: (@Sendable () -> Void)?
    /// Set by ``whenGone(after:_:)``.
    var absence: Absence?

    private init(_ channel: any Channel, _ clock: any GatewayClock, isStream: Bool) {
        self.channel = channel
        self.clock = clock
        self.isStream = isStream
        executor = channel.eventLoop.executor
    }

    /// Puts a stream at the end of a channel's pipeline. Call it on the channel's event loop.
    static func add(
        to channel: any Channel, clock: any GatewayClock = MachineClock(), isStream: Bool = false
    ) throws -> ByteStream {
        let stream = ByteStream(channel, clock, isStream: isStream)
        try channel.pipeline.syncOperations.addHandler(StreamHandler(stream))
        return stream
    }

    // MARK: - Reading

    /// Waits until octets are available; `false` at the end of the stream.
    func hasOctets(within limit: TimeAmount? = nil) async throws -> Bool {
        if buffer.readableBytes > 0 { return true }
        return try await more(within: limit)
    }

    /// Waits until more octets arrive; `false` at the end of the stream.
    ///
    /// - Throws: ``StreamError/timedOut`` after `limit`; the connection's failure.
    func more(within limit: TimeAmount? = nil) async throws -> Bool {
        let before = buffer.readableBytes
        while buffer.readableBytes == before {
            if isReadingStopped { throw StreamError.stopped }
            if isEnded { return false }
            if let failure { throw failure }
            try await waitForEvent(after: eventCount, within: limit)
        }
        return true
    }

    /// Requests octets and waits for an event.
    ///
    /// - Parameter count: The number of events that the caller knows. A task that prefers another event loop may be
    ///   suspended before it waits here.
    private func waitForEvent(after count: Int, within limit: TimeAmount?) async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            guard reader == nil else { return continuation.resume(throwing: StreamError.stopped) }
            guard eventCount == count else { return continuation.resume() }
            reader = continuation
            if let limit {
                timer = clock.schedule(in: limit, on: channel.eventLoop) { [weak self] in
                    self?.assumeIsolated { $0.endReading(throwing: StreamError.timedOut) }
                }
            }
            channel.read()
        }
    }

    /// The octets that have arrived, without consuming them.
    var available: ByteBuffer { buffer }

    /// Consumes the octets that have arrived.
    func takeAvailable() -> ByteBuffer { buffer.take(buffer.readableBytes) }

    /// Waits for octets, but does not consume them.
    ///
    /// - Returns: Whether some have arrived, or the stream has ended; `false` after ``stopReading()``.
    func waitForOctets() async -> Bool {
        do {
            _ = try await hasOctets()
            return true
        } catch {
            return !isReadingStopped
        }
    }

    /// The first available octet; `nil` if none is available.
    var firstOctet: UInt8? { buffer.getInteger(at: buffer.readerIndex) }

    /// How many octets have been consumed so far.
    var consumed: Int { arrived - buffer.readableBytes }

    /// Whether no octets are available and the stream has not ended.
    var isIdle: Bool { buffer.readableBytes == 0 && !isEnded && failure == nil && channel.isActive }

    /// Whether no more octets can arrive.
    var hasFailed: Bool { isEnded || failure != nil || !channel.isActive }

    /// Runs `action` if the connection fails, even while nothing is read or written.
    func whenFailing(_ action: @escaping @Sendable () -> Void) {
        failureAction = action
        if failure != nil { action() }
    }

    /// Requests octets without waiting for them, so that the end of an idle connection is noticed.
    func readAhead() {
        channel.read()
    }

    /// Consumes `count` octets, which must have arrived.
    func consume(_ count: Int) {
        buffer.consume(count)
    }

    /// Waits for `count` octets and consumes them; `nil` if the stream ends before.
    func octets(_ count: Int, by deadline: NIODeadline) async throws -> [UInt8]? {
        while buffer.readableBytes < count {
            guard try await more(within: deadline - clock.now) else { return nil }
        }
        defer { if buffer.readableBytes == 0 { buffer.clear() } }
        return buffer.readBytes(length: count)
    }

    /// Consumes the head of the next message with its empty line; `nil` if the stream ends before it begins.
    ///
    /// - Parameters:
    ///   - idle: How long its first octet may take.
    ///   - limit: How long the rest of it may take.
    func head(idle: TimeAmount?, within limit: TimeAmount?) async throws -> [UInt8]? {
        var searched = 0
        var deadline: NIODeadline?
        let idleEnd = idle.map { clock.now + $0 }
        while true {
            // RFC 9112, section 2.2: an empty line before a request is ignored.
            if searched == 0, buffer.readableBytesUInt8Span.hasPrefix("\r\n") { consume(2) }
            let bytes = buffer.readableBytesUInt8Span
            if let end = MessageHead.end(in: bytes, from: searched) {
                guard end <= MessageHead.byteLimit else { throw MessageError.headTooLong }
                // An idle connection releases the memory of its buffer.
                defer { if buffer.readableBytes == 0 { buffer = ByteBuffer() } }
                return buffer.readBytes(length: end)
            }
            guard bytes.count < MessageHead.byteLimit else { throw MessageError.headTooLong }
            // An empty line may have begun with the last octets.
            searched = max(0, bytes.count - 3)
            let isFirst = bytes.count == 0
            if !isFirst, deadline == nil, let limit { deadline = clock.now + limit }
            guard try await more(within: (deadline ?? idleEnd).map { $0 - clock.now }) else {
                if isFirst { return nil }
                throw StreamError.endedEarly
            }
        }
    }

    /// Consumes a head in which the stream has ended, and completes it. Its last line is left out if it may be cut,
    /// because a cookie would lose attributes.
    func takeCutHead() -> [UInt8] {
        let octets = Array(buffer: takeAvailable())
        let lineEnd: [UInt8] = [ASCII.carriageReturn, ASCII.lineFeed]
        return (octets.lastIndex(of: ASCII.lineFeed).map { Array(octets[...$0]) } ?? octets + lineEnd) + lineEnd
    }

    /// Sets the framing of the next body.
    ///
    /// - Parameter endsAnyhow: Whether the end of a TLS connection without `close_notify` ends a body of unknown length
    ///   (RFC 9112, section 9.8), as in browsers.
    func beginBody(_ framing: BodyFraming, toAnyEnd endsAnyhow: Bool = false) {
        body = BodyReader(framing)
        self.endsAnyhow = endsAnyhow
        hasBegunBody = false
    }

    /// Consumes the next piece of the body.
    ///
    /// - Throws: ``StreamError/endedEarly`` if the stream ends before the body, `MessageError` if the chunk is
    ///   malformed.
    func nextPiece(within limit: TimeAmount?) async throws -> BodyReader.Piece {
        while true {
            if let piece = try body.next(in: &buffer) {
                hasBegunBody = true
                return piece
            }
            guard try await more(within: limit) else {
                guard !isTruncated || endsAnyhow else { throw StreamError.endedEarly }
                return try body.end()
            }
        }
    }

    /// Makes reads that wait for data fail, until ``resumeReading()``.
    func stopReading() {
        isReadingStopped = true
        endReading(throwing: StreamError.stopped)
    }

    /// Permits reads to wait for data again.
    func resumeReading() {
        isReadingStopped = false
    }

    // MARK: - TLS

    /// Adds TLS to the stream, and waits for the end of the handshake. Octets that have arrived belong to the
    /// handshake.
    func startTLS(_ handler: sending any ChannelHandler & RemovableChannelHandler, within limit: TimeAmount)
        async throws
    {
        try channel.pipeline.syncOperations.addHandler(handler, position: .first)
        let arrived = takeAvailable()
        if arrived.readableBytes > 0 {
            channel.pipeline.fireChannelRead(arrived)
            channel.pipeline.fireChannelReadComplete()
        }
        isHandshaking = true
        let deadline = clock.now + limit
        while !isSecured {
            if let failure { throw failure }
            if isEnded { throw StreamError.endedEarly }
            try await waitForEvent(after: eventCount, within: deadline - clock.now)
        }
    }

    /// Hands the connection and the octets that have arrived to the handlers of another protocol. This stream then
    /// ends.
    func handOver(to handlers: sending [any ChannelHandler]) throws {
        let pipeline = channel.pipeline.syncOperations
        let own = try pipeline.context(handlerType: StreamHandler.self)
        failure = StreamError.stopped
        try channel.syncOptions?.setOption(.allowRemoteHalfClosure, value: false)
        try pipeline.addHandlers(handlers)
        let arrived = takeAvailable()
        if arrived.readableBytes > 0 {
            own.fireChannelRead(NIOAny(arrived))
            own.fireChannelReadComplete()
        }
        pipeline.removeHandler(context: own, promise: nil)
        try channel.syncOptions?.setOption(.autoRead, value: true)
    }

    // MARK: - Writing

    /// How long the other side may read nothing.
    static let writeLimit = TimeAmount.minutes(10)

    /// Writes octets, and waits while the other side does not read. Aborts the connection after ``writeLimit``.
    func write(_ octets: ByteBuffer) async throws {
        try send(octets)
        do {
            try await waitUntilWritable(within: ByteStream.writeLimit)
        } catch StreamError.timedOut {
            abort()
            throw StreamError.timedOut
        }
    }

    /// Writes octets without waiting.
    func send(_ octets: ByteBuffer) throws {
        if let failure { throw failure }
        arrivedBeforeWrite = arrived
        channel.writeAndFlush(octets, promise: nil)
    }

    /// Waits while the other side does not read.
    ///
    /// - Throws: ``StreamError/timedOut`` after `limit`; the connection's failure.
    func waitUntilWritable(within limit: TimeAmount) async throws {
        // A stream of HTTP/2 ends with the last octets of its messages, which is not a failure.
        guard !channel.isWritable else { return }
        writerCount += 1
        let number = writerCount
        let timer = clock.schedule(in: limit, on: channel.eventLoop) { [weak self] in
            self?.assumeIsolated { $0.writers.removeValue(forKey: number)?.resume(throwing: StreamError.timedOut) }
        }
        defer { timer.cancel() }
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            // The stream fails at this moment if its connection has ended. As in a read, the state may have changed
            // during the wait.
            if let failure {
                continuation.resume(throwing: failure)
            } else if channel.isWritable {
                continuation.resume()
            } else {
                writers[number] = continuation
            }
        }
    }

    /// Queues octets, which are sent with the next ones or by ``flush()``.
    func enqueue(_ octets: ByteBuffer) {
        channel.write(octets, promise: nil)
    }

    /// Sends the queued octets.
    func flush() {
        channel.flush()
    }

    // MARK: - Events of the channel

    func receive(_ octets: ByteBuffer) {
        var octets = octets
        arrived += octets.readableBytes
        if buffer.readableBytes == 0 {
            buffer = octets
        } else {
            // Without this, the buffer grows with the length of a body.
            buffer.discardReadBytes()
            buffer.writeBuffer(&octets)
        }
    }

    func endReading(throwing error: (any Error)? = nil) {
        eventCount += 1
        timer?.cancel()
        timer = nil
        guard let reader else { return }
        self.reader = nil
        if let error { reader.resume(throwing: error) } else { reader.resume() }
    }

    func becomeSecured(speaking applicationProtocol: String?) {
        isSecured = true
        isHandshaking = false
        self.applicationProtocol = applicationProtocol
        // Read now, because the server may close the connection at once.
        serverCertificate = try? channel.pipeline.syncOperations.handler(type: NIOSSLClientHandler.self).peerCertificate
        endReading()
    }

    func end(truncated isTruncated: Bool = false) {
        if failure == nil { isEnded = true }
        if isTruncated { self.isTruncated = true }
        awaitAbsence()
        endReading()
    }

    func fail(_ error: any Error) {
        if failure == nil {
            failureAction?()
            absence?.action()
        }
        failure = failure ?? error
        // Bytes that arrived before the failure can still be read.
        endReading()
        resumeWriters()
    }

    func resumeWriters() {
        let waiting = writers.values
        writers = [:]
        for writer in waiting {
            if let failure { writer.resume(throwing: failure) } else { writer.resume() }
        }
    }
}
