import CookieModel
import HTTPMessages
import NIOPosix
import RequestDecoration
import SessionStore
import WebPrimitives

/// The jar behind a gateway: what goes onto a request, and what becomes of the cookies in its response.
struct JarGate: Sendable {
    let jar: CookieJar
    let mode: GatewaySettings.CookieMode
    let now: @Sendable () -> Timestamp

    /// The cookie rules' view of a request; `nil` if the jar has nothing to do with it.
    ///
    /// NB: The jar alone decides what a program gets. A request that a browser has sent passes unchanged: only the engine
    /// knows which of a site's cookies it may carry.
    func context(of request: ForwardedRequest) -> RequestContext? {
        guard !request.isOfBrowser else { return nil }
        var context = RequestContext(url: request.url)
        context.method = request.method
        return context
    }

    /// What the jar adds to a request.
    func decoration(of request: ForwardedRequest, in context: RequestContext) throws(GatewayFailure) -> Decoration {
        do {
            return try jar.decoration(
                for: context, own: request.head.values("cookie"),
                isSetByCaller: { name in
                    // The session belongs to the program that it was made with.
                    name != "user-agent" && request.head.fields.contains { request.head.lowercasedName($0) == name }
                },
                now: now())
        } catch {
            throw GatewayFailure(
                .proxyInternalError, 500, "the jar '\(jar.name)' cannot be read: \(error.description)",
                nextStep: "Run 'crumb status' to see the state of the database.")
        }
    }

    /// Stores what a response sets. It is on the disk when this returns, so the next request cannot overtake it.
    func store(
        _ response: ForwardedResponse, in context: RequestContext
    ) async throws(GatewayFailure) -> [StorageDecision] {
        let lines = response.setCookie
        guard !lines.isEmpty else { return [] }
        let received = ReceivedResponse(context: context, status: response.status, setCookie: lines)
        let moment = now()
        do {
            // Not in this task: when the gateway stops, it is cancelled, and what the server has set would be lost.
            return try await Task.detached { [jar] in
                try await NIOThreadPool.singleton.runIfActive { try jar.receive(received, now: moment) }
            }.value
        } catch {
            throw GatewayFailure(
                .proxyInternalError, 500, "the cookies of the response cannot be stored: \(error)",
                nextStep: "Run 'crumb status' to see the state of the database, and send the request again.")
        }
    }

    /// Whether a Set-Cookie line goes on to the client.
    func passes(_ line: Octets) -> Bool {
        switch mode {
        case .pass: true
        case .strip: false
        case .mirror:
            if case .cookie(let cookie) = SetCookie.parse(line, profile: jar.policy.profile) {
                !cookie.isHTTPOnly
            } else {
                false
            }
        }
    }
}
