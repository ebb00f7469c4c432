import CookieModel
import HTTPTypes
import Hummingbird
import NIOCore
import NIOPosix
import OAuth2
import SessionOperations
import SessionStore
import SessionWire
import WebPrimitives

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The web pages at `/`: the contents of the jars, the reasons why a cookie is or is not sent, and the changes.
///
/// Rendered here, so that they work without JavaScript. They change nothing but the cache of responses, and show a value
/// only on request, to a caller with access to it.
struct Inspector: Sendable {
    /// How many bytes a form of these pages may have.
    private static let formLimit = 16 << 10
    /// How many jars a page of the overview has.
    private static let jarCount = 100
    /// How many changes a page shows before newer ones come.
    private static let changeCount: Int64 = 50
    /// How many requests of a gateway a page shows before newer ones come.
    private static let requestCount = 100

    let database: SessionDatabase
    /// Threads that may wait for the database.
    private let writers: NIOThreadPool
    let sessions: InspectorSessions
    private let changes: ChangeSignal
    private let failures: RateLimiter
    private let tick: @Sendable () -> NIODeadline
    let agentLock: AgentLock
    private let gateways: GatewayRegistry
    let pages: InspectorPages
    /// The value of a variable of the environment.
    let environment: @Sendable (String) -> String?
    let now: @Sendable () -> Timestamp

    init(
        database: SessionDatabase, writers: NIOThreadPool = .singleton, admission: Admission,
        changes: ChangeSignal = ChangeSignal(),
        agentLock: AgentLock = AgentLock(), gateways: GatewayRegistry = GatewayRegistry(), base: String = "",
        environment: @escaping @Sendable (String) -> String? = { ProcessInfo.processInfo.environment[$0] },
        now: @escaping @Sendable () -> Timestamp
    ) {
        self.changes = changes
        self.database = database
        self.writers = writers
        sessions = admission.sessions
        (failures, tick) = (admission.failures, admission.tick)
        self.agentLock = agentLock
        self.gateways = gateways
        self.environment = environment
        self.now = now
        pages = InspectorPages(base: base)
    }

    /// The pages and their assets. Each page checks access itself, because callers without access get a page, too.
    private var routes: [ServiceRoute] {
        [
            ServiceRoute(.get, "/inspector.css", .everyone) { _, _ in
                asset(InspectorPages.style, "text/css; charset=utf-8")
            },
            ServiceRoute(.get, "/inspector.js", .everyone) { _, _ in
                asset(PackageResources.inspector_js, "text/javascript; charset=utf-8")
            },
            ServiceRoute(.get, "/sign-in", .everyone, query: ["to"]) { _, context in
                page(pages.signIn(refused: false, to: InspectorPath.local(try context.query.one("to"))), for: nil)
            },
            ServiceRoute(.post, "/sign-in", .everyone, body: .document, use: signIn),
            ServiceRoute(.post, "/sign-out", .everyone, body: .document) { request, _ in signOut(request) },
            ServiceRoute(.get, "/", .everyone, query: ["name", "after"]) { request, context in
                try await answer(request, context) { try overview(context) }
            },
            ServiceRoute(.get, "/jars/{jar}", .everyone, query: ["url", "top-level", "script"]) { request, context in
                try await answer(request, context) { try jar(context) }
            },
            ServiceRoute(.get, "/jars/{jar}/changes", .everyone, query: ["after"], use: follow),
            ServiceRoute(.get, "/jars/{jar}/cache", .everyone, query: ["url", "after"]) { request, context in
                try await answer(request, context) { try cache(context) }
            },
            ServiceRoute(.post, "/jars/{jar}/cache/purge", .everyone, body: .document) { request, context in
                let form = try await form(request, PurgeForm.self, context)
                return try await answer(request, context) { try purge(form, context) }
            },
            ServiceRoute(.get, "/gateways/{name}", .everyone) { request, context in
                try await answer(request, context) {
                    let gateway = try gateway(context)
                    let start = max(0, gateway.position - Int64(Inspector.requestCount))
                    let entries = gateway.entries(after: start, limit: Inspector.requestCount)
                    return page(pages.gateway(gateway.report, entries: entries), for: context)
                }
            },
            ServiceRoute(.get, "/gateways/{name}/events", .everyone, query: ["after"]) { request, context in
                let gateway = try gateway(context)
                return GatewayFollowing(
                    gateway: gateway, gateways: gateways, following: ChangeFollowing(), caller: context.caller,
                    tokens: database.serviceTokens, now: now
                ).follower { entry in
                    EventFollower.event("request", GatewayRow(entry), id: entry.position)
                }.response(after: try EventFollower.position(in: request, context.query) ?? gateway.position)
            },
            ServiceRoute(.post, "/jars/{jar}/reveal", .everyone, body: .document) { request, context in
                let form = try await form(request, RevealForm.self, context)
                return try await answer(request, context) { try reveal(form, request, context) }
            },
        ]
    }

