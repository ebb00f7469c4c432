import CookieModel
import HTTPMessages
import PublicSuffix
import WebPrimitives

/// A set of requests that may share connections to a server. As in browsers (Fetch, section 2.7), it depends on the
/// site in the address bar, and on whether the request has credentials.
///
/// A server may have authenticated a connection, or may take the rest of one request for the next one. So no page uses
/// a connection on which a page of another site could have left data.
struct ConnectionPartition: Hashable, Sendable {
    /// The sources of the requests.
    enum Sharer: Hashable {
        /// Programs, whose requests the jar decides on.
        case programs
        /// Pages of the site in tabs, with all same-site requests in them.
        case site(SchemefulSite)
        /// One connection of the client. The site in the address bar is unknown, but browsers separate their
        /// connections to a proxy by it. For other browsers, the site of the page that the request names is used, too.
        case client(UInt64, page: SchemefulSite?)
    }

    let sharer: Sharer
    /// Whether the requests have the session. Without credentials, a server gets no client certificate.
    let hasCredentials: Bool

    /// The partition of a request.
    ///
    /// - Parameter client: The number of the client's connection.
    init(_ request: ForwardedRequest, _ decision: GatewayDecision, client: UInt64, _ suffixes: PublicSuffixList) {
        let classes = decision.verdict?.classes ?? []
        // Over http, nothing distinguishes the page of a tab from that of a frame.
        let isPage = decision.context?.isTopLevelNavigation == true && request.url.scheme.isCryptographic
        if decision.isOfProgram {
            sharer = .programs
        } else if classes.contains(.strict) || isPage {
            sharer = .site(SchemefulSite(request.url, suffixes))
        } else {
            let page = request.text("origin") ?? request.text("referer")
            sharer = .client(client, page: page.flatMap { try? RequestURL($0) }.map { SchemefulSite($0, suffixes) })
        }
        hasCredentials =
            decision.isOfProgram || !classes.isEmpty || decision.verdict?.partition != nil
            || request.head.has("cookie") || request.head.has("authorization")
    }

    /// The partition of a connection that only one client uses.
    init(client: UInt64) {
        sharer = .client(client, page: nil)
        hasCredentials = true
    }

    /// The number of the client's connection with which the partition ends; `nil` if it does not end with one.
    var client: UInt64? { if case .client(let number, _) = sharer { number } else { nil } }
}

extension GatewayDecision {
    /// Whether only the jar has decided.
    fileprivate var isOfProgram: Bool { verdict == nil && context != nil }

    /// Whether a connection can be used again after the body of the request.
    ///
    /// A server that ignores a body takes it for the next request, which then has the credentials of the next user of
    /// the connection. No response proves that the server has read the body. So the body has to come from the server's
    /// own pages, or from a program.
    func trustsBody(of request: ForwardedRequest) -> Bool {
        isOfProgram
            || verdict?.classes.contains(.strict) == true
                && request.text("sec-fetch-site").map { $0 == "same-origin" } ?? true
    }
}

extension ForwardedRequest {
    /// The value of the first field of that name, which is in lower case, as text.
    fileprivate func text(_ name: StaticString) -> String? {
        head.values(name).first.map { String(decoding: $0, as: UTF8.self) }
    }
}
