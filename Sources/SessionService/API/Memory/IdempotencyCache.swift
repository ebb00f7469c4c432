import CookieModel
import Crypto
import HTTPTypes
import Hummingbird
import NIOCore
import NIOPosix
import SessionOperations
import SessionStore
import SessionWire
import Synchronization

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Answers a repeated write with the response to the first one (draft-ietf-httpapi-idempotency-key-header).
///
/// Each caller has its own keys, and a caller without permission for the request is rejected even if the response is
/// known. Responses are known for an hour: in memory, up to the limits of writes and octets; over a database on a server,
/// to every service there (``RepeatableRequest``). A write that failed in the service has no response, and is tried again.
final class IdempotencyCache: Sendable {
    /// How many answers are known in memory, how many octets they have together, and for how long.
    struct Limits: Sendable {
        var entries = 4096
        var octets = 16 << 20
        var lifetime = Duration.seconds(3600)
    }

    /// The attempt that the current request is, if other services have to know of it.
    ///
    /// Tasks that go on after the request inherit it, such as a refresh that others have joined. So the store does not look
    /// at it, and what a route hands to a writer's thread alone is committed for the attempt.
    @TaskLocal static var current: RepeatableRequest?

    /// The database on a server, the threads that may wait for it, and the clock.
    typealias Shared = (database: SessionDatabase, writers: NIOThreadPool, now: @Sendable () -> Timestamp)

    private struct Key: Hashable {
        let token: Int64?
        let caller: String
        let text: String

        /// The octets that no other key has.
        var octets: [UInt8] { Array("\(token.map(String.init) ?? "") \(caller.utf8.count) \(caller)\(text)".utf8) }
    }

    /// A write under way.
    private enum Attempt {
        case inMemory(Key)
        case shared(RepeatableRequest)
    }

    private struct Answer: Codable {
        let head: HTTPResponse
        let body: ByteBuffer

