import CookieModel
import HTTPMessages
import NIOCore
import ResponseStore
import SessionStore
import Synchronization
import WebPrimitives

extension ClientConnection {
    /// Asks the server whether the stored response is still valid that a client has just got, if that is necessary.
    ///
    /// Nobody waits for it. A failure, or a response that may be about the session and not about the resource, changes
    /// nothing.
    func validateLater(_ exchange: CacheExchange, _ pending: PendingRequest) {
        guard !isStopping, let validation = exchange.validation(now: gate.now()) else { return }
        var pending = pending
        pending.request.cacheFields = exchange.cacheFields
        pending.cached = validation.exchange
        pending.entry = nil
        frame.validations.run(on: servers.taskExecutor) { [pending] in
            await self.validate(pending)
            validation.end()
        }
    }

    /// How long the body of such a response may take.
    private static let longestValidation = TimeAmount.minutes(1)
    /// The statuses that say something about the resource.
    private static let statuses: Set<Int> = [200, 304, 404, 410]

    private func validate(_ pending: PendingRequest) async {
        var pending = pending
        let request = pending.request
        let partition = ConnectionPartition(request, pending.decision, client: number, gate.jar.policy.publicSuffixes)
        let route = route(to: request.destination, isTunnel: request.isTunnelled, partition)
        var demand = UpstreamConnections.Demand()
        demand.passed = passed
        demand.passed.add(PassedGateways(request.head))
        do {
            try await pending.login?.present(in: &pending.decision, request, now: gate.now())
            let head = request.octets(
                with: pending.decision.decoration, toProxy: route.isToProxy, as: servers.gateway,
                proxyAuthorization: route.isToProxy ? route.proxy?.authorization : nil)
            // NIOHPACK accepts values only as text.
            demand.isHTTP1 = String(validating: head, as: UTF8.self) == nil || head.count > HTTP2RequestCodec.headLimit
            let server =
                if let idle = await servers.idle(route, for: demand) { idle } else {
                    try await servers.connection(route, for: demand).server
                }
            do {
                try await ConnectionAttempt.with(server) {
                    pending.cached?.requestTime = gate.now()
                    try await server.write(ByteBuffer(bytes: head))
                    let response = try await finalResponse(from: server, toHead: request.method == "HEAD")
                    try await take(response, from: server, &pending)
                    // Nobody asks again for a connection that only this client uses.
                    let isKept = response.keepsConnection && !isStopping && partition.client == nil
                    if isKept { await servers.put(server, route) } else { await server.close() }
                }
            } catch {
                await server.abort()
            }
        } catch {
            // The next request tries again.
        }
    }

    private func finalResponse(from server: ByteStream, toHead isToHead: Bool) async throws -> ForwardedResponse {
        for _ in 0..<limits.interimResponses {
            guard let octets = try await server.head(idle: limits.head, within: limits.head) else { break }
            let response = try ForwardedResponse(MessageHead(octets, from: .server), toHead: isToHead)
            if !response.isInterim { return response }
        }
        throw StreamError.endedEarly
    }

    private func take(_ response: ForwardedResponse, from server: ByteStream, _ pending: inout PendingRequest)
        async throws
    {
        guard Self.statuses.contains(response.status), let context = pending.decision.context else {
            throw StreamError.endedEarly
        }
        // The browser does not get the lines with this response, but with the next one, as what it lacks.
        let lines = response.setCookie.filter { gate.profile?.isWitness($0) != true }
        _ = try await gate.store(lines, status: response.status, in: context)
        guard case .pass? = await pending.cached?.take(response, from: pending.request.destination, now: gate.now())
        else {
            // A connection with the rest of a response on it is of no use.
            if response.framing != .none { throw StreamError.endedEarly }
            return
        }
        await server.beginBody(response.framing)
        do {
            let deadline = time + Self.longestValidation
            while true {
                guard await pending.cached?.isStoring == true, !isStopping, !isAborted, time < deadline else {
                    throw StreamError.endedEarly
                }
                let piece = try await server.nextPiece(within: limits.head)
                guard case .data(let octets) = piece else {
                    await pending.cached?.finish(now: gate.now())
                    return
                }
                await pending.cached?.append(Array(octets.readableBytesView), now: gate.now())
            }
        } catch {
            await pending.cached?.breakOff(now: gate.now())
            throw error
        }
    }
}

/// The validations that no client waits for. Their clients may be gone, so the gateway ends them when it stops.
final class BackgroundValidations: Sendable {
    private let tasks = Mutex<(last: Int, running: [Int: Task<Void, Never>])>((0, [:]))

    /// Begins a validation.
    func run(on executor: any TaskExecutor, _ work: @escaping @Sendable () async -> Void) {
        tasks.withLock { tasks in
            tasks.last += 1
            tasks.running[tasks.last] = Task(executorPreference: executor) { [number = tasks.last] in
                await work()
                self.tasks.withLock { _ = $0.running.removeValue(forKey: number) }
            }
        }
    }

    /// Ends those that are in progress.
    func cancel() {
        for task in tasks.withLock({ Array($0.running.values) }) { task.cancel() }
    }
}
