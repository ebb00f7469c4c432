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

    /// A cookie as the script has it. Those who have it have the cookie beside it.
    ///
    /// Cookies are read where they lie: taking one out of an array copies and counts each of its parts, which costs more
    /// than all that a script does with it.
    struct Seed {
        /// Whether the path comes from the page's own, since no attribute can say it.
        let hasOwnPath: Bool
        /// The page that must be in the address bar: `nil` for any, empty for this one, else its origin.
        let top: Octets?
        /// The set-cookie-string. The equals sign stands even without a name: the value may hold one.
        let line: Octets
        /// Where ``attributes`` begin in it.
        private let attributesStart: Int

        /// The cookie at `cookie` as a script of that page sets it.
        init(
            _ cookie: UnsafePointer<Cookie>, in context: RequestContext, _ dates: inout DateCache
        ) throws(Obstacle) {
            let name = cookie.pointee.id.name
            let value = cookie.pointee.value
            let path = cookie.pointee.id.path
            guard name.isUTF8, value.isUTF8, path.isUTF8 else { throw .octetsNotUTF8 }
            let isWritable = Seed.isWritable(path)
            guard isWritable || path == CookiePolicy.defaultPath(context.url.path) else { throw .pathNotWritable }
            hasOwnPath = !isWritable
            let isPartitioned = cookie.pointee.id.partitionKey != nil
            if isPartitioned {
                top = context.isTopLevelNavigation ? [] : context.topLevel.map { Octets($0.origin) } ?? []
            } else {
                top = nil
            }
            var line: [UInt8] = []
            line.reserveCapacity(name.count + value.count + path.count + 160)
            line.write(name)
            line.append(UInt8(ascii: "="))
            line.write(value)
            attributesStart = line.count
            if isWritable {
                line.write(text: "; Path=")
                line.write(path)
            }
            if !cookie.pointee.id.isHostOnly {
                line.write(text: "; Domain=")
                line.write(cookie.pointee.id.domain.octets)
            }
            // A moment, not a span: a page that opens later must not give the cookie a longer life.
            if let expiry = cookie.pointee.expiry {
                line.write(text: "; Expires=")
                line.write(dates[expiry])
            }
            if cookie.pointee.isSecure { line.write(text: "; Secure") }
            switch cookie.pointee.sameSite {
            case .default: break
            case .none: line.write(text: "; SameSite=None")
            case .lax: line.write(text: "; SameSite=Lax")
            case .strict: line.write(text: "; SameSite=Strict")
            }
            if isPartitioned { line.write(text: "; Partitioned") }
            self.line = Octets(line)
        }

        /// What follows name and value in the set-cookie-string.
        var attributes: Octets { line[attributesStart...] }

        /// Tells one cookie with one value from another within an origin: what a tab remembers of it. Short, since it
        /// outlives the cookie there, and a page may read it.
        func mark(_ cookie: UnsafePointer<Cookie>) -> [UInt8] {
            var checksum = Checksum()
            checksum.add(cookie.pointee.id.domain.octets)
            checksum.add(flag: cookie.pointee.id.isHostOnly)
            checksum.add(cookie.pointee.id.path)
            checksum.add(cookie.pointee.id.name)
            checksum.add(cookie.pointee.value)
            checksum.add(flag: top == nil)
            if let top { checksum.add(top) }
            return checksum.digits
        }

        /// Whether a Path attribute can say this path: a default-path may hold what an attribute cannot.
        private static func isWritable(_ path: Octets) -> Bool {
            path.count <= SetCookie.attributeValueLimit && !path.contains(UInt8(ascii: ";"))
        }
    }

    /// What the script has for one origin.
    struct OriginSeeds {
        private struct Key: Hashable {
            let id: Cookie.ID
            let top: Octets?
        }

        /// The cookies of ``seeds``, one for one.
        private(set) var cookies: [Cookie] = []
        private(set) var seeds: [Seed] = []
        private var pageCount = 0
        private var known: Set<Key> = []
        private var omissions: [Omission] = []

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
            if pageCount == 2 { known = Set(zip(cookies, seeds).map { Key(id: $0.id, top: $1.top) }) }
            var places: [Int] = []
            guard let base = included.baseAddress else { return places }
            var dates = DateCache()
            places.reserveCapacity(included.count)
            seeds.reserveCapacity(seeds.count + included.count)
            for place in included.indices {
                let cookie = base + place
                do throws(Obstacle) {
                    let seed = try Seed(cookie, in: page.context, &dates)
                    if let refusal = rules.refusal(of: seed) {
                        omit(cookie.pointee, page, refusal.identifiers, refusal.reasons.map(\.explanation))
                    } else if pageCount == 1
                        || known.insert(Key(id: cookie.pointee.id, top: seed.top)).inserted
                    {
                        seeds.append(seed)
                        places.append(place)
                    }
                } catch {
                    omit(cookie.pointee, page, [error.rawValue], [error.explanation])
                }
            }
            return places
        }

        private mutating func omit(
            _ cookie: Cookie, _ page: Page, _ identifiers: [String], _ explanations: [String]
        ) {
            omissions.append(
                Omission(
                    cookie: cookie, page: page.context.url, identifiers: identifiers, explanations: explanations))
        }
    }

    /// The rules of the browser that the script is for, on one page.
    struct PageRules {
        private let policy: CookiePolicy
        private let context: RequestContext
        private let site: WebHost.Site

        init(_ page: Page, _ policy: CookiePolicy) {
            self.policy = policy
            var context = page.context
            context.interface = .script
            self.context = context
            site = context.url.host.site(policy.publicSuffixes)
        }

        /// Why the browser would refuse the cookie from a script of the page; `nil` where it would not.
        func refusal(of seed: borrowing Seed) -> ReasonSet<RejectionReason>? {
            let reasons: ReasonSet<RejectionReason>
            switch SetCookie.parse(seed.line, profile: policy.profile) {
            case .ignored(let found): reasons = found
            case .cookie(let setCookie):
                reasons = policy.candidate(for: setCookie, in: context, site: site, now: .distantPast).findings.reasons
            }
            return reasons.isEmpty ? nil : reasons
        }
    }
}

