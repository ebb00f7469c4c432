import CookieModel
import RequestDecoration
import Testing

@Suite("How far the page of a web view has come")
struct NavigationPhaseTests {
    private static let (first, second) = ("https://www.example.com/1", "https://www.example.com/2")

    private static func failure(_ phase: NavigationFailure.Phase, code: Int = -1009) -> NavigationFailure {
        NavigationFailure(phase: phase, domain: "NSURLErrorDomain", code: code)
    }

    /// Events in their order, and what there is then.
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let events: [NavigationEvent]
        let page: NavigationPhase.Page
        var provisional: String?
        var failure: NavigationFailure?
        var isLoading = false
    }

    private static let shown: [NavigationEvent] = [.started(url: first), .committed(url: first), .finished(url: first)]

    static let rows = [
        Row(testDescription: "nothing", events: [], page: .none),
        Row(
            testDescription: "started", events: [.started(url: first)], page: .none, provisional: first,
            isLoading: true),
        Row(
            testDescription: "redirected", events: [.started(url: first), .redirected(url: second)], page: .none,
            provisional: second, isLoading: true),
        Row(
            testDescription: "committed", events: [.started(url: first), .committed(url: first)],
            page: .committed(url: first), isLoading: true),
        Row(testDescription: "finished", events: shown, page: .finished(url: first)),
        Row(
            testDescription: "a provisional failure leaves the page",
            events: shown + [.started(url: second), .failed(failure(.provisional))], page: .finished(url: first),
            failure: failure(.provisional)),
        Row(
            testDescription: "a cancelled navigation has not failed",
            events: shown + [.started(url: second), .failed(failure(.provisional, code: -999))],
            page: .finished(url: first)),
        Row(
            testDescription: "the next navigation takes the failure away",
            events: [.started(url: first), .failed(failure(.provisional)), .started(url: second)], page: .none,
            provisional: second, isLoading: true),
        Row(
            testDescription: "a failure while the page is arriving",
            events: [.started(url: first), .committed(url: first), .failed(failure(.committed))],
            page: .failed(failure(.committed))),
        Row(
            testDescription: "a page that is stopped while it is arriving",
            events: [.started(url: first), .committed(url: first), .failed(failure(.committed, code: -999))],
            page: .finished(url: first)),
        Row(
            testDescription: "a new navigation while the page is arriving",
            events: [.started(url: first), .committed(url: first), .started(url: second)],
            page: .committed(url: first), provisional: second, isLoading: true),
        Row(
            testDescription: "events of a navigation that has gone",
            events: shown + [
                .redirected(url: second), .finished(url: second), .failed(failure(.provisional)),
                .failed(failure(.committed)),
            ], page: .finished(url: first)),
        Row(
            testDescription: "the end of the process", events: shown + [.started(url: second), .processTerminated],
            page: .failed(NavigationFailure(phase: .committed, domain: "WKErrorDomain", code: 2))),
    ]

    @Test("The phase of a page follows from its events", arguments: rows)
    func phases(row: Row) {
        var state = NavigationState()
        for event in row.events { _ = NavigationPolicy().decide(event, state: &state, now: Page.now) }
        #expect(state.phase.page == row.page)
        #expect(state.phase.provisional == row.provisional)
        #expect(state.phase.provisionalFailure == row.failure)
        #expect(state.phase.isLoading == row.isLoading)
    }
}
