public import WebPrimitives

/// The decision on one received cookie, with its reasons.
public struct StorageDecision: Sendable, Hashable {
    /// The effect on the cookie store.
    public enum Outcome: String, Sendable {
        /// The cookie is new and was added.
        case stored
        /// The cookie replaced one with the same ID.
        case replaced
        /// The cookie has already expired. A stored one with the same ID is removed.
        case deleted
        /// Nothing changes.
        case rejected
    }

    /// The effect on the cookie store.
    public let outcome: Outcome
    /// The cookie as it is stored, or as it would be stored if it had not expired; `nil` if it is rejected.
    public let cookie: Cookie?
    /// Why it is rejected; empty otherwise.
    public let reasons: ReasonSet<RejectionReason>
    /// The cookies that were evicted for it, possibly including itself.
    public package(set) var evicted: [Eviction]
    /// The properties that the cookie took over from the one that it replaces or from its twins, since the store that
    /// it comes from cannot hold them.
    package internal(set) var kept: CookieProperties = []
    /// The cookies known only from requests that this one replaces. They are removed.
    package let superseded: [Cookie.ID]
    private let rejectedName: Octets?
    /// One cookie or none: most decisions have none and should not carry the room for one.
    private var previousCookies: [Cookie]

    /// The decision on `cookie` that `reception` states.
    @inline(__always)
    init(_ cookie: consuming Cookie, _ reception: consuming Reception) {
        outcome = reception.outcome
        reasons = reception.reasons
        previousCookies = reception.previous
        evicted = reception.evicted
        superseded = reception.superseded
        if reception.outcome == .rejected {
            rejectedName = cookie.name
            self.cookie = nil
        } else {
            rejectedName = nil
            self.cookie = cookie
        }
    }

    /// The decision on a line of a response whose time is unknown, if the cookie that it would replace is known to be newer;
    /// `nil` if the line may be received.
    ///
    /// - Parameters:
    ///   - stored: When the stored cookie was received; `nil` if that is unknown.
    ///   - limit: The time of the latest response before this one.
    package init?(_ setCookie: SetCookie, replacing stored: Timestamp?, after limit: Timestamp) {
        guard let stored, stored > limit else { return nil }
        self.init(rejecting: setCookie.name, [.timeUnknown])
    }

    package init(rejecting name: Octets?, _ reasons: ReasonSet<RejectionReason>) {
        outcome = .rejected
        cookie = nil
        previousCookies = []
        evicted = []
        superseded = []
        self.reasons = reasons
        rejectedName = name
    }

    /// The stored cookie with the same ID, which is removed.
    package var previous: Cookie? { previousCookies.first }

    /// Takes the values out of the cookies that went, for a store that has not opened them.
    package mutating func dropStoredValues() {
        for index in previousCookies.indices { previousCookies[index].value = [] }
        evicted = evicted.map { eviction in
            var cookie = eviction.cookie
            cookie.value = []
            return Eviction(cookie: cookie, reason: eviction.reason)
        }
    }

    /// The name received; `nil` if the line was not parsed.
    public var name: Octets? { cookie?.name ?? rejectedName }

    /// Creates the decision on a line that the parser ignores.
    package static func ignored(_ reasons: ReasonSet<RejectionReason>) -> StorageDecision {
        StorageDecision(rejecting: nil, reasons)
    }
}

/// The parts of an HTTP response that cookie rules use.
public struct ReceivedResponse: Sendable {
    /// The request of the response.
    public var context: RequestContext
    /// The status code.
    public var status: Int
    /// The field values of its Set-Cookie lines, in order.
    public var setCookie: [Octets]

    /// Creates a response from its parts.
    public init(context: RequestContext, status: Int = 200, setCookie: [Octets]) {
        self.context = context
        self.status = status
        self.setCookie = setCookie
    }

    /// Whether its Set-Cookie lines count (section 5.3 of the draft, section 5.7, step 1): those of every status but
    /// the informational ones do; 101 ends a WebSocket's handshake and counts too, as in browsers.
    package var setsCookies: Bool {
        !(100...199).contains(status) || status == 101
    }
}

/// A cookie that was removed because a limit was exceeded ("remove excess cookies", section 5.7).
public struct Eviction: Sendable, Hashable {
    /// The cookie.
    public let cookie: Cookie
    /// The limit that was exceeded.
    public let reason: EvictionReason

    /// Creates an eviction from its parts.
    package init(cookie: Cookie, reason: EvictionReason) {
        self.cookie = cookie
        self.reason = reason
    }
}

/// The outcome for a received cookie among those of its site.
struct Reception {
    /// The effect on the cookie store.
    var outcome: StorageDecision.Outcome
    /// Why the cookie is rejected.
    var reasons: ReasonSet<RejectionReason> = []
    /// The stored cookie with the same ID, if there was one.
    var previous: [Cookie] = []
    /// The cookies known only from requests that this one replaces.
    var superseded: [Cookie.ID] = []
    /// The cookies that had to make room.
    var evicted: [Eviction] = []
}
