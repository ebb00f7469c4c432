/// A browser's own decision on the cookies of one request, as a gateway learns it.
///
/// The cookie rules ask for the page in the address bar, the initiator and the redirects of a request. The wire does not
/// tell them. A gateway knows instead which classes of cookies the browser has sent, and the rules follow it.
public struct EngineVerdict: Sendable, Hashable {
    /// Classes of cookies, by their SameSite attribute.
    public struct Classes: OptionSet, Sendable, Hashable {
        /// The classes as bits.
        public let rawValue: UInt8

        /// Creates classes from their bits.
        public init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        /// `SameSite=None` cookies that are not partitioned.
        public static let none = Classes(rawValue: 1 << 0)
        /// `SameSite=Lax` cookies.
        public static let lax = Classes(rawValue: 1 << 1)
        /// `SameSite=Strict` cookies: the request is same-site.
        public static let strict = Classes(rawValue: 1 << 2)
        /// Cookies without a SameSite attribute.
        public static let `default` = Classes(rawValue: 1 << 3)
        /// Cookies without a SameSite attribute that were created in the last two minutes.
        public static let recentDefault = Classes(rawValue: 1 << 4)
        /// Every class, as with a same-site request.
        public static let all: Classes = [.none, .lax, .strict, .default]
    }

    /// Where the verdict comes from.
    public enum Source: String, Sendable, CaseIterable {
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
    public var classes: Classes
    /// The partition whose cookies it carries; `nil` if it carries none, or the partition is not known.
    public var partition: PartitionKey?
    /// Where the verdict comes from.
    public var source: Source

    /// Creates a verdict from its parts.
    public init(_ classes: Classes, partition: PartitionKey? = nil, source: Source) {
        self.classes = classes
        self.partition = partition
        self.source = source
    }

    /// Whether the response may set cookies of some kind.
    public var mayStore: Bool { !classes.isEmpty || partition != nil }
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
