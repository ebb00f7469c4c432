public import WebPrimitives

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

    /// Adds the cookies that stay by another retrieval for the same request.
    package mutating func addExclusions(of other: Retrieval) {
        guard !other.excluded.isEmpty else { return }
        excluded = (excluded + other.excluded).sorted { $0.cookie.precedes($1.cookie) }
    }

    /// The cookie-string (section 5.8.3, step 6); empty where no cookie goes.
    public var cookieString: Octets {
        var output: [UInt8] = []
        output.reserveCapacity(included.reduce(0) { $0 + $1.name.count + $1.value.count + 3 })
        for index in included.indices {
            included[index].name.withOctets { name in
                included[index].value.withOctets { output.appendPair(name, $0) }
            }
        }
        return Octets(output)
    }
}
