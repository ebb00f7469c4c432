import NIOCore

/// How far the requests of one connection have come, and whether the other side takes too long.
///
/// Knows no clock and no channel: moments are handed in.
struct ConnectionProgress {
    /// The part that is being read.
    enum Phase: Equatable {
        /// Nothing: the next request may begin, or not.
        case between
        /// The head of a request.
        case head
        /// The body of a request.
        case body
    }

    /// The part that took too long.
    enum Delay: Equatable {
        /// No request came.
        case request
        /// The head of a request was not complete.
        case head
        /// The body of a request came too slowly.
        case body
        /// The client did not read the answer.
        case reader
    }

    /// The time limits.
    struct Patience {
        var idle: TimeAmount
        var head: TimeAmount
        /// Bytes a second, after ``bodyGrace``.
        var bodyRate: Int
        var bodyGrace = TimeAmount.seconds(5)

        init(_ limits: ServiceLimits) {
            idle = .seconds(Int64(limits.idleSeconds))
            head = .seconds(Int64(limits.headerSeconds))
            bodyRate = limits.bodyBytesPerSecond
        }
    }

    private(set) var phase = Phase.between
    /// How many requests have begun and are not answered.
    private(set) var unanswered = 0
    /// How many bytes of the present body there were.
    private(set) var bodyBytes = 0
    /// When ``phase`` last changed; in ``Phase/between``, since when the connection is idle.
    private var since: NIODeadline
    /// How long this side was ready to read the present body, up to ``readingSince``.
    private var bodyWait = TimeAmount.zero
    /// Since when this side waits for bytes; `nil` while it is busy with those it has.
    private var readingSince: NIODeadline?
    /// Since when the other side reads nothing.
    private var unwritableSince: NIODeadline?

    init(now: NIODeadline) {
        since = now
    }

    /// Whether nothing is under way.
    var isQuiet: Bool { phase == .between && unanswered == 0 }

    mutating func beginReading(_ now: NIODeadline) {
        if readingSince == nil { readingSince = now }
    }

    /// Bytes came, of whatever.
    mutating func receiveBytes(_ now: NIODeadline) {
        if phase == .between {
            phase = .head
            since = now
        }
        if phase == .body, let readingSince { bodyWait = bodyWait + (now - readingSince) }
        readingSince = nil
    }

    mutating func receiveHead(_ now: NIODeadline) {
        unanswered += 1
        phase = .body
        since = now
        bodyBytes = 0
        bodyWait = .zero
    }

    mutating func receiveBody(_ count: Int) {
        bodyBytes += count
    }

    mutating func receiveEnd(_ now: NIODeadline) {
        phase = .between
        since = now
    }

    mutating func finishAnswer(_ now: NIODeadline) {
        unanswered -= 1
        if phase != .body { since = now }
    }

    mutating func becomeWritable(_ isWritable: Bool, _ now: NIODeadline) {
        unwritableSince = isWritable ? nil : now
    }

    /// Returns the delay that exceeds its limit by now; `nil` if none does.
    func delay(_ patience: Patience, _ now: NIODeadline) -> Delay? {
        if let unwritableSince, now - unwritableSince >= patience.idle { return .reader }
        switch phase {
        case .between:
            return unanswered == 0 && now - since >= patience.idle ? .request : nil
        case .head:
            // Requests that came before may hold up the reading of this one.
            return unanswered == 0 && now - since >= patience.head ? .head : nil
        case .body:
            let waited = bodyWait + (readingSince.map { now - $0 } ?? .zero)
            guard waited > patience.bodyGrace else { return nil }
            let seconds = (waited - patience.bodyGrace).nanoseconds / 1_000_000_000
            return bodyBytes < Int(seconds + 1) * patience.bodyRate ? .body : nil
        }
    }
}
