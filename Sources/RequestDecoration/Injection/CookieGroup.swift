internal import CookieModel

extension InjectionScript {
    /// The part of the script that cookies of a page share if they differ in name, value and expiry only, and whether a
    /// browser accepts them from a script. The many cookies of a site fall into few groups.
    final class CookieGroup {
        /// The properties that the cookies of a group share.
        struct Key: Hashable {
            let domain: Octets
            let path: Octets
            let isHostOnly: Bool
            let isSecure: Bool
            let isPartitioned: Bool
            let sameSite: SameSite

            init(_ cookie: Cookie) {
                domain = cookie.id.domain.octets
                path = cookie.id.path
                isHostOnly = cookie.id.isHostOnly
                isSecure = cookie.isSecure
                isPartitioned = cookie.id.partitionKey != nil
                sameSite = cookie.sameSite
            }
        }

        /// The page that must be in the address bar: `nil` for any, empty for this one, else its origin.
        let top: Octets?
        /// Whether no page of the origin is at or below the path.
        let isUnseen: Bool
        /// The attributes before and after `Expires`, as a set-cookie-string has them.
        private let attributes: (before: [UInt8], after: [UInt8])
        /// The script's object from the value's end to `Expires`, from there to the moment as a number, and from there
        /// to the mark.
        private let object: (opening: [UInt8], middle: [UInt8], ending: [UInt8])
        /// The mark of domain and path.
        private let mark: CookieMark
        /// Why the browser refuses every cookie of the group with a plain name and value; `nil` if it does not.
        private let plainRefusal: ReasonSet<RejectionReason>?

        /// The group with these properties on one of the pages with `paths`.
        init(_ key: Key, _ rules: PageRules, _ paths: PagePaths) throws(Obstacle) {
            guard key.path.utf8String != nil else { throw .octetsNotUTF8 }
            // A default-path may contain characters that an attribute cannot. Then the path comes from the page's own.
            let hasOwnPath = key.path.count > SetCookie.attributeValueLimit || key.path.contains(UInt8(ascii: ";"))
            guard !hasOwnPath || key.path == CookiePolicy.defaultPath(rules.context.url.path) else {
                throw .pathNotWritable
            }
            isUnseen = !paths.include(key.path)
            top = key.isPartitioned ? rules.addressBar : nil
            var before: [UInt8] = []
            if !hasOwnPath { before += Array("; Path=".utf8) + key.path }
            if !key.isHostOnly { before += Array("; Domain=".utf8) + key.domain }
            var after: [UInt8] = []
            if key.isSecure { after += "; Secure".utf8 }
            if let value = key.sameSite.attributeValue { after += "; SameSite=\(value)".utf8 }
            if key.isPartitioned { after += "; Partitioned".utf8 }
            attributes = (before, after)

            var opening = JavaScript()
            opening.write("\", path: ")
            opening.writeLiteral(key.path)
            opening.write(", attributes: \"")
            opening.writeWithinLiteral(Octets(before))
            var middle = JavaScript()
            middle.writeWithinLiteral(Octets(after))
            middle.write("\", expires: ")
            var ending = JavaScript()
            ending.write(", ownPath: \(hasOwnPath), unseen: \(isUnseen), top: ")
            if let top { ending.writeLiteral(top) } else { ending.write("null") }
            ending.write(", mark: \"")
            object = (opening.octets, middle.octets, ending.octets)
            mark = CookieMark(key)
            plainRefusal = rules.refusal(of: Octets(Array("name=value".utf8) + before + after))
        }

        /// Why the browser would refuse a cookie of the group from a script of the page; `nil` if it would not.
        func refusal(of cookie: Cookie, _ text: SeedText, _ rules: PageRules) -> ReasonSet<RejectionReason>? {
            if text == .plain { return plainRefusal }
            // The equals sign is written even without a name, because the value may contain one.
            let pair = Array(cookie.id.name) + [UInt8(ascii: "=")] + cookie.value
            return rules.refusal(of: Octets(pair + attributes.before + attributes.after))
        }

