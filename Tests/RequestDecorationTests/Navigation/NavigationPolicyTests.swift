import CookieModel
import RequestDecoration
import Testing

@Suite("Navigation policy")
struct NavigationPolicyTests {
    typealias Step = NavigationDecision.Step

    private var policy: NavigationPolicy {
        get throws {
            var policy = NavigationPolicy()
            policy.appSchemes = ["shopapp"]
            policy.signInPages = [try RequestURL("https://www.example.com/login")]
            return policy
        }
    }

    private func decide(_ event: NavigationEvent) throws -> NavigationDecision {
        var state = NavigationState()
        return try policy.decide(event, state: &state, now: Page.now)
    }

    private static let page = "https://www.example.com/"

    private static func action(
        _ url: String = page, _ change: (inout NavigationAction) -> Void = { _ in }
    ) -> NavigationEvent {
        var action = NavigationAction(url: url)
        change(&action)
        return .action(action)
    }

    private static func response(
        _ url: String = page, status: Int? = 200, _ change: (inout NavigationResponse) -> Void = { _ in }
    ) -> NavigationEvent {
        var response = NavigationResponse(url: url, status: status)
        change(&response)
        return .response(response)
    }

    private static func failed(
        _ phase: NavigationFailure.Phase, _ domain: String, _ code: Int
    ) -> NavigationEvent {
        .failed(NavigationFailure(phase: phase, domain: domain, code: code))
    }

    private static let lost = NavigationFailure(phase: .provisional, domain: "NSURLErrorDomain", code: -1009)
    private static let torn = NavigationFailure(phase: .committed, domain: "NSURLErrorDomain", code: -1005)

    static let rows: [(event: NavigationEvent, steps: [Step], reason: NavigationDecision.Reason)] = [
        // Ordinary navigations, and what keeps one from being loaded again with cookies.
        (action(), [.allow], .ordinary),
        (action { $0.lacksCookies = true }, [.cancel, .loadDecorated(url: page)], .cookiesMissing),
        (
            action {
                $0.lacksCookies = true; $0.method = "get"
            }, [.cancel, .loadDecorated(url: page)], .cookiesMissing
        ),
        (
            action {
                $0.lacksCookies = true; $0.method = "POST"
            }, [.allow], .ordinary
        ),
        (
            action {
                $0.lacksCookies = true; $0.isMainFrame = false
            }, [.allow], .ordinary
        ),
        (action { $0.isDownload = true }, [.download], .downloadRequested),
        (
            action {
                $0.isForNewWindow = true; $0.isMainFrame = false
            }, [.allow], .newWindow
        ),
        // Schemes.
        (action("shopapp://paid?x=1"), [.cancel, .appEvent(url: "shopapp://paid?x=1")], .appScheme),
        (action("ShopApp:paid") { $0.isMainFrame = false }, [.cancel, .appEvent(url: "ShopApp:paid")], .appScheme),
        (action("tel:+491234"), [.cancel, .handToSystem(url: "tel:+491234")], .systemScheme),
        (action("MAILTO:a@b.test"), [.cancel, .handToSystem(url: "MAILTO:a@b.test")], .systemScheme),
        (action("itms-apps://x"), [.cancel, .handToSystem(url: "itms-apps://x")], .systemScheme),
        (action("itms:x"), [.cancel, .handToSystem(url: "itms:x")], .systemScheme),
        (action("sms:1"), [.cancel, .handToSystem(url: "sms:1")], .systemScheme),
        (action("facetime:a"), [.cancel, .handToSystem(url: "facetime:a")], .systemScheme),
        (action("maps:q"), [.cancel, .handToSystem(url: "maps:q")], .systemScheme),
        (action("tel:1") { $0.isMainFrame = false }, [.cancel], .notUserInitiated),
        (
            action("tel:1") {
                $0.isMainFrame = false; $0.isUserInitiated = true
            },
            [.cancel, .handToSystem(url: "tel:1")], .systemScheme
        ),
        (action("about:blank"), [.allow], .ordinary), (action("blob:https://x.test/1"), [.allow], .ordinary),
        (action("data:text/html,x"), [.allow], .ordinary), (action("javascript:1"), [.allow], .ordinary),
        (action("intent://x"), [.cancel], .unknownScheme), (action("file:///etc/passwd"), [.cancel], .unknownScheme),
        (action(""), [.cancel], .unknownScheme), (action("no scheme:x"), [.cancel], .unknownScheme),
        // Windows.
        (.newWindow(NavigationAction(url: page)), [.openInPlace(url: page)], .newWindow),
        (.newWindow(NavigationAction(url: "tel:1")), [.handToSystem(url: "tel:1")], .systemScheme),
        (.newWindow(NavigationAction(url: "shopapp:x")), [.appEvent(url: "shopapp:x")], .appScheme),
        (.newWindow(NavigationAction(url: "about:blank")), [], .unknownScheme),
        // Answers: a status is no failure.
        (response(), [.allow, .takeCookies], .ordinary), (response(status: nil), [.allow, .takeCookies], .ordinary),
        (response(status: 404), [.allow, .takeCookies], .ordinary),
        (response(status: 500), [.allow, .takeCookies], .ordinary),
        (response(status: 403), [.allow, .takeCookies], .ordinary),
        (response(status: 401), [.allow, .takeCookies, .startLoginFallback(url: page)], .signedOut),
        (response(status: 401) { $0.isMainFrame = false }, [.allow, .takeCookies], .ordinary),
        (
            response(page + "login"), [.allow, .takeCookies, .startLoginFallback(url: page + "login")], .signedOut
        ),
        (
            response(page + "login/start?next=/"),
            [.allow, .takeCookies, .startLoginFallback(url: page + "login/start?next=/")], .signedOut
        ),
        (response(page + "login-help"), [.allow, .takeCookies], .ordinary),
        (response("https://evil.test/login"), [.allow, .takeCookies], .ordinary),
        (response { $0.canShowMediaType = false }, [.download, .takeCookies], .cannotShow),
        (response { $0.isAttachment = true }, [.download, .takeCookies], .downloadRequested),
        // Milestones.
        (.started(url: page), [], .ordinary),
        (.redirected(url: page), [.takeCookies], .ordinary), (.committed(url: page), [.takeCookies], .ordinary),
        (.finished(url: page), [.takeCookies], .ordinary),
        // Failures, and what is none.
        (.failed(lost), [.showFailure(lost)], .provisionalFailure),
        (.failed(torn), [.showFailure(torn)], .committedFailure),
        (failed(.provisional, "NSURLErrorDomain", -999), [], .noFailure),
        (failed(.committed, "NSURLErrorDomain", -999), [], .noFailure),
        (failed(.provisional, "WebKitErrorDomain", 102), [], .noFailure),
        (failed(.provisional, "WebKitErrorDomain", 204), [], .noFailure),
        (
            failed(.provisional, "WebKitErrorDomain", -999),
            [.showFailure(NavigationFailure(phase: .provisional, domain: "WebKitErrorDomain", code: -999))],
            .provisionalFailure
        ),
        (.processTerminated, [.reload], .processTerminated),
    ]

