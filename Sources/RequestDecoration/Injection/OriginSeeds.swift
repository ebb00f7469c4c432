internal import CookieModel

extension InjectionScript {
    /// What `location` shows of an origin as far as cookies know it: the port makes no difference to them (draft,
    /// section 8.5).
    struct Origin: Hashable {
        let scheme: Octets
        let host: Octets

        init(_ url: RequestURL) {
            // A document's scheme is never that of a WebSocket, whose cookies are those of the page.
            scheme = url.scheme.isCryptographic ? "https:" : "http:"
            host = url.host.octets
        }
    }

    /// The paths of an origin's pages, for the question whether one of them sees a cookie.
    struct PagePaths {
        private let sorted: [Octets]

        init(_ paths: [Octets]) {
            sorted = Array(Set(paths)).sorted()
        }

        /// Whether one of the pages is at or below a cookie's path (section 5.1.4). Logarithmic in the number of pages.
        func include(_ cookiePath: Octets) -> Bool {
            let slash = UInt8(ascii: "/")
            let below = cookiePath.last == slash ? cookiePath : Octets(Array(cookiePath) + [slash])
            return first(from: cookiePath) == cookiePath || first(from: below)?.starts(with: below) == true
        }

        /// The first path that does not come before `path`.
        private func first(from path: Octets) -> Octets? {
            var (low, high) = (0, sorted.count)
            while low < high {
                let middle = (low + high) / 2
                if sorted[middle] < path { low = middle + 1 } else { high = middle }
            }
            return low < sorted.count ? sorted[low] : nil
        }
    }

    /// What the script has for one origin.
    ///
    /// Cookies are read where they lie: taking one out of an array copies and counts each of its parts, which costs more
    /// than all that a script does with it.
    struct OriginSeeds {
        private struct Key: Hashable {
            let id: Cookie.ID
            let top: Octets?
        }

        /// More are looked for in vain: a page whose cookies have nothing in common.
        private static let kindLimit = 16

        /// The cookies that the script sets.
        private(set) var cookies: [Cookie] = []
        /// Those of them that no page of the origin sees.
        private(set) var unseen: [Cookie] = []
        /// The script's objects for them, with commas between.
        private(set) var objects = JavaScript()
        /// The paths of the origin's pages.
        private let paths: PagePaths
        private let isLabelled: Bool
        /// The page that a partitioned cookie of the first page must see in the address bar.
        private var firstAddressBar: Octets = []
        private var pageCount = 0
        private var known: Set<Key> = []
        private var omissions: [Omission] = []

        /// Nothing so far.
        ///
        /// - Parameters:
        ///   - paths: the paths of the origin's pages.
        ///   - isLabelled: whether the objects carry what a report says of their cookies.
        init(paths: [Octets], labelled isLabelled: Bool) {
            self.paths = PagePaths(paths)
            self.isLabelled = isLabelled
        }

        /// What is left out for every page of the origin.
        var remainingOmissions: [Omission] {
            guard pageCount > 1 else { return omissions }
            let carried = Set(cookies.map(\.id))
            return omissions.filter { !carried.contains($0.cookie.id) }
        }

        mutating func add(_ page: Page, policy: CookiePolicy) {
            pageCount += 1
            let included = page.retrieval.included
            let places = included.withUnsafeBufferPointer { addSeeds($0, page, PageRules(page, policy)) }
            // Mostly all of them.
            if cookies.isEmpty, places.count == included.count {
                cookies = included
            } else {
                for place in places { cookies.append(included[place]) }
            }
            for exclusion in page.retrieval.excluded {
                omit(
                    exclusion.cookie, page, exclusion.reasons.identifiers,
                    exclusion.reasons.reasons.map(\.explanation))
            }
        }

        /// Adds the seeds of a page, and gives the places of their cookies.
        private mutating func addSeeds(
            _ included: UnsafeBufferPointer<Cookie>, _ page: Page, _ rules: PageRules
        ) -> [Int] {
            // One page has each cookie once.
            if pageCount == 1 {
                firstAddressBar = rules.addressBar
            } else if pageCount == 2 {
                known = Set(cookies.map { Key(id: $0.id, top: $0.id.partitionKey == nil ? nil : firstAddressBar) })
            }
            var places: [Int] = []
            guard let base = included.baseAddress else { return places }
            var kinds: [SeedKind] = []
            places.reserveCapacity(included.count)
            objects.reserve(objects.octets.count + included.count * 384)
            for place in included.indices {
                let cookie = base + place
                do throws(Obstacle) {
                    try SeedPair.with(cookie) { pair throws(Obstacle) in
                        guard pair.isUTF8 else { throw .octetsNotUTF8 }
                        let kind = try OriginSeeds.kind(of: cookie, &kinds, rules, paths)
                        if let refusal = kind.refusal(of: pair, rules) {
                            omit(cookie.pointee, page, refusal.identifiers, refusal.reasons.map(\.explanation))
                        } else if kind.isUnseen, !pair.isASCII {
                            throw .octetsNotVerifiable
                        } else if pageCount == 1
                            || known.insert(Key(id: cookie.pointee.id, top: kind.top)).inserted
                        {
                            if !objects.octets.isEmpty { objects.write(", ") }
                            kind.write(cookie, pair, labelled: isLabelled, to: &objects)
                            places.append(place)
                            if kind.isUnseen { unseen.append(cookie.pointee) }
                        }
                    }
                } catch {
                    omit(cookie.pointee, page, [error.rawValue], [error.explanation])
                }
            }
            return places
        }

        /// The cookie's kind, out of `kinds`, which it is added to where it is new.
        private static func kind(
            of cookie: UnsafePointer<Cookie>, _ kinds: inout [SeedKind], _ rules: PageRules, _ paths: PagePaths
        ) throws(Obstacle) -> SeedKind {
            for kind in kinds where kind.includes(cookie) { return kind }
            let kind = try SeedKind(cookie, rules, paths)
            if kinds.count == kindLimit { kinds.removeFirst() }
            kinds.append(kind)
            return kind
        }

        private mutating func omit(
            _ cookie: Cookie, _ page: Page, _ identifiers: [String], _ explanations: [String]
        ) {
            omissions.append(
                Omission(
                    cookie: cookie, page: page.context.url, identifiers: identifiers, explanations: explanations))
        }
    }
}
