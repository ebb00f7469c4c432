import CookieModel
import HTTPTypes
import Hummingbird
import NIOCore
import ServiceLifecycle
import SessionOperations
import SessionStore

/// How changes are followed.
struct ChangeFollowing: Sendable {
    /// How often the journal is asked.
    var interval = Duration.milliseconds(250)
    /// After how many questions without an answer the follower gets a sign of life.
    var heartbeat = 60
    /// How many milliseconds a follower waits before it comes again.
    var retry = 2000
}

/// Says that a follower has missed changes.
struct MissedChanges: Codable {
    /// How far the follower is now.
    let position: Int64
}

extension SessionAPI {
    var changeRoutes: [ServiceRoute] {
        [
            ServiceRoute(.get, "/v1/jars/{jar}/changes", .jar(.read)) { request, context in
                let query = try QueryItems(request, known: ["after", "limit"])
                let position = try query.number("after", 0...Int64.max) ?? 0
                let limit = Int(try query.number("limit", 1...1000) ?? 1000)
                let jar = try jar(in: context)
                return .json(ChangeList(try jar.changes(after: position, count: limit)))
            },
            ServiceRoute(.get, "/v1/jars/{jar}/events", .jar(.read), use: follow),
        ]
    }

    /// The changes as they come, as server-sent events (HTML, section 9.2).
    private func follow(_ request: Request, _ context: ServiceRequestContext) async throws -> Response {
        let query = try QueryItems(request, known: ["after"])
        let jar = try jar(in: context)
        let position: Int64
        if let last = request.headers[.lastEventID] {
            guard let number = Int64(last), number >= 0 else {
                throw ServiceProblem.parameterInvalid("Last-Event-ID", "this is no position of the journal")
            }
            position = number
        } else if let after = try query.number("after", 0...Int64.max) {
            position = after
        } else {
            // Who says nothing wants what comes from now on.
            position = try jar.changes(after: .max, count: 1).position
        }
        let following = following
        return Response(
            status: .ok,
            headers: [.contentType: "text/event-stream", .cacheControl: "no-store", .accelBuffering: "no"],
            body: ResponseBody { writer in
                var follower = ChangeFollower(jar: jar, position: position)
                try await writer.write(ByteBuffer(string: "retry: \(following.retry)\n\n"))
                var quiet = 0
                while !Task.isCancelled, !Task.isShuttingDownGracefully {
                    let events = try follower.events()
                    if events.isEmpty {
                        quiet += 1
                        if quiet % following.heartbeat == 0 {
                            try await writer.write(ByteBuffer(string: ": still here\n\n"))
                        }
                        do {
                            try await Task.sleep(for: following.interval)
                        } catch {
                            break
                        }
                    } else {
                        quiet = 0
                        try await writer.write(ByteBuffer(bytes: events))
                    }
                }
                try await writer.finish(nil)
            })
    }
}

/// Reads a jar's journal on behalf of one follower.
private struct ChangeFollower {
    let jar: CookieJar
    var position: Int64

    /// What has come since the last time, as events.
    mutating func events() throws -> [UInt8] {
        let page = try jar.changes(after: position, count: 1000)
        var events: [UInt8] = []
        if page.hasGap {
            let start = page.changes.first.map { $0.position - 1 } ?? page.position
            events += ChangeFollower.event("missed", MissedChanges(position: start), id: start)
        }
        for change in page.changes {
            events += ChangeFollower.event("change", ChangeReport(change), id: change.position)
        }
        position = page.position
        return events
    }

    private static func event(_ name: String, _ value: some Encodable, id: Int64) -> [UInt8] {
        Array("id: \(id)\nevent: \(name)\ndata: ".utf8) + JSONText.of(value) + Array("\n\n".utf8)
    }
}

extension HTTPField.Name {
    fileprivate static var lastEventID: HTTPField.Name { HTTPField.Name("Last-Event-ID") ?? .from }
    /// Tells proxies not to hold events back.
    fileprivate static var accelBuffering: HTTPField.Name { HTTPField.Name("X-Accel-Buffering") ?? .from }
}
