/// How far the page of a web view has come, by the life-cycle events of its navigations: started, redirected, provisional
/// failure, committed, finished, failed.
///
/// A value: an app shows its progress by it. Events that come out of order, as after a navigation that another one has
/// replaced, leave it as it is.
public struct NavigationPhase: Sendable, Hashable {
    /// The page that is visible.
    public enum Page: Sendable, Hashable {
        /// None yet.
        case none
        /// Its document is arriving.
        case committed(url: String)
        /// It has been loaded.
        case finished(url: String)
        /// It has failed after a part of it was shown, or its process has ended.
        case failed(NavigationFailure)
    }

    /// The page that is visible.
    public internal(set) var page: Page
    /// The URL of the navigation that has begun and shows nothing yet; after redirects, that of the last one.
    public internal(set) var provisional: String?
    /// Why the last navigation has shown nothing; `nil` once another one has begun.
    public internal(set) var provisionalFailure: NavigationFailure?

    init(page: Page) {
        self.page = page
    }

    /// Whether a page is on its way.
    public var isLoading: Bool {
        if case .committed = page { return true }
        return provisional != nil
    }

    /// The phase after an event.
    package func after(_ event: NavigationEvent) -> NavigationPhase {
        var next = self
        switch event {
        case .started(let url): (next.provisional, next.provisionalFailure) = (url, nil)
        case .redirected(let url): if provisional != nil { next.provisional = url }
        case .committed(let url):
            (next.page, next.provisional, next.provisionalFailure) = (.committed(url: url), nil, nil)
        case .finished(let url): if case .committed = page { next.page = .finished(url: url) }
        case .failed(let failure):
            switch failure.phase {
            case .provisional:
                guard provisional != nil else { break }
                next.provisional = nil
                // A navigation that was cancelled, or became a download, has not failed.
                if !failure.isNoFailure { next.provisionalFailure = failure }
            case .committed:
                guard case .committed(let url) = page else { break }
                next.page = failure.isNoFailure ? .finished(url: url) : .failed(failure)
            }
        case .processTerminated: next = NavigationPhase(page: .failed(NavigationPolicy.processTerminated))
        case .action, .response, .newWindow: break
        }
        return next
    }
}
