public import CookieModel

/// The one Cookie field of a request: the caller's cookies, then those of the jar that have other names.
package struct CookieMerge {
    /// The field's value; empty if there is nothing to send.
    package let octets: Octets
    /// The jar's cookies that are in it.
    package let cookies: [Cookie]
    /// The jar's cookies that are not.
    package let omissions: [RequestDecorator.Report.CookieOmission]

    /// The cookies of a request that has none of its own.
    init(_ retrieval: Retrieval) {
        (octets, cookies, omissions) = (retrieval.cookieString, retrieval.included, [])
    }

    /// - Parameters:
    ///   - own: the values of the caller's own fields.
    ///   - jar: the cookies for the request, in order.
    ///   - winsByName: whether the jar's cookies with the names of the caller's own are left out.
    ///   - order: the pairs of which a client knows the order. Those that are sent keep it, in the places that they have.
    ///   - carries: whether the client sends octets exactly as they are.
    package init(
        own: [Octets], jar: [Cookie], winsByName: Bool = true, order: [Octets] = [],
        carries: (Octets) -> Bool = { _ in true }
    ) {
        let ownNames = winsByName ? Set(own.flatMap(CookieMerge.names)) : []
        var pairs = own.filter { !$0.isEmpty }
        var cookies: [Cookie] = []
        var omissions: [RequestDecorator.Report.CookieOmission] = []
        for cookie in jar {
            if ownNames.contains(cookie.name) {
                omissions.append(RequestDecorator.Report.CookieOmission(cookie: cookie, reason: .setByCaller))
                continue
            }
            let pair = cookie.pair
            if carries(pair) {
                cookies.append(cookie)
                pairs.append(pair)
            } else {
                omissions.append(RequestDecorator.Report.CookieOmission(cookie: cookie, reason: .octetsNotCarried))
            }
        }
        CookieMerge.arrange(&pairs, in: order)
        octets = Octets(Array(pairs.joined(separator: "; ".utf8)))
        self.cookies = cookies
        self.omissions = omissions
    }

    /// Puts the pairs of `order` into that order. The other pairs stay in their places.
    private static func arrange(_ pairs: inout [Octets], in order: [Octets]) {
        var ranks: [Octets: ArraySlice<Int>] = [:]
        for (rank, pair) in order.enumerated() { ranks[pair, default: []].append(rank) }
        var places: [(place: Int, rank: Int)] = []
        for (place, pair) in pairs.enumerated() {
            if let rank = ranks[pair]?.popFirst() { places.append((place, rank)) }
        }
        let former = pairs
        for (target, source) in zip(places, places.sorted { $0.rank < $1.rank }) {
            pairs[target.place] = former[source.place]
        }
    }

    /// The names in a Cookie field value; a pair without an equals sign has none.
    private static func names(_ fieldValue: Octets) -> [Octets] {
        fieldValue.split(separator: UInt8(ascii: ";")).map { pair in
            guard let equals = pair.firstIndex(of: UInt8(ascii: "=")) else { return [] }
            return Octets(Array(pair[..<equals])).trimmingBlanks
        }
    }
}

/// Why a request is sent without a cookie that the jar has for it.
public enum CookieOmissionReason: UInt8, DecisionReason {
    /// The caller has set a cookie with that name.
    case setByCaller
    /// The client accepts header fields only as text, which cannot carry these octets.
    case octetsNotCarried

    /// The stable identifier.
    public var identifier: String {
        switch self {
        case .setByCaller: "set-by-caller"
        case .octetsNotCarried: "octets-not-carried"
        }
    }

    /// One sentence for a user.
    public var explanation: String {
        switch self {
        case .setByCaller: "the request already has a cookie of this name, which takes precedence"
        case .octetsNotCarried: "the client accepts header fields only as text, which cannot carry these octets"
        }
    }

    /// The fix, for a user or a server.
    public var remedy: String {
        switch self {
        case .setByCaller: "remove the cookie from the request"
        case .octetsNotCarried: "use a client that accepts octets; the server can encode the value in ASCII"
        }
    }
}