        /// Writes the script's object for a cookie of the group. Every object has every property, so that none is
        /// looked up on a prototype, which a page can change.
        func write(_ cookie: Cookie, labelled: Bool, to script: inout JavaScript) {
            script.write("{name: \"")
            script.writeWithinLiteral(cookie.id.name)
            script.write("\", value: \"")
            script.writeWithinLiteral(cookie.value)
            script.write(object.opening)
            // A moment, not a span: a page that opens later must not give the cookie a longer life.
            if let expiry = cookie.expiry {
                script.write("; Expires=")
                script.write(date: expiry)
                script.write(object.middle)
                script.write(String(expiry.seconds * 1000))
            } else {
                script.write(object.middle)
                script.write("null")
            }
            script.write(object.ending)
            mark.of(cookie, top: top).write(to: &script)
            script.write("\", state: \"\"")
            if labelled {
                script.write(", label: ")
                script.writeLiteral(CookieGroup.label(cookie))
            }
            script.write("}")
        }

        /// The beginning of the cookie's entry in a report: JSON, which the literals of this module are as well.
        private static func label(_ cookie: Cookie) -> Octets {
            var label = JavaScript()
            label.write("{\"name\":")
            label.writeLiteral(cookie.id.name)
            label.write(cookie.id.isHostOnly ? ",\"domain\":\"" : ",\"domain\":\".")
            label.write(cookie.id.domain.octets)
            label.write("\",\"path\":")
            label.writeLiteral(cookie.id.path)
            return Octets(label.octets)
        }
    }

    /// The kind of text that name and value of a cookie are.
    enum SeedText {
        /// Printable ASCII that a set-cookie-string can hold unchanged, and that no rule depends on: without
        /// separators, short enough, and a name without one of the prefixes.
        case plain
        /// Other ASCII.
        case ascii
        /// Other UTF-8.
        case utf8
        /// Octets that are not text.
        case binary

        init(of cookie: Cookie) {
            let (name, value) = (cookie.id.name, cookie.value)
            if SeedText.isPlain(name, value) {
                self = .plain
            } else if name.utf8String == nil || value.utf8String == nil {
                self = .binary
            } else {
                self = name.allSatisfy { $0 < 0x80 } && value.allSatisfy { $0 < 0x80 } ? .ascii : .utf8
            }
        }

        private static func isPlain(_ name: Octets, _ value: Octets) -> Bool {
            !name.isEmpty && name.count + value.count <= SetCookie.nameAndValueLimit
                && !name.starts(with: "__".utf8)
                && name.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: ";") && $0 != UInt8(ascii: "=") }
                && value.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: ";") }
        }
    }
}

/// Identifies one cookie with one value within an origin, or some items of web storage: a tab remembers the mark. It is
/// short, since it outlives the cookie there, and a page may read it. It is a checksum over parts and their boundaries:
/// neither a secret, nor a proof of anything.
struct CookieMark {
    private var state: UInt64 = 0xCBF2_9CE4_8422_2325

    /// Starts a mark with the parts that cookies of one domain and path share.
    init(_ key: InjectionScript.CookieGroup.Key) {
        add(key.domain)
        add(flag: key.isHostOnly)
        add(key.path)
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
    func of(_ cookie: Cookie, top: Octets?) -> CookieMark {
        var mark = self
        mark.add(cookie.id.name)
        mark.add(cookie.value)
        mark.add(flag: top == nil)
        if let top { mark.add(top) }
        return mark
    }

    /// Writes it as eight hexadecimal digits.
    func write(to script: inout JavaScript) {
        script.write((0..<8).map { Hexadecimal.digit(UInt8(state >> UInt64(60 - $0 * 4) & 15)) })
    }

    /// Adds the number of octets, then words of eight octets, then the rest.
    private mutating func add(_ part: Octets) {
        mix(UInt64(part.count))
        let end = part.count & ~7
        for start in stride(from: 0, to: end, by: 8) {
            var word: UInt64 = 0
            for offset in 0..<8 { word |= UInt64(part[start + offset]) << UInt64(offset * 8) }
            mix(word)
        }
        mix(part[end...].reduce(0) { $0 << 8 | UInt64($1) })
    }

    private mutating func add(flag: Bool) {
        mix(flag ? 1 : 2)
    }

    private mutating func mix(_ word: UInt64) {
        state = (state ^ word) &* 0x9E37_79B9_7F4A_7C15
        state ^= state >> 29
    }
}
