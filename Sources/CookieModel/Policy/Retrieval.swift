/// What a retrieval comes to: the cookies that go, in order, and those that stay, with every reason.
public struct Retrieval: Sendable {
    /// A cookie that stays behind.
    public struct Exclusion: Sendable {
        /// The cookie.
        public let cookie: Cookie
        /// Why; never empty.
        public let reasons: ReasonSet<ExclusionReason>
    }

    /// The cookies that go, in the order of section 5.8.3, step 4.
    public internal(set) var included: [Cookie] = []
    /// The cookies of the same registrable domain that stay, in the same order.
    public internal(set) var excluded: [Exclusion] = []

    /// A retrieval of nothing.
    public init() {}

    /// Fills in the values of the cookies that go, for a store that keeps them sealed; those that `open` gives none
    /// for stay, as ``ExclusionReason/unreadable``. Cookies that stay are left without a value.
    public mutating func openValues(_ open: (Cookie) -> Octets?) {
        excluded = excluded.map { exclusion in
            var cookie = exclusion.cookie
            cookie.value = []
            return Exclusion(cookie: cookie, reasons: exclusion.reasons)
        }
        var opened: [Cookie] = []
        opened.reserveCapacity(included.count)
        for var cookie in included {
            if let value = open(cookie) {
                cookie.value = value
                opened.append(cookie)
            } else {
                cookie.value = []
                excluded.append(Exclusion(cookie: cookie, reasons: [.unreadable]))
            }
        }
        included = opened
    }

    /// The cookie-string (section 5.8.3, step 6); empty where no cookie goes.
    public var cookieString: Octets {
        var output: [UInt8] = []
        for cookie in included {
            if !output.isEmpty {
                output.append(ASCII.semicolon)
                output.append(ASCII.space)
            }
            output += cookie.pair
        }
        return Octets(output)
    }
}