    func addRoutes(to router: some RouterMethods<ServiceRequestContext>) {
        for route in routes {
            router.on(RouterPath(route.path), method: route.method) { request, context in
                do {
                    return try await route.respond(to: request, in: context)
                } catch let error where error is ServiceFailure || error is OperationError {
                    let failure = ServiceFailure(error)
                    guard failure.status == .badRequest else { throw error }
                    // Someone with a browser has typed it, or follows an old link.
                    return problemPage(failure, request, context)
                }
            }
        }
    }

    // MARK: - Signing in

    private struct SignInForm: Decodable {
        let token: String
        let to: String?
    }

    @Sendable private func signIn(_ request: Request, _ context: ServiceRequestContext) async throws -> Response {
        let form: SignInForm
        do {
            form = try await self.form(request, SignInForm.self, context)
        } catch let error where ServiceFailure(error).status == .badRequest {
            if let refusal = countFailure(request, context) { return refusal }
            throw error
        }
        let to = InspectorPath.local(form.to)
        guard try database.serviceTokens.token(Secret(form.token.utf8), now: now()) != nil else {
            context.health?.note(ServiceFailure.tokenRefused, peer: context.peer)
            if let refusal = countFailure(request, context) { return refusal }
            return page(pages.signIn(refused: true, to: to), for: nil, status: .forbidden)
        }
        let cookie = InspectorCookie(for: request, base: pages.base)
        var response = redirect(to: to)
        response.headers[.setCookie] = cookie.setting(sessions.begin(with: form.token, now: now()))
        return response
    }

    /// Counts a sign-in that failed.
    ///
    /// - Returns: the answer if too many have; `nil` if the caller may go on.
    private func countFailure(_ request: Request, _ context: ServiceRequestContext) -> Response? {
        failures.take(context.peer, tick()).map { problemPage(.tooManyRequests(retryAfter: $0), request, context) }
    }

    private func signOut(_ request: Request) -> Response {
        if let identifier = InspectorCookie.identifier(in: request.headers) { sessions.end(identifier) }
        var response = redirect(to: .signIn())
        let cookie = InspectorCookie(for: request, base: pages.base)
        response.headers[.setCookie] = cookie.removing
        return response
    }

    // MARK: - Pages

    /// The page, the sign-in page for callers who have not signed in, or a page with the error.
    ///
    /// - Parameter body: Makes the page, on a thread that may block.
    private func answer(
        _ request: Request, _ context: ServiceRequestContext, _ body: @escaping @Sendable () throws -> Response
    ) async throws -> Response {
        if context.caller == .nobody {
            let to = request.method == .get ? request.uri.string : "/"
            return redirect(to: .signIn(to: to))
        }
        do {
            return try await writers.runIfActive(body)
        } catch let error where error is ServiceFailure || error is OperationError {
            return problemPage(ServiceFailure(error), request, context)
        } catch let error as SessionStoreError {
            context.health?.note(error, peer: context.peer)
            return problemPage(ServiceFailure(error), request, context)
        }
    }

