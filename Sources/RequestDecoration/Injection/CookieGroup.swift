internal import CookieModel

extension InjectionScript {
    /// The properties that cookies of a page share if they differ in name, value and expiry only: their part of the
    /// script, and whether a browser accepts them from a script. The many cookies of a site fall into few groups. This
    /// is a class, since a copy for each cookie would cost more than all other work on it.
    final class CookieGroup {
        /// The page that must be in the address bar: `nil` for any, empty for this one, else its origin.
        let top: Octets?
        /// Whether no page of the origin is at or below the path.
        let isUnseen: Bool
        private let domain: Octets
        private let path: Octets
        private let isHostOnly: Bool
        private let isSecure: Bool
        private let sameSite: SameSite
        /// Whether the path comes from the page's own, since no attribute can say it.
        private let hasOwnPath: Bool
        /// The attributes on both sides of `Expires`, as a set-cookie-string has them.
        private let attributes: (before: [UInt8], after: [UInt8])
        /// The script's object from the value's end to `Expires`, from there to the moment as a number, and from there
        /// to the mark.
        private let object: (opening: [UInt8], middle: [UInt8], ending: [UInt8])
        private let mark: CookieMark
        /// Why the browser refuses every cookie of this kind, whatever its name and value; `nil` if it does not.
        private let plainRefusal: ReasonSet<RejectionReason>?

        /// The kind of the cookie at `cookie` on one of the pages with `paths`.
        init(_ cookie: UnsafePointer<Cookie>, _ rules: PageRules, _ paths: PagePaths) throws(Obstacle) {
            let sample = cookie.pointee
            path = sample.id.path
            domain = sample.id.domain.octets
            isUnseen = !paths.include(path)
            isHostOnly = sample.id.isHostOnly
            isSecure = sample.isSecure
            sameSite = sample.sameSite
            guard path.utf8String != nil else { throw .octetsNotUTF8 }
            hasOwnPath = !CookieGroup.isWritable(path)
            guard !hasOwnPath || path == CookiePolicy.defaultPath(rules.context.url.path) else {
                throw .pathNotWritable
            }
            let isPartitioned = sample.id.partitionKey != nil
            top = isPartitioned ? rules.addressBar : nil
            var before: [UInt8] = []
            if !hasOwnPath { before += Array("; Path=".utf8) + path }
            if !isHostOnly { before += Array("; Domain=".utf8) + domain }
            var after: [UInt8] = []
            if isSecure { after += "; Secure".utf8 }
            if let value = sameSite.attributeValue { after += "; SameSite=\(value)".utf8 }
            if isPartitioned { after += "; Partitioned".utf8 }
            attributes = (before, after)
            object = CookieGroup.object(
                path, attributes, hasOwnPath: hasOwnPath, isUnseen: isUnseen, top: top)
            mark = CookieMark(sample.id)
            // Any name and value that mean nothing of their own.
            plainRefusal = rules.refusal(of: Octets(Array("name=value".utf8) + before + after))
        }

        /// Whether the cookie at `cookie`, on the same page, is of this kind.
        func includes(_ cookie: UnsafePointer<Cookie>) -> Bool {
            // The cheapest comparison comes first.
            cookie.pointee.isSecure == isSecure && cookie.pointee.sameSite == sameSite
                && cookie.pointee.id.isHostOnly == isHostOnly
                && (cookie.pointee.id.partitionKey == nil) == (top == nil)
                && cookie.pointee.id.path == path && cookie.pointee.id.domain.octets == domain
        }

        /// Why the browser would refuse a cookie of this kind from a script of the page; `nil` if it would not.
        func refusal(of pair: SeedPair, _ rules: PageRules) -> ReasonSet<RejectionReason>? {
            if pair.isPlain { return plainRefusal }
            // The equals sign is written even without a name, because the value may contain one.
            var line = Array(pair.name)
            line.append(UInt8(ascii: "="))
            line += pair.value
            return rules.refusal(of: Octets(line + attributes.before + attributes.after))
        }

        /// Writes the object that the script has of the cookie at `cookie`, which is of this kind, with this name and
        /// value. Every property is there in every object, so that none is looked up on a prototype, which a page can
        /// change.
        func write(
            _ cookie: UnsafePointer<Cookie>, _ pair: SeedPair, labelled: Bool, to script: inout JavaScript
        ) {
            script.write("{name: \"")
            script.writeWithinLiteral(pair.name)
            script.write("\", value: \"")
            script.writeWithinLiteral(pair.value)
            script.write(object.opening)
            // A moment, not a span: a page that opens later must not give the cookie a longer life.
            if let expiry = cookie.pointee.expiry {
                script.write("; Expires=")
                script.write(date: expiry)
                script.write(object.middle)
                script.write(expiry.seconds * 1000)
            } else {
                script.write(object.middle)
                script.write("null")
            }
            script.write(object.ending)
            mark.of(pair, top: top).write(to: &script)
            guard labelled else { return script.write("\", state: \"\"}") }
            script.write("\", state: \"\", label: ")
            script.writeLiteral(Octets(CookieGroup.label(cookie).octets))
            script.write("}")
        }