    @Test("Each navigation event has its decision", arguments: rows.indices)
    func table(index: Int) throws {
        let row = NavigationPolicyTests.rows[index]
        let decision = try decide(row.event)
        #expect(decision.steps == row.steps && decision.reason == row.reason, "\(row.event)")
        let asks = row.event.kind == .action || row.event.kind == .response
        #expect((decision.answer != nil) == asks)
    }

    @Test("A page is loaded with cookies once, and again only after it was shown or failed")
    func decoratedOnce() throws {
        let policy = try policy
        var state = NavigationState()
        let event = NavigationPolicyTests.action { $0.lacksCookies = true }
        func answer(_ event: NavigationEvent) -> NavigationDecision.Kind? {
            policy.decide(event, state: &state, now: Page.now).answer
        }
        #expect(answer(event) == .cancel)
        // The first try's end arrives late, and changes nothing.
        _ = answer(NavigationPolicyTests.failed(.provisional, "NSURLErrorDomain", -999))
        #expect(answer(event) == .allow)
        #expect(answer(NavigationPolicyTests.action("https://other.test/") { $0.lacksCookies = true }) == .cancel)
        _ = answer(.committed(url: NavigationPolicyTests.page))
        #expect(answer(event) == .cancel)
        _ = answer(.failed(NavigationPolicyTests.lost))
        #expect(answer(event) == .cancel)
    }

    @Test("The login fallback is tried once, until a page shows that the user is signed in")
    func fallbackOnce() throws {
        let policy = try policy
        var state = NavigationState()
        func steps(_ event: NavigationEvent) -> [NavigationDecision.Kind] {
            policy.decide(event, state: &state, now: Page.now).steps.map(\.kind)
        }
        let signedOut = NavigationPolicyTests.response(status: 401)
        #expect(steps(signedOut).contains(.startLoginFallback))
        #expect(steps(signedOut) == [.allow, .takeCookies])
        #expect(
            !steps(NavigationPolicyTests.response(NavigationPolicyTests.page + "login")).contains(.startLoginFallback))
        #expect(steps(NavigationPolicyTests.response { $0.isMainFrame = false }) == [.allow, .takeCookies])
        #expect(steps(signedOut) == [.allow, .takeCookies])
        #expect(steps(NavigationPolicyTests.response()) == [.allow, .takeCookies])
        #expect(steps(signedOut).contains(.startLoginFallback))
    }

    @Test("A web process that ends repeatedly is not restarted forever")
    func terminations() throws {
        let policy = try policy
        var state = NavigationState()
        func kinds(at seconds: Int64) -> [NavigationDecision.Kind] {
            policy.decide(.processTerminated, state: &state, now: Page.now.advanced(bySeconds: seconds)).steps
                .map(\.kind)
        }
        #expect(kinds(at: 0) == [.reload] && kinds(at: 10) == [.reload] && kinds(at: 20) == [.reload])
        #expect(kinds(at: 30) == [.showFailure])
        #expect(kinds(at: 200) == [.reload])
        // A clock that was set back forgets what has not happened yet.
        #expect(kinds(at: -1000) == [.reload])
    }
}
