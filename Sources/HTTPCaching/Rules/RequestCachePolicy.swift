/// How a client wants a request to be answered: the policies of Foundation's `NSURLRequest.CachePolicy`, under their own
/// names.
public enum RequestCachePolicy: String, CaseIterable, Sendable {
    /// By the rules and the protocol.
    case useProtocolCachePolicy
    /// By the server, whatever is stored.
    case reloadIgnoringLocalCacheData
    /// By the server itself: other caches on the way have to ask it, too.
    case reloadIgnoringLocalAndRemoteCacheData
    /// By what is stored, whatever its age, or else by the server.
    case returnCacheDataElseLoad
    /// By what is stored, whatever its age. Nothing is sent.
    case returnCacheDataDontLoad
    /// By what is stored if the server confirms that it is still valid, or else by the server.
    case reloadRevalidatingCacheData

    /// The treatment; `nil` if other rules decide.
    var treatment: CachingTreatment? {
        switch self {
        case .useProtocolCachePolicy: nil
        case .reloadIgnoringLocalCacheData: .reload(endToEnd: false)
        case .reloadIgnoringLocalAndRemoteCacheData: .reload(endToEnd: true)
        case .returnCacheDataElseLoad: .keep
        case .returnCacheDataDontLoad: .storedOnly
        case .reloadRevalidatingCacheData: .validate
        }
    }
}

/// How a request and its stored response are treated.
package enum CachingTreatment: Sendable, Hashable {
    /// The response is neither stored nor answered from the cache.
    case neverStore
    /// The server answers, and its response may be stored.
    case reload(endToEnd: Bool)
    /// The server is asked whether the stored response is still valid, even if it is fresh.
    case validate
    /// A stale response answers at once, and the server is asked afterwards.
    case staleThenValidate
    /// A stored response answers, whatever its age.
    case keep
    /// A stored response answers, whatever its age and directives. Nothing is sent.
    case storedOnly
    /// RFC 9111 decides.
    case `protocol`

    /// The name, which is that in a table of rules if there is one.
    package var name: String {
        switch self {
        case .neverStore: "never-store"
        case .reload(endToEnd: false): "reload"
        case .reload(endToEnd: true): "reload-everywhere"
        case .validate: "always-ask"
        case .staleThenValidate: "stale-then-ask"
        case .keep: "keep"
        case .storedOnly: "stored-only"
        case .protocol: "protocol"
        }
    }
}

/// The rule that decides about a request: its treatment, and its name in Cache-Status.
package struct AppliedRule: Sendable, Hashable, CustomStringConvertible {
    /// The place of a rule in the order of priority.
    package enum Origin: Sendable, Hashable {
        /// There is no network.
        case offline
        /// The client's own policy.
        case request(RequestCachePolicy)
        /// The line of the user's table.
        case user(line: Int)
        /// The file name has a hash.
        case hashedName
        /// The response has `immutable` (RFC 8246).
        case immutable
        /// Another static resource.
        case staticResource
        /// An HTML document.
        case document
        /// The script of a service worker.
        case serviceWorker
        /// The protocol.
        case `protocol`
    }

    /// Where the rule comes from.
    package let origin: Origin
    /// How the request is treated.
    package let treatment: CachingTreatment

    /// The rule's name.
    package var description: String {
        switch origin {
        case .offline: "offline"
        case .request(let policy): policy.rawValue
        case .user(let line): "rule-line-\(line)"
        case .hashedName: "hashed-name"
        case .immutable: "immutable"
        case .staticResource: "static"
        case .document: "document"
        case .serviceWorker: "service-worker"
        case .protocol: "protocol"
        }
    }
}
