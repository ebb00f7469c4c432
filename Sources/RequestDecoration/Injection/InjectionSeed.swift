internal import CookieModel

extension InjectionScript {
    /// What `location` shows of an origin as far as cookies know it: the port makes no difference to them (draft,
    /// section 8.5).
    struct Origin: Hashable {
        let `protocol`: String
        let host: String

        init(_ url: RequestURL) {
            // A document's scheme is never that of a WebSocket, whose cookies are those of the page.
            self.protocol = url.scheme.isCryptographic ? "https:" : "http:"
            host = url.host.description
        }
    }

    /// A cookie as the script has it.
    struct Seed {
        let cookie: Cookie
        let name: String
        let value: String
        let path: String
        /// What follows name and value in the set-cookie-string.
        let attributes: String
        /// Whether the path comes from the page's own, since no attribute can say it.
        let hasOwnPath: Bool
        /// The page that must be in the address bar: `nil` for any, empty for this one, else its origin.
        let top: String?

        /// The cookie as a script of that page sets it.
        init(_ cookie: Cookie, in context: RequestContext) throws(Obstacle) {
            guard let name = cookie.name.utf8String, let value = cookie.value.utf8String,
                let path = cookie.path.utf8String
            else { throw .octetsNotUTF8 }
            let isWritable = Seed.isWritable(cookie.path)
            guard isWritable || cookie.path == CookiePolicy.defaultPath(context.url.path) else {
                throw .pathNotWritable
            }
            var attributes = isWritable ? "; Path=\(path)" : ""
            if !cookie.isHostOnly { attributes += "; Domain=\(cookie.domain)" }
            // A moment, not a span: a page that opens later must not give the cookie a longer life.
            if let expiry = cookie.expiry { attributes += "; Expires=\(expiry.httpDate)" }
            if cookie.isSecure { attributes += "; Secure" }
            if let sameSite = cookie.sameSite.attributeValue { attributes += "; SameSite=\(sameSite)" }
            if cookie.id.partitionKey != nil { attributes += "; Partitioned" }
            self.cookie = cookie
            self.name = name
            self.value = value
            self.path = path
            self.attributes = attributes
            hasOwnPath = !isWritable
            top =
                cookie.id.partitionKey == nil
                ? nil : context.isTopLevelNavigation ? "" : context.topLevel.map(\.origin) ?? ""
        }

        /// The set-cookie-string. The equals sign stands even without a name: the value may hold one.
        var line: Octets { Octets("\(name)=\(value)\(attributes)") }

        /// Tells one cookie with one value from another within an origin: what a tab remembers of it. Short, since it
        /// outlives the cookie there, and a page may read it.
        var mark: String {
            // FNV-1a.
            var hash: UInt32 = 2_166_136_261
            for part in [cookie.domain.description, cookie.isHostOnly ? "" : ".", path, name, value, top ?? "-"] {
                for byte in Array(part.utf8) + [0] { hash = (hash ^ UInt32(byte)) &* 16_777_619 }
            }
            let digits = String(hash, radix: 16)
            return String(repeating: "0", count: 8 - digits.utf8.count) + digits
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
            let top: String?
        }

        private(set) var seeds: [Seed] = []
        private var known: Set<Key> = []
        private var omissions: [Omission] = []

        /// What is left out for every page of the origin.
        var remainingOmissions: [Omission] {
            let carried = Set(seeds.map(\.cookie.id))
            return omissions.filter { !carried.contains($0.cookie.id) }
        }

        mutating func add(_ page: Page, policy: CookiePolicy) {
            for cookie in page.retrieval.included {
                do throws(Obstacle) {
                    let seed = try Seed(cookie, in: page.context)
                    let refusal = refusal(of: seed, page, policy)
                    if let refusal {
                        omit(cookie, page, refusal.identifiers, refusal.reasons.map(\.explanation))
                    } else if known.insert(Key(id: cookie.id, top: seed.top)).inserted {
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

        /// Why a browser would refuse the cookie from a script of the page; `nil` where it would not.
        private func refusal(of seed: Seed, _ page: Page, _ policy: CookiePolicy) -> ReasonSet<RejectionReason>? {
            var browser = CookieStore(policy: policy)
            var context = page.context
            context.interface = .script
            let decision = browser.receive(seed.line, in: context, now: .distantPast)
            return decision.outcome == .rejected ? decision.reasons : nil
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