extension [UInt8] {
    fileprivate mutating func write(text: StaticString) {
        append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    fileprivate mutating func write(_ octets: Octets) {
        octets.withSpan { span in span.withUnsafeBytes { append(contentsOf: $0) } }
    }
}

/// The date that was written last: the cookies of one response mostly end at one moment.
struct DateCache {
    private var seconds: Int64?
    private var octets: Octets = []

    /// A moment as `Expires` has it.
    subscript(moment: Timestamp) -> Octets {
        mutating get {
            if moment.seconds != seconds { (seconds, octets) = (moment.seconds, moment.httpDateOctets) }
            return octets
        }
    }
}

/// A checksum over parts, told apart from their like cut elsewhere: no secret, and no proof of anything.
private struct Checksum {
    private var state: UInt64 = 0xCBF2_9CE4_8422_2325

    mutating func add(_ part: Octets) {
        mix(UInt64(part.count))
        part.withSpan { span in
            span.withUnsafeBytes { bytes in
                var offset = 0
                while offset + 8 <= bytes.count {
                    mix(UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)))
                    offset += 8
                }
                var rest: UInt64 = 0
                while offset < bytes.count {
                    rest = rest << 8 | UInt64(bytes[offset])
                    offset += 1
                }
                mix(rest)
            }
        }
    }

    mutating func add(flag: Bool) {
        mix(flag ? 1 : 2)
    }

    private mutating func mix(_ word: UInt64) {
        state = (state ^ word) &* 0x9E37_79B9_7F4A_7C15
        state ^= state >> 29
    }

    /// Eight hexadecimal digits.
    var digits: [UInt8] {
        (0..<8).map { index in
            let digit = UInt8(truncatingIfNeeded: state >> UInt64(60 - index * 4) & 15)
            return digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
        }
    }
}

extension Octets {
    /// Whether these are text.
    fileprivate var isUTF8: Bool {
        withSpan { span in
            for index in span.indices where span[index] >= 0x80 { return false }
            return true
        } || utf8String != nil
    }
}