        private static func object(
            _ path: Octets, _ attributes: (before: [UInt8], after: [UInt8]), hasOwnPath: Bool, isUnseen: Bool,
            top: Octets?
        ) -> (opening: [UInt8], middle: [UInt8], ending: [UInt8]) {
            var opening = JavaScript()
            opening.write("\", path: ")
            opening.writeLiteral(path)
            opening.write(", attributes: \"")
            attributes.before.withUnsafeBufferPointer { opening.writeWithinLiteral($0) }
            var middle = JavaScript()
            attributes.after.withUnsafeBufferPointer { middle.writeWithinLiteral($0) }
            middle.write("\", expires: ")
            var ending = JavaScript()
            ending.write(hasOwnPath ? ", ownPath: true, unseen: " : ", ownPath: false, unseen: ")
            ending.write(isUnseen ? "true, top: " : "false, top: ")
            if let top { ending.writeLiteral(top) } else { ending.write("null") }
            ending.write(", mark: \"")
            return (opening.octets, middle.octets, ending.octets)
        }

        /// The beginning of the cookie's entry in a report: JSON, which the literals of this module are as well.
        private static func label(_ cookie: UnsafePointer<Cookie>) -> JavaScript {
            var label = JavaScript()
            label.write("{\"name\":")
            label.writeLiteral(cookie.pointee.id.name)
            label.write(",\"domain\":\"")
            if !cookie.pointee.id.isHostOnly { label.write(".") }
            label.write(cookie.pointee.id.domain.octets)
            label.write("\",\"path\":")
            label.writeLiteral(cookie.pointee.id.path)
            return label
        }

        /// Whether a Path attribute can express this path: a default-path may contain characters that an attribute
        /// cannot.
        private static func isWritable(_ path: Octets) -> Bool {
            path.count <= SetCookie.attributeValueLimit && !path.contains(UInt8(ascii: ";"))
        }
    }

    /// The rules of the browser that the script is for, on one page.
    struct PageRules {
        let context: RequestContext
        private let policy: CookiePolicy
        private let site: WebHost.Site

        init(_ page: Page, _ policy: CookiePolicy) {
            self.policy = policy
            var context = page.context
            context.interface = .script
            self.context = context
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

/// Identifies one cookie with one value within an origin, or some items of web storage: a tab remembers the mark. It is
/// short, since it outlives the cookie there, and a page may read it. It is a checksum over parts and their boundaries:
/// neither a secret, nor a proof of anything.
struct CookieMark {
    private var state: UInt64 = 0xCBF2_9CE4_8422_2325

    /// Starts a mark with the parts that cookies of one domain and path share.
    init(_ id: Cookie.ID) {
        add(id.domain.octets)
        add(flag: id.isHostOnly)
        add(id.path)
    }

    /// The mark of the items of web storage of an origin.
    init(_ items: some Sequence<WebStorageItem>) {
        for item in items {
            add(item.key)
            add(item.value)
        }
    }

    /// The mark of a cookie of that domain and path.
    ///
    /// - Parameter top: the page that must be in the address bar, `nil` for any.
    func of(_ pair: InjectionScript.SeedPair, top: Octets?) -> CookieMark {
        var mark = self
        mark.add(UnsafeRawBufferPointer(pair.name))
        mark.add(UnsafeRawBufferPointer(pair.value))
        mark.add(flag: top == nil)
        if let top { mark.add(top) }
        return mark
    }

    /// Writes it as eight hexadecimal digits.
    func write(to script: inout JavaScript) {
        var digits: UInt64 = 0
        for index in 0..<8 {
            let digit = state >> UInt64(60 - index * 4) & 15
            digits |= (digit < 10 ? 0x30 + digit : 0x57 + digit) << UInt64(index * 8)
        }
        withUnsafeBytes(of: digits.littleEndian) { script.write($0) }
    }

    private mutating func add(_ part: Octets) {
        part.withSpan { span in span.withUnsafeBytes { add($0) } }
    }

    private mutating func add(_ part: UnsafeRawBufferPointer) {
        mix(UInt64(part.count))
        var offset = 0
        while offset + 8 <= part.count {
            mix(UInt64(littleEndian: part.loadUnaligned(fromByteOffset: offset, as: UInt64.self)))
            offset += 8
        }
        var rest: UInt64 = 0
        while offset < part.count {
            rest = rest << 8 | UInt64(part[offset])
            offset += 1
        }
        mix(rest)
    }

    private mutating func add(flag: Bool) {
        mix(flag ? 1 : 2)
    }

    private mutating func mix(_ word: UInt64) {
        state = (state ^ word) &* 0x9E37_79B9_7F4A_7C15
        state ^= state >> 29
    }
}
