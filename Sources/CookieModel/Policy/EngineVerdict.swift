/// A browser's own decision on the cookies of one request, as a gateway learns it.
///
/// The cookie rules ask for the page in the address bar, the initiator and the redirects of a request. The wire does not
/// tell them. A gateway knows instead which classes of cookies the browser has sent, and the rules follow it.
package struct EngineVerdict: Sendable, Hashable {
    /// Classes of cookies, by their SameSite attribute.
    package struct Classes: OptionSet, Sendable, Hashable {
        /// The classes as bits.
        package let rawValue: UInt8

        /// Creates classes from their bits.
        package init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        /// `SameSite=None` cookies that are not partitioned.
        package static let none = Classes(rawValue: 1 << 0)
        /// `SameSite=Lax` cookies.
        package static let lax = Classes(rawValue: 1 << 1)
        /// `SameSite=Strict` cookies: the request is same-site.
        package static let strict = Classes(rawValue: 1 << 2)
        /// Cookies without a SameSite attribute.
        package static let `default` = Classes(rawValue: 1 << 3)
        /// Cookies without a SameSite attribute that were created in the last two minutes.
        package static let recentDefault = Classes(rawValue: 1 << 4)
        /// Every class, as with a same-site request.
        package static let all: Classes = [.none, .lax, .strict, .default]
    }

    /// Where the verdict comes from.
    package enum Source: String, Sendable, CaseIterable {
        /// Cookies of the gateway's own, which the browser has sent or kept back.
        case witness
        /// The `Sec-Fetch` fields.
        case fetchMetadata = "sec-fetch"
        /// Nothing: the request is of an unknown kind, and carries no cookies.
        case nothing = "none"
    }

    /// How long a cookie without SameSite is recent, in seconds ("Lax-allowing-unsafe").
    static let recentAge: Int64 = 120

    /// The classes of the cookies that the request carries.
    package var classes: Classes
    /// The partition whose cookies it carries; `nil` if it carries none, or the partition is not known.
    package var partition: PartitionKey?
    /// Where the verdict comes from.
    package var source: Source

    /// Creates a verdict from its parts.
    package init(_ classes: Classes, partition: PartitionKey? = nil, source: Source) {
        self.classes = classes
        self.partition = partition
        self.source = source
    }

    /// Whether the response may set cookies of some kind.
    package var mayStore: Bool { !classes.isEmpty || partition != nil }
}

extension CookiePolicy {
    /// The classes of cookies that the rules let a request carry, in the form of a browser's decision. If a browser has
    /// decided, that is the result.
    package func verdict(on context: RequestContext) -> EngineVerdict {
        if let verdict = context.verdict { return verdict }
        let isSameSite = isSameSite(context)
        var classes: EngineVerdict.Classes = isSameSite ? .all : .none
        if context.isTopLevelNavigation, context.hasSafeMethod { classes.formUnion([.lax, .default]) }
        return EngineVerdict(
            classes, partition: partitionKey(context, isSameSite: isSameSite), source: .fetchMetadata)
    }
}
