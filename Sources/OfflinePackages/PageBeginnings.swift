package import WebPrimitives

/// Which packages each open page began with.
///
/// A page that began before an update would mix the files of two versions. So every document begins with the newest
/// packages, and everything that it loads comes from the same ones. What names the page is the Referer field: a URL within
/// its origin, and only the origin for others. A resource counts like a page for what it loads itself, as style sheets and
/// modules do.
package struct PageBeginnings<Packages: Sendable>: Sendable {
    /// The part of a request that tells its page.
    package struct Request: Sendable {
        package var url: RequestURL
        package var referrer: RequestURL?
        /// Whether it loads the page of a tab or a frame.
        package var isDocument: Bool
        /// Whether it loads the script of a service worker.
        package var isServiceWorker: Bool
        /// The connection of the client.
        package var client: UInt64

        package init(
            url: RequestURL, referrer: RequestURL? = nil, isDocument: Bool = false, isServiceWorker: Bool = false,
            client: UInt64 = 0
        ) {
            self.url = url
            self.referrer = referrer
            self.isDocument = isDocument
            self.isServiceWorker = isServiceWorker
            self.client = client
        }
    }

    private enum Place: Hashable {
        case url(RequestURL)
        case origin(String)
        case client(UInt64)
    }

    private let limit: Int
    private var beginnings: [Place: (packages: Packages, order: UInt64)] = [:]
    private var order: UInt64 = 0

    /// - Parameter limit: How many places are remembered. Of more, the oldest half is forgotten.
    package init(limit: Int = 4096) {
        self.limit = limit
    }

    /// The packages that answer a request.
    ///
    /// - Parameter newest: The packages at present.
    package mutating func packages(for request: Request, newest: Packages) -> Packages {
        if request.isDocument {
            remember(.url(request.url), newest)
            remember(.origin(request.url.origin), newest)
            remember(.client(request.client), newest)
            return newest
        }
        if request.isServiceWorker {
            // It outlives its pages, and a browser looks for a newer one from a page of any version.
            remember(.url(request.url), newest)
            return newest
        }
        guard let referrer = request.referrer else { return beginnings[.client(request.client)]?.packages ?? newest }
        var known: Packages?
        if referrer.isSameOrigin(as: request.url) { known = beginnings[.url(referrer)]?.packages }
        return known ?? beginnings[.origin(referrer.origin)]?.packages ?? newest
    }

    /// Notes that packages have answered a resource, which may load others.
    package mutating func note(_ url: RequestURL, answeredBy packages: Packages) {
        remember(.url(url), packages)
    }

    private mutating func remember(_ place: Place, _ packages: Packages) {
        order += 1
        beginnings[place] = (packages, order)
        guard beginnings.count > limit else { return }
        let middle = beginnings.values.map(\.order).sorted()[beginnings.count / 2]
        beginnings = beginnings.filter { $0.value.order >= middle }
    }
}
