internal import CookieModel

extension InjectionScript {
    /// The parts of an origin in `location` that matter for cookies: the port makes no difference to them (draft,
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

    /// The data that the script contains for one origin.
    ///
    /// Cookies are read in place: taking one out of an array copies each of its parts and counts a reference to it,
    /// which costs more than all other work on it.
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

        /// Creates data without cookies.
        ///
        /// - Parameters:
        ///   - paths: the paths of the origin's pages.
        ///   - isLabelled: whether the objects include the labels of their cookies for reports.
        init(paths: [Octets], labelled isLabelled: Bool) {
            self.paths = PagePaths(paths)
            self.isLabelled = isLabelled
        }

        /// The cookies that are omitted for every page of the origin.
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
            var kinds: [CookieGroup] = []
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
            of cookie: UnsafePointer<Cookie>, _ kinds: inout [CookieGroup], _ rules: PageRules, _ paths: PagePaths
        ) throws(Obstacle) -> CookieGroup {
            for kind in kinds where kind.includes(cookie) { return kind }
            let kind = try CookieGroup(cookie, rules, paths)
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

extension InjectionScript {
    /// Name and value of a cookie where they lie, for as long as ``with(_:_:)`` runs.
    struct SeedPair {
        let name: UnsafeBufferPointer<UInt8>
        let value: UnsafeBufferPointer<UInt8>
        /// Whether a set-cookie-string can hold both unchanged, and no rule depends on them: printable ASCII without
        /// separators, short enough, and a name without one of the prefixes.
        let isPlain: Bool

        private init(name: UnsafeBufferPointer<UInt8>, value: UnsafeBufferPointer<UInt8>) {
            self.name = name
            self.value = value
            isPlain = SeedPair.isPlain(name, value)
        }

        /// Runs `body` on name and value of the cookie at `cookie`.
        static func with<Result>(
            _ cookie: UnsafePointer<Cookie>, _ body: (SeedPair) throws(Obstacle) -> Result
        ) throws(Obstacle) -> Result {
            try cookie.pointee.id.name.withSpan { name throws(Obstacle) in
                try cookie.pointee.value.withSpan { value throws(Obstacle) in
                    try name.withUnsafeBufferPointer { name throws(Obstacle) in
                        try value.withUnsafeBufferPointer { value throws(Obstacle) in
                            try body(SeedPair(name: name, value: value))
                        }
                    }
                }
            }
        }

        /// Whether both are text.
        var isUTF8: Bool {
            isPlain || [name, value].allSatisfy { String(validating: $0, as: UTF8.self) != nil }
        }

        /// Whether both are ASCII.
        var isASCII: Bool {
            isPlain || [name, value].allSatisfy { part in part.allAre { $0 < 0x80 } }
        }

        private static func isPlain(
            _ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>
        ) -> Bool {
            guard let first = name.first, name.count + value.count <= SetCookie.nameAndValueLimit else { return false }
            if first == UInt8(ascii: "_"), name.count > 1, name[1] == first { return false }
            return name.allAre { !SeedPair.isOdd($0) && $0 != UInt8(ascii: "=") }
                && value.allAre { !SeedPair.isOdd($0) }
        }

        @inline(__always)
        private static func isOdd(_ octet: UInt8) -> Bool {
            octet &- 0x21 > 0x5D || octet == UInt8(ascii: ";")
        }
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// Whether all octets are of a kind. Goes to the end in any case: a loop without another way out takes many at a time.
    @inline(__always)
    func allAre(_ isOfKind: (UInt8) -> Bool) -> Bool {
        var odd: UInt8 = 0
        for octet in self { odd |= isOfKind(octet) ? 0 : 1 }
        return odd == 0
    }
}
