package import CookieModel
package import HTTPCaching
import HTTPTypes
package import ResponseStore
import SessionStore

/// One request of a client that has a cache: a hop of an exchange, decorated.
package struct CachedRequest<Client: CachingClient>: Sendable {
    private let client: Client
    private let cache: PrivateCache
    private let decorator: RequestDecorator
    private let context: RequestContext
    private let request: Client.Request
    private let audience: CacheAudience
    private let policy: RequestCachePolicy
    private let now: @Sendable () -> Timestamp

    /// A request before it is sent.
    ///
    /// - Parameters:
    ///   - request: The decorated request.
    ///   - own: The caller's request, before its first decoration.
    ///   - hop: Where the chain of redirects is.
    ///   - policy: How the caller wants it to be answered.
    package init(
        _ request: Client.Request, of own: Client.Request, at hop: RedirectChain, by client: Client,
        in cache: PrivateCache, _ decorator: RequestDecorator, policy: RequestCachePolicy,
        now: @escaping @Sendable () -> Timestamp
    ) async throws {
        self.client = client
        self.cache = cache
        self.decorator = decorator
        self.request = request
        self.policy = policy
        self.now = now
        context = hop.context
        // After a redirect to another origin, the caller's own credentials are gone.
        let brought = hop.hasLeftOrigin ? [] : own.fieldValues(.authorization) + own.fieldValues(.cookie)
        let hasOwnCredential = !hop.hasLeftOrigin && own.hasField(.authorization)
        var login = hasOwnCredential ? nil : request.fieldValues(.authorization).first
        if let credential = login, let name = hop.login { login = try await name(credential) ?? credential }
        audience = CacheAudience(
            decorator.jar.policy.verdict(on: context),
            login: login, brought: brought)
    }

    /// The response: the stored one, or that of the server.
    ///
    /// - Throws: ``NotStoredError``, or the client's error.
    package func response() async throws -> (head: ResponseHead, payload: Client.Response) {
        // A body on a request that is answered from the cache could mean anything.
        if CachedRequest.isRetrieval(context), client.hasBody(request) {
            let response = try await client.send(request)
            return (client.received(response).head, response)
        }
        var exchange = await CacheExchange(asked, for: audience, in: cache, now: now(), requestPolicy: policy)
        if let answer = exchange.answer {
            let response = try await client.response(answer, to: request, status: exchange.statusField)
            validateLater(exchange)
            return (ResponseHead(answer.head), response)
        }
        if exchange.isUnavailable { throw NotStoredError(context.url) }
        return try await response(of: &exchange)
    }

    /// The request as the cache reads it.
    private var asked: CacheRequest {
        CacheRequest(method: Octets(context.method), url: context.url, fields: client.fields(of: request))
    }

    private static func isRetrieval(_ context: RequestContext) -> Bool {
        context.method == "GET" || context.method == "HEAD"
    }

    private func response(
        of exchange: inout CacheExchange
    ) async throws -> (head: ResponseHead, payload: Client.Response) {
        var sent = exchange.sentFields.map { client.replacing(request, fields: $0) } ?? request
        // A response that is of no use to the caller. Its cookies reach the jar with the next one.
        var discarded: ResponseHead?
        while true {
            let response: Client.Response
            do {
                exchange.requestTime = now()
                response = try await client.send(sent)
            } catch {
                let broken = error as? BrokenResponse
                // Section 4.4 goes by the status, whatever becomes of the body.
                if let broken {
                    let fields = MessageFields(broken.fields.map { MessageFields.Field($0.name, $0.value) })
                    await cache.invalidate(by: origin(broken.head.status, fields, exchange), to: asked)
                }
                let (reason, lost) = (broken?.reason ?? error, broken?.head.preceded(by: discarded) ?? discarded)
                guard let failure = client.failure(reason),
                    let answer = await exchange.answer(after: failure, now: now())
                else { throw lost.map { BrokenResponse($0, reason: reason) } ?? reason }
                do {
                    return (
                        ResponseHead(answer.head).preceded(by: lost),
                        try await client.response(answer, to: request, status: exchange.statusField)
                    )
                } catch {
                    throw lost.map { BrokenResponse($0, reason: error) } ?? error
                }
            }
            var received = client.received(response)
            received.head = received.head.preceded(by: discarded)
            // The client may fail to read a stored body.
            do {
                switch await take(received, in: &exchange) {
                case .pass:
                    return (
                        received.head, try await client.passed(response, after: nil, in: exchange, now: now)
                    )
                case .complete(let answer):
                    return (
                        ResponseHead(answer.head).preceded(by: received.head),
                        try await client.passed(response, after: answer, in: exchange, now: now)
                    )
                case .answer(let answer):
                    await client.discard(response)
                    return (
                        ResponseHead(answer.head).preceded(by: received.head),
                        try await client.response(answer, to: request, status: exchange.statusField)
                    )
                case .again:
                    await client.discard(response)
                    discarded = received.head
                    sent = request
                }
            } catch {
                throw BrokenResponse(received.head, reason: error)
            }
        }
    }

    private func take(_ received: ReceivedHead, in exchange: inout CacheExchange) async -> CacheExchange.Step {
        await exchange.take(
            origin(received.head.status, received.fields, exchange), bodyLength: received.bodyLength,
            mayStore: received.mayStore, now: now())
    }

    /// The response of the server as the cache reads it.
    private func origin(_ status: Int, _ fields: MessageFields, _ exchange: CacheExchange) -> OriginResponse {
        OriginResponse(status: status, fields: fields, requestTime: exchange.requestTime, responseTime: now())
    }

    /// Asks the server whether the stored response is still valid that the caller has just got, if that is necessary.
    ///
    /// No one waits for it. A failure, or a response that may be about the session and not about the resource, changes
    /// nothing. The cookies of a response whose body breaks off are stored.
    private func validateLater(_ exchange: CacheExchange) {
        guard let validation = exchange.validation(now: now()) else { return }
        Task.detached {
            defer { validation.end() }
            var exchange = validation.exchange
            let sent = exchange.sentFields.map { client.replacing(request, fields: $0) } ?? request
            let isOfResource = { (head: ResponseHead) in [200, 304, 404, 410].contains(head.status) }
            let response: Client.Response
            do {
                response = try await client.send(sent)
            } catch {
                guard let head = (error as? BrokenResponse)?.head, isOfResource(head) else { return }
                _ = try? await decorator.receive(head, in: context, at: now())
                return
            }
            let received = client.received(response)
            guard isOfResource(received.head),
                (try? await decorator.receive(received.head, in: context, at: now())) != nil,
                case .pass = await take(received, in: &exchange)
            else { return await client.discard(response) }
            await client.store(response, in: exchange, now: now)
        }
    }
}

extension ResponseHead {
    /// The head of a stored response. It has no cookies.
    fileprivate init(_ answer: StoredAnswer) {
        self.init(
            status: answer.status, location: answer.fields.values("location").first { !$0.isEmpty },
            authenticate: answer.fields.values("www-authenticate"))
    }
}
