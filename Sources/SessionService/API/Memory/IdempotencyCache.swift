import Crypto
import HTTPTypes
import Hummingbird
import NIOCore
import SessionOperations
import Synchronization

/// Answers a repeated write with the response to the first one (draft-ietf-httpapi-idempotency-key-header).
///
/// Each caller has its own keys, and a caller without permission for the request is rejected even if the response is
/// known. Responses are kept in memory for an hour, up to the limits of writes and octets. A write that failed in the
/// service has no response, and is tried again.
final class IdempotencyCache: Sendable {
    /// How many answers are known, how many octets they have together, and for how long.
    struct Limits: Sendable {
        var entries = 4096
        var octets = 16 << 20
        var lifetime = Duration.seconds(3600)
    }

    private struct Key: Hashable {
        let token: Int64?
        let caller: String
        let text: String
    }

    private struct Answer {
        let status: HTTPResponse.Status
        let fields: HTTPFields
        let body: ByteBuffer

        var response: Response {
            Response(status: status, headers: fields, body: ResponseBody(byteBuffer: body))
        }
    }

    private struct Entry {
        let request: SHA256Digest
        let began: ContinuousClock.Instant
        /// `nil` while the first request is under way.
        var answer: Answer?
    }

    private struct State {
        var entries: [Key: Entry] = [:]
        /// The keys in the order in which their writes ended, oldest first.
        var order: [Key] = []
        var octets = 0
    }

    private let limits: Limits
    private let state = Mutex(State())

    init(limits: Limits = Limits()) {
        self.limits = limits
    }

    /// Answers a request by a route, or as it was answered before.
    func respond(
        to request: Request, in context: ServiceRequestContext, by route: ServiceRoute
    ) async throws -> Response {
        guard route.isWrite, let text = HTTPField.Name.idempotencyKey.flatMap({ request.headers[$0] }) else {
            return try await route.respond(to: request, in: context)
        }
        guard (1...255).contains(text.utf8.count) else {
            throw ServiceProblem.parameterInvalid("Idempotency-Key", "use 1 to 255 characters")
        }
        guard route.body != .streamed else {
            throw ServiceProblem.parameterInvalid(
                "Idempotency-Key", "a capture is recognized by its content; leave the field out")
        }
        try route.check(context)
        var request = request
        let body = try await request.collectedBody(in: context)
        request.body = RequestBody(buffer: body)
        let key = Key(token: context.caller.tokenID, caller: context.caller.name, text: text)
        if let known = try begin(key, IdempotencyCache.digest(of: request, body)) { return known.response }
        let response: Response
        do {
            response = try await route.respond(to: request, in: context)
        } catch {
            let problem = ServiceProblem(error)
            // A locked service and a failed one have changed nothing: the next attempt counts.
            guard problem.status.code < 500, problem.status.code != ServiceProblem.agentLocked.status.code else {
                forget(key)
                throw error
            }
            response = problem.response
        }
        do {
            let answer = try await IdempotencyCache.answer(of: response)
            end(key, answer)
            return answer.response
        } catch {
            forget(key)
            throw error
        }
    }

    private static func digest(of request: Request, _ body: ByteBuffer) -> SHA256Digest {
        var hash = SHA256()
        hash.update(data: Array("\(request.method.rawValue) \(request.uri.string)\n".utf8))
        hash.update(data: Array(body.readableBytesView))
        return hash.finalize()
    }

    private static func answer(of response: Response) async throws -> Answer {
        let collector = BodyCollector()
        try await response.body.write(collector)
        return Answer(status: response.status, fields: response.headers, body: collector.body)
    }

    /// Begins a write, unless it has been answered.
    private func begin(_ key: Key, _ request: SHA256Digest) throws(ServiceProblem) -> Answer? {
        let now = ContinuousClock.now
        let known: Entry? = state.withLock { state in
            removeOld(&state, now)
            let known = state.entries[key]
            if known == nil { state.entries[key] = Entry(request: request, began: now) }
            return known
        }
        guard let known else { return nil }
        guard known.request == request else {
            throw ServiceProblem(
                .idempotencyKeyReused, "the key was used for another request; use a new one"
            )
        }
        guard let answer = known.answer else {
            var problem = ServiceProblem(
                .idempotencyKeyRunning, "the first request with this key is still in progress; try again")
            problem.fields[.retryAfter] = "1"
            throw problem
        }
        return answer
    }

    private func end(_ key: Key, _ answer: Answer) {
        state.withLock { state in
            state.entries[key]?.answer = answer
            state.order.append(key)
            state.octets += answer.body.readableBytes
            removeOld(&state, .now)
        }
    }

    private func forget(_ key: Key) {
        state.withLock { $0.entries[key] = nil }
    }

    private func removeOld(_ state: inout State, _ now: ContinuousClock.Instant) {
        var count = 0
        for key in state.order {
            guard let entry = state.entries[key] else {
                count += 1
                continue
            }
            let isOver =
                entry.began + limits.lifetime < now || state.order.count - count > limits.entries
                || state.octets > limits.octets
            guard isOver else { break }
            state.octets -= entry.answer?.body.readableBytes ?? 0
            state.entries[key] = nil
            count += 1
        }
        state.order.removeFirst(count)
    }
}

/// Keeps a body that is written.
private final class BodyCollector: ResponseBodyWriter, Sendable {
    private let buffer = Mutex(ByteBuffer())

    var body: ByteBuffer { buffer.withLock { $0 } }

    func write(_ part: ByteBuffer) async throws {
        buffer.withLock { _ = $0.writeImmutableBuffer(part) }
    }

    func finish(_ trailingHeaders: HTTPFields?) async throws {}
}

extension HTTPField.Name {
    fileprivate static let idempotencyKey = HTTPField.Name("Idempotency-Key")
}