    private func overview(_ context: ServiceRequestContext) throws -> Response {
        let grant = context.caller.grant
        let search = try context.query.one("name") ?? ""
        let start = try context.query.one("after")
        let now = now()
        // One more than the page has tells whether there is a next one.
        let found =
            grant.verbs.contains(.read)
            ? try database.jars(
                after: start, limit: Inspector.jarCount + 1, named: grant.jarNames, matching: search, now: now) : []
        let seesTokens = grant.coversAll && grant.verbs.contains(.read)
        let tokens = seesTokens ? try database.tokens.all().compactMap { try? $0.get() } : nil
        let running =
            grant.verbs.contains(.read)
            ? gateways.all.filter { $0.isCovered(by: grant) }.map(\.report) : []
        let overview = Overview(
            jars: Array(found.prefix(Inspector.jarCount)), search: search, isFirst: start == nil,
            hasMore: found.count > Inspector.jarCount, gateways: running, tokens: tokens, now: now)
        return page(pages.overview(overview), for: context)
    }

    private func jar(_ context: ServiceRequestContext) throws -> Response {
        let jar = try existingJar(.read, context)
        let now = now()
        let end = try jar.latestChange()
        let recent = try jar.changes(after: max(0, end - Inspector.changeCount), count: Int(Inspector.changeCount))
        let showsValues = context.caller.grant.verbs.contains(.secrets) && !agentLock.isLocked
        let contents = try JarContents(jar, showsValues: showsValues, changes: recent, now: now)
        var question = JarQuestion(url: try context.query.one("url") ?? "")
        guard !question.url.isEmpty else { return page(pages.jar(contents, question), for: context) }
        question.topLevel = try context.query.one("top-level") ?? ""
        question.isScript = try context.query.flag("script") ?? false
        do {
            var request = CookieModel.RequestContext(url: try RequestURL(question.url))
            if question.isScript { request.interface = .script }
            if !question.topLevel.isEmpty {
                request.topLevel = try RequestURL(question.topLevel)
                request.isTopLevelNavigation = false
            }
            var explanation = Explanation(request, jar: jar.name, policy: jar.policy, now: now)
            try explanation.add(jar)
            question.answer = JarAnswer(explanation) { context.caller.grant.covers(jar: $0) }
        } catch let error as RequestURLError {
            question.problem = error.description
        }
        return page(pages.jar(contents, question), for: context)
    }

    private struct RevealForm: Decodable {
        let cookie: String
    }

    private func reveal(_ form: RevealForm, _ request: Request, _ context: ServiceRequestContext) throws -> Response {
        let jar = try existingJar(.secrets, context)
        try agentLock.check()
        guard let key = CookieKey(form.cookie), let host = key.host,
            let cookie = try jar.cookies(ofSiteOf: host).readable.first(where: { CookieKey($0.id).text == key.text })
        else { throw ServiceFailure(.cookieNotFound, "the cookie no longer exists") }
        context.audit(
            SecretAccess(
                .cookieValues, jar: jar.name, site: cookie.domain.description, names: [cookie.name.description]))
        // In place, for the script of the page.
        if request.headers[.accept] == "text/plain" {
            return text(cookie.value.description, "text/plain; charset=utf-8")
        }
        return page(pages.value(of: cookie, in: jar.name), for: context)
    }

    // MARK: - Changes as they happen

    private struct ChangeEvent: Encodable {
        let at: MomentView
        let cause: String
        let label: String
    }

    @Sendable private func follow(_ request: Request, _ context: ServiceRequestContext) throws -> Response {
        let jar = try existingJar(.read, context)
        let asked = try request.headers[.lastEventID] ?? context.query.one("after")
        let position = asked.flatMap { Int64($0) } ?? 0
        let follower = ChangeFollower(
            jar: jar, following: ChangeFollowing(), changes: changes, caller: context.caller,
            tokens: database.serviceTokens, now: now
        ) { page in
            page.changes.flatMap { change in
                EventFollower.event(
                    "change",
                    ChangeEvent(
                        at: MomentView(change.time), cause: change.cause.identifier, label: change.cookie.label),
                    id: change.position)
            }
        }
        return follower.follower.response(after: max(0, position))
    }

    // MARK: - Parts

    private func gateway(_ context: ServiceRequestContext) throws -> HostedGateway {
        let name = try context.pathParameter("name")
        guard let gateway = gateways.gateway(name), gateway.isCovered(by: context.caller.grant) else {
            throw ServiceFailure(.gatewayNotFound, "\(name): no gateway of this name runs")
        }
        for jar in gateway.jars { try context.require(.read, jar: jar) }
        return gateway
    }