        var response: Response {
            Response(status: head.status, headers: head.headerFields, body: ResponseBody(byteBuffer: body))
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
    private let shared: Shared?
    private let state = Mutex(State())

    /// A cache in memory, or in a database on a server.
    init(limits: Limits = Limits(), shared: Shared? = nil) {
        self.limits = limits
        self.shared = shared
    }

    /// Answers a request by a route, or as it was answered before.
    func respond(
        to request: Request, in context: ServiceRequestContext, by route: ServiceRoute
    ) async throws -> Response {
        guard route.isWrite, let text = HTTPField.Name.idempotencyKey.flatMap({ request.headers[$0] }) else {
            return try await route.respond(to: request, in: context)
        }
        guard (1...255).contains(text.utf8.count) else {
            throw ServiceFailure.parameterInvalid("Idempotency-Key", "use 1 to 255 characters")
        }
        guard route.body != .streamed else {
            throw ServiceFailure.parameterInvalid(
                "Idempotency-Key", "a capture is recognized by its content; leave the field out")
        }
        try route.check(context)
        var request = request
        let body = try await request.collectedBody(in: context)
        request.body = RequestBody(buffer: body)
        let key = Key(token: context.caller.tokenID, caller: context.caller.name, text: text)
        let attempt: Attempt
        switch try await begin(key, IdempotencyCache.digest(of: request, body)) {
        case .known(let answer): return answer.response
        case .new(let begun): attempt = begun
        }
        do {
            let answer = try await answer(to: request, in: context, by: route, attempt)
            await end(attempt, answer)
            return answer.response
        } catch {
            await end(attempt, failingWith: ServiceFailure(error))
            throw error
        }
    }

    private func answer(
        to request: Request, in context: ServiceRequestContext, by route: ServiceRoute, _ attempt: Attempt
    ) async throws -> Answer {
        let response: Response
        do {
            let known: RepeatableRequest? = if case .shared(let known) = attempt { known } else { nil }
            response = try await IdempotencyCache.$current.withValue(known) {
                try await route.respond(to: request, in: context)
            }
        } catch {
            let problem = ServiceFailure(error)
            // A locked service and a failed one have changed nothing: the next attempt counts.
            guard problem.status.code < 500, problem.status.code != ServiceFailure.agentLocked.status.code else {
                throw error
            }
            response = problem.response
        }
        let collector = BodyCollector()
        try await response.body.write(collector)
        return Answer(
            head: HTTPResponse(status: response.status, headerFields: response.headers), body: collector.body)
    }

    private static func digest(of request: Request, _ body: ByteBuffer) -> SHA256Digest {
        var hash = SHA256()
        hash.update(data: Array("\(request.method.rawValue) \(request.uri.string)\n".utf8))
        hash.update(data: Array(body.readableBytesView))
        return hash.finalize()
    }

    /// The outcome of the beginning of a write.
    private enum Beginning {
        case new(Attempt)
        case known(Answer)
    }

    /// Begins a write, unless it has been answered.
    private func begin(_ key: Key, _ request: SHA256Digest) async throws -> Beginning {
        guard let shared else { return try beginInMemory(key, request) }
        let attempt = RepeatableRequest(key: Array(SHA256.hash(data: key.octets)), request: Array(request))
        let now = shared.now()
        let expiry = now.advanced(by: limits.lifetime)
        switch try await shared.writers.runIfActive({
            try shared.database.begin(attempt, until: expiry, now: now)
        }) {
        case .new: return .new(.shared(attempt))
        case .different: throw ServiceFailure.idempotencyKeyReused
        case .running: throw ServiceFailure.idempotencyKeyRunning
        case .committed: throw ServiceFailure.idempotencyAnswerLost
        case .answered(let octets):
            guard let answer = try? JSONDecoder().decode(Answer.self, from: Data(octets.bytes)) else {
                throw ServiceFailure.idempotencyAnswerLost
            }
            return .known(answer)
        }
    }

    private func beginInMemory(_ key: Key, _ request: SHA256Digest) throws(ServiceFailure) -> Beginning {
        let now = ContinuousClock.now
        let known: Entry? = state.withLock { state in
            removeOld(&state, now)
            let known = state.entries[key]
            if known == nil { state.entries[key] = Entry(request: request, began: now) }
            return known
        }
        guard let known else { return .new(.inMemory(key)) }
        guard known.request == request else { throw .idempotencyKeyReused }
        guard let answer = known.answer else { throw .idempotencyKeyRunning }
        return .known(answer)
    }

    /// Keeps the answer to a write.
    private func end(_ attempt: Attempt, _ answer: Answer) async {
        switch attempt {
        case .inMemory(let key):
            state.withLock { state in
                state.entries[key]?.answer = answer
                state.order.append(key)
                state.octets += answer.body.readableBytes
                removeOld(&state, .now)
            }
        case .shared(let request):
            // The caller gets its answer in any case: an answer that cannot be kept is lost for a repetition.
            let isSmall = answer.body.readableBytes <= IdempotencyCache.sharedAnswerLimit
            let octets = isSmall ? (try? JSONEncoder().encode(answer)).map { Array($0) } : nil
            await write { try $0.end(request, answer: octets) }
        }
    }

    /// Ends a write that has no answer.
    private func end(_ attempt: Attempt, failingWith problem: ServiceFailure) async {
        switch attempt {
        case .inMemory(let key): state.withLock { $0.entries[key] = nil }
        case .shared(let request):
            // If this fails, the next attempt has to wait for a while.
            await write { database in
                if problem.code == FailureKind.commitUnknown.code {
                    try database.end(request, answer: nil)
                } else {
                    try database.forget(request)
                }
            }
        }
    }

    /// Writes the end of an attempt, whose client may have left.
    private func write(_ body: @escaping @Sendable (SessionDatabase) throws -> Void) async {
        guard let shared else { return }
        await Task { try? await shared.writers.runIfActive { try body(shared.database) } }.value
    }

    /// How many octets an answer has at most that other services know.
    private static let sharedAnswerLimit = 64 << 10

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

extension ServiceFailure {
    fileprivate static let idempotencyKeyReused = ServiceFailure(
        .idempotencyKeyReused, "the key was used for another request; use a new one")
    fileprivate static let idempotencyKeyRunning = {
        var problem = ServiceFailure(
            .idempotencyKeyRunning, "the first request with this key is still in progress; try again")
        problem.fields[.retryAfter] = "1"
        return problem
    }()
    fileprivate static let idempotencyAnswerLost = ServiceFailure(
        .idempotencyAnswerLost,
        "the first request with this key was carried out, at least in part, but its answer was lost; read what is stored"
    )
}

extension HTTPField.Name {
    fileprivate static let idempotencyKey = HTTPField.Name("Idempotency-Key")
}
