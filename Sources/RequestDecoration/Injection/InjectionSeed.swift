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

    /// A cookie as the script has it.
    struct Seed {
        let cookie: Cookie
        /// Whether the path comes from the page's own, since no attribute can say it.
        let hasOwnPath: Bool
        /// The page that must be in the address bar: `nil` for any, empty for this one, else its origin.
        let top: Octets?

        /// The cookie as a script of that page sets it.
        init(_ cookie: Cookie, in context: RequestContext) throws(Obstacle) {
            guard cookie.name.isUTF8, cookie.value.isUTF8, cookie.id.path.isUTF8 else { throw .octetsNotUTF8 }
            let isWritable = Seed.isWritable(cookie.id.path)
            guard isWritable || cookie.id.path == CookiePolicy.defaultPath(context.url.path) else {
                throw .pathNotWritable
            }
            self.cookie = cookie
            hasOwnPath = !isWritable
            if cookie.id.partitionKey == nil {
                top = nil
            } else {
                top = context.isTopLevelNavigation ? [] : context.topLevel.map { Octets($0.origin) } ?? []
            }
        }

        /// Gives what follows name and value in the set-cookie-string, piece by piece.
        func forEachAttribute(_ body: (Octets) -> Void) {
            if !hasOwnPath {
                body(AttributeText.path)
                body(cookie.id.path)
            }
            if !cookie.isHostOnly {
                body(AttributeText.domain)
                body(cookie.domain.octets)
            }
            // A moment, not a span: a page that opens later must not give the cookie a longer life.
            if let expiry = cookie.expiry {
                body(AttributeText.expires)
                body(expiry.httpDateOctets)
            }
            if cookie.isSecure { body(AttributeText.secure) }
            switch cookie.sameSite {
            case .default: break
            case .none: body(AttributeText.sameSiteNone)
            case .lax: body(AttributeText.sameSiteLax)
            case .strict: body(AttributeText.sameSiteStrict)
            }
            if cookie.id.partitionKey != nil { body(AttributeText.partitioned) }
        }

        /// The set-cookie-string. The equals sign stands even without a name: the value may hold one.
        var line: Octets {
            var line = cookie.name.bytes + [UInt8(ascii: "=")] + cookie.value.bytes
            forEachAttribute { line += $0 }
            return Octets(line)
        }

        /// Tells one cookie with one value from another within an origin: what a tab remembers of it. Short, since it
        /// outlives the cookie there, and a page may read it.
        var mark: [UInt8] {
            var checksum = Checksum()
            checksum.add(cookie.domain.octets)
            checksum.add(flag: cookie.isHostOnly)
            checksum.add(cookie.id.path)
            checksum.add(cookie.name)
            checksum.add(cookie.value)
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

        private(set) var seeds: [Seed] = []
        private var pageCount = 0
        private var known: Set<Key> = []
        private var omissions: [Omission] = []

        /// What is left out for every page of the origin.
        var remainingOmissions: [Omission] {
            guard pageCount > 1 else { return omissions }
            let carried = Set(seeds.map(\.cookie.id))
            return omissions.filter { !carried.contains($0.cookie.id) }
        }

        mutating func add(_ page: Page, policy: CookiePolicy) {
            pageCount += 1
            // One page has each cookie once.
            if pageCount == 2 { known = Set(seeds.map { Key(id: $0.cookie.id, top: $0.top) }) }
            let rules = PageRules(page, policy)
            for cookie in page.retrieval.included {
                do throws(Obstacle) {
                    let seed = try Seed(cookie, in: page.context)
                    if let refusal = rules.refusal(of: seed) {
                        omit(cookie, page, refusal.identifiers, refusal.reasons.map(\.explanation))
                    } else if pageCount == 1 || known.insert(Key(id: cookie.id, top: seed.top)).inserted {
                        seeds.append(seed)
                    }
                } catch {
                    omit(cookie, page, [error.rawValue], [error.explanation])
                }
            }
            for exclusion in page.retrieval.excluded {
                omit(
                    exclusion.cookie, page, exclusion.reasons.identifiers,
                    exclusion.reasons.reasons.map(\.explanation))
            }
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
        func refusal(of seed: Seed) -> ReasonSet<RejectionReason>? {
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

/// The attributes of a set-cookie-string, made once.
private enum AttributeText {
    static let path: Octets = "; Path="
    static let domain: Octets = "; Domain="
    static let expires: Octets = "; Expires="
    static let secure: Octets = "; Secure"
    static let sameSiteNone: Octets = "; SameSite=None"
    static let sameSiteLax: Octets = "; SameSite=Lax"
    static let sameSiteStrict: Octets = "; SameSite=Strict"
    static let partitioned: Octets = "; Partitioned"
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
