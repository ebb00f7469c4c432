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

    /// The data that the script contains for one origin.
    struct OriginSeeds {
        /// A cookie may be under several pages of an origin, and in a partition of each.
        private struct Key: Hashable {
            let id: Cookie.ID
            let top: Octets?
        }

        /// The cookies that the script sets.
        private(set) var cookies: [Cookie] = []
        /// Those of them that no page of the origin sees.
        private(set) var unseen: [Cookie] = []
        /// The script's objects for them, with commas between.
        private(set) var objects = JavaScript()
        private let paths: PagePaths
        private let hasSeveralPages: Bool
        private let isLabelled: Bool
        private var known: Set<Key> = []
        private var omissions: [Omission] = []

        /// Creates data without cookies.
        ///
        /// - Parameters:
        ///   - paths: the paths of the origin's pages, one for each.
        ///   - isLabelled: whether the objects include the labels of their cookies for reports.
        init(paths: [Octets], labelled isLabelled: Bool) {
            self.paths = PagePaths(paths)
            hasSeveralPages = paths.count > 1
            self.isLabelled = isLabelled
        }

        /// The cookies that are omitted for every page of the origin.
        var remainingOmissions: [Omission] {
            guard hasSeveralPages else { return omissions }
            let carried = Set(cookies.map(\.id))
            return omissions.filter { !carried.contains($0.cookie.id) }
        }

        /// Adds the cookies of a page of the origin.
        mutating func add(_ page: Page, policy: CookiePolicy) {
            let rules = PageRules(page, policy)
            let included = page.retrieval.included
            var groups: [CookieGroup] = []
            var written: [Int] = []
            objects.octets.reserveCapacity(objects.octets.count + included.count * 384)
            for index in included.indices {
                do throws(Obstacle) {
                    if try write(included[index], page, rules, &groups) { written.append(index) }
                } catch {
                    omit(included[index], page, [error.rawValue], [error.explanation])
                }
            }
            // Usually all of one page.
            if cookies.isEmpty, written.count == included.count {
                cookies = included
            } else {
                cookies += written.map { included[$0] }
            }
            for exclusion in page.retrieval.excluded {
                let reasons = exclusion.reasons
                omit(exclusion.cookie, page, reasons.identifiers, reasons.reasons.map(\.explanation))
            }
        }

        /// Writes the object for a cookie, or omits it.
        ///
        /// - Returns: whether it wrote an object.
        private mutating func write(
            _ cookie: Cookie, _ page: Page, _ rules: PageRules, _ groups: inout [CookieGroup]
        ) throws(Obstacle) -> Bool {
            let isPlain = cookie.isPlain
            guard isPlain || cookie.name.utf8String != nil && cookie.value.utf8String != nil else {
                throw .octetsNotUTF8
            }
            let group = try group(of: cookie, rules, &groups)
            if let refusal = isPlain ? group.plainRefusal : rules.refusal(of: group.setCookieString(cookie)) {
                omit(cookie, page, refusal.identifiers, refusal.reasons.map(\.explanation))
                return false
            }
            guard isPlain || !group.isUnseen || (cookie.name.bytes + cookie.value.bytes).allSatisfy({ $0 < 0x80 })
            else {
                throw .octetsNotVerifiable
            }
            // One page has each cookie once.
            if hasSeveralPages, !known.insert(Key(id: cookie.id, top: group.top)).inserted { return false }
            group.write(cookie, labelled: isLabelled, to: &objects)
            if group.isUnseen { unseen.append(cookie) }
            return true
        }

        /// The cookie's group, which is added to `groups` if it is not among them. The oldest of many groups is
        /// forgotten, so that cookies with nothing in common take linear time.
        private func group(
            of cookie: Cookie, _ rules: PageRules, _ groups: inout [CookieGroup]
        ) throws(Obstacle) -> CookieGroup {
            for group in groups where group.includes(cookie) { return group }
            let group = try CookieGroup(of: cookie, rules, paths)
            groups = groups.suffix(15) + [group]
            return group
        }

        private mutating func omit(
            _ cookie: Cookie, _ page: Page, _ identifiers: [String], _ explanations: [String]
        ) {
            omissions.append(
                Omission(
                    cookie: cookie, page: page.context.url, identifiers: identifiers, explanations: explanations))
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

    /// The rules of the browser that the script is for, on one page.
    struct PageRules {
        private(set) var context: RequestContext
        private let policy: CookiePolicy
        private let site: WebHost.Site

        init(_ page: Page, _ policy: CookiePolicy) {
            self.policy = policy
            context = page.context
            context.interface = .script
            site = context.url.host.site(policy.publicSuffixes)
        }

        /// The page that a partitioned cookie's frame must see in the address bar: empty for itself, else its origin.
        var addressBar: Octets {
            context.isTopLevelNavigation ? [] : context.topLevel.map { Octets($0.origin) } ?? []
        }

        /// Why the browser would refuse a set-cookie-string from a script of the page; `nil` if it would not.
        func refusal(of line: Octets) -> ReasonSet<RejectionReason>? {
            let reasons: ReasonSet<RejectionReason>
            switch SetCookie.parse(line, profile: policy.profile) {
            case .ignored(let found): reasons = found
            case .cookie(let setCookie):
                reasons = policy.candidate(for: setCookie, in: context, site: site, now: .distantPast).findings.reasons
            }
            return reasons.isEmpty ? nil : reasons
        }
    }
}
