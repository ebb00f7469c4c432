import HTTPTypes
import Hummingbird
import NIOCore
import ServiceLifecycle
import SessionOperations

/// Sends the events of one subject to one follower as server-sent events (HTML, section 9.2): those of this process at
/// once, those of other processes after a delay.
struct EventFollower: Sendable {
    /// The events after a position.
    struct Page: Sendable {
        /// It as events; empty for nothing.
        let events: [UInt8]
        /// The position that comes next.
        let position: Int64
    }

    /// The name by which ``signal`` knows the subject.
    let subject: String
    let following: ChangeFollowing
    let signal: ChangeSignal
    /// Returns the events after a position; `nil` if the follower may follow no more.
    let page: @Sendable (_ position: Int64) async throws -> Page?

    /// Sends the events after a position, until the follower has gone or may follow no more, or the service stops.
    @concurrent func send(after position: Int64, to writer: inout any ResponseBodyWriter) async throws {
        let (signals, signal, end) = signal.follow(subject)
        defer { end() }
        try await writer.write(ByteBuffer(string: "retry: \(following.retry)\n\n"))
        // The timer covers events that this process does not signal.
        let interval = following.interval
        let timer = Task {
            while true {
                try await Task.sleep(for: interval)
                signal()
            }
        }
        defer { timer.cancel() }
        var position = position
        var quiet = 0
        signal()
        following: for await _ in signals.cancelOnGracefulShutdown() {
            while true {
                guard let page = try await page(position) else { break following }
                position = page.position
                guard !page.events.isEmpty else { break }
                quiet = 0
                try await writer.write(ByteBuffer(bytes: page.events))
            }
            quiet += 1
            if quiet % following.heartbeat == 0 { try await writer.write(ByteBuffer(string: ": still here\n\n")) }
        }
        try await writer.finish(nil)
    }

    /// The answer whose body are the events.
    func response(after position: Int64) -> Response {
        Response(
            status: .ok,
            headers: [.contentType: "text/event-stream", .cacheControl: "no-store", .accelBuffering: "no"],
            body: ResponseBody { writer in
                var writer: any ResponseBodyWriter = writer
                try await send(after: position, to: &writer)
            })
    }

    /// The position after which a request asks for events; `nil` for those from now on.
    static func position(in request: Request, _ query: QueryItems) throws -> Int64? {
        guard let last = request.headers[.lastEventID] else { return try query.number("after", 0...Int64.max) }
        guard let number = Int64(last), number >= 0 else {
            throw ServiceFailure.parameterInvalid("Last-Event-ID", "this is not a position of an event")
        }
        return number
    }

    /// An event.
    static func event(_ name: String, _ value: some Encodable, id: Int64) -> [UInt8] {
        Array("id: \(id)\nevent: \(name)\ndata: ".utf8) + JSONText.of(value) + Array("\n\n".utf8)
    }
}

extension HTTPField.Name {
    static var lastEventID: HTTPField.Name { HTTPField.Name("Last-Event-ID") ?? .from }
    /// Tells proxies not to hold events back.
    fileprivate static var accelBuffering: HTTPField.Name { HTTPField.Name("X-Accel-Buffering") ?? .from }
}