    func existingJar(_ verb: AccessVerb, _ context: ServiceRequestContext) throws -> CookieJar {
        let name = try context.jarName
        try context.require(verb, jar: name)
        guard let jar = try database.existingJar(named: name) else { throw ServiceFailure.jarNotFound(name) }
        return jar
    }

    private func form<Form: Decodable>(
        _ request: Request, _ type: Form.Type, _ context: ServiceRequestContext
    ) async throws -> Form {
        let body = try await request.body.collect(upTo: Inspector.formLimit)
        // The decoder would put U+FFFD in place of escaped octets that are not text.
        guard let text = String(validating: body.readableBytesView, as: UTF8.self), PercentEncoding.text(text) != nil
        else { throw ServiceFailure.bodyInvalid("the form is not percent-encoded UTF-8") }
        do {
            return try URLEncodedFormDecoder().decode(Form.self, from: text)
        } catch is URLEncodedFormError {
            // The error itself may contain data of the request.
            throw ServiceFailure.bodyInvalid("the form is not valid: it has a field twice, or a bracket in a name")
        }
    }

    private func problemPage(
        _ problem: ServiceFailure, _ request: Request, _ context: ServiceRequestContext
    ) -> Response {
        var response =
            request.headers[.accept] == "text/plain"
            ? text(problem.detail, "text/plain; charset=utf-8")
            : page(pages.problem(problem.status.reasonPhrase, detail: problem.detail), for: context)
        response.status = problem.status
        response.headers.append(contentsOf: problem.fields)
        return response
    }

    /// The page for someone who follows a link on another site's page to one of these: browsers keep the cookie of the
    /// sign-in to themselves then, and send it with a link of this page; `nil` if the request shows no page.
    @Sendable func foreignLink(_ request: Request) -> Response? {
        guard request.method == .get, InspectorPath.contains(request.uri.path),
            request.headers[.fetchMode] == "navigate", request.headers[.fetchDestination] == "document"
        else { return nil }
        return page(pages.foreignLink(to: .local(request.uri.string)), for: nil, status: .forbidden)
    }

    /// - Parameter context: The request of the viewer; `nil` on pages for everyone.
    func page(
        _ page: InspectorPage, for context: ServiceRequestContext?, status: HTTPResponse.Status = .ok
    ) -> Response {
        let caller = context.map { CallerView(name: $0.caller.name, canSignOut: $0.isInspectorSession) }
        var response = text(pages.document(page, for: caller), "text/html; charset=utf-8")
        response.status = status
        return response
    }

    func redirect(to path: InspectorPath) -> Response {
        Response(status: .seeOther, headers: Inspector.fields([.location: pages.url(path)]))
    }

    private func asset(_ bytes: [UInt8], _ type: String) -> Response {
        Response(
            status: .ok, headers: Inspector.fields([.contentType: type]),
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
    }

    private func text(_ text: String, _ type: String) -> Response {
        asset(Array(text.utf8), type)
    }

    /// Pages load and query only the service itself, and no page may embed them in a frame.
    private static func fields(_ own: HTTPFields) -> HTTPFields {
        var fields = own
        fields[.contentSecurityPolicy] =
            "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; form-action 'self'; "
            + "frame-ancestors 'none'; base-uri 'none'"
        fields[.cacheControl] = "no-store"
        for (name, value) in [
            // Not "no-referrer": it also removes the origin of forms.
            ("Referrer-Policy", "same-origin"), ("Cross-Origin-Opener-Policy", "same-origin"),
            ("Cross-Origin-Resource-Policy", "same-origin"),
        ] {
            if let name = HTTPField.Name(name) { fields[name] = value }
        }
        return fields
    }
}

extension HTTPField.Name {
    fileprivate static let fetchMode = HTTPField.Name("Sec-Fetch-Mode") ?? .ifNoneMatch
    fileprivate static let fetchDestination = HTTPField.Name("Sec-Fetch-Dest") ?? .ifNoneMatch
}
