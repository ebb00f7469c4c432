internal import CookieModel

extension InjectionScript {
    /// The part of the script that cookies of a page share if they differ in name, value and expiry only, and whether a
    /// browser accepts them from a script. The many cookies of a site fall into few groups.
    final class CookieGroup {
        /// The cookie that the group was made for.
        private let sample: Cookie
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
        /// Why the browser refuses each plain cookie of the group; `nil` if it does not.
        let plainRefusal: ReasonSet<RejectionReason>?

        /// The group of a cookie of one of the pages with `paths`.
        init(of sample: Cookie, _ rules: PageRules, _ paths: PagePaths) throws(Obstacle) {
            let id = sample.id
            guard id.path.utf8String != nil else { throw .octetsNotUTF8 }
            // A default-path may contain characters that an attribute cannot. Then the path comes from the page's own.
            let hasOwnPath = id.path.count > SetCookie.attributeValueLimit || id.path.contains(UInt8(ascii: ";"))
            guard !hasOwnPath || id.path == CookiePolicy.defaultPath(rules.context.url.path) else {
                throw .pathNotWritable
            }
            self.sample = sample
            isUnseen = !paths.include(id.path)
            top = id.partitionKey == nil ? nil : rules.addressBar
            var before: [UInt8] = []
            if !hasOwnPath { before += Array("; Path=".utf8) + id.path }
            if !id.isHostOnly { before += Array("; Domain=".utf8) + id.domain.octets }
            var after: [UInt8] = []
            if sample.isSecure { after += "; Secure".utf8 }
            if let value = sample.sameSite.attributeValue { after += "; SameSite=\(value)".utf8 }
            if id.partitionKey != nil { after += "; Partitioned".utf8 }
            attributes = (before, after)

            var (opening, middle, ending) = (JavaScript(), JavaScript(), JavaScript())
            opening.write("\", path: ")
            opening.writeLiteral(id.path)
            opening.write(", attributes: \"")
            opening.writeWithinLiteral(Octets(before))
            middle.write(after)
            middle.write("\", expires: ")
            ending.write(", ownPath: \(hasOwnPath), unseen: \(isUnseen), top: ")
            if let top { ending.writeLiteral(top) } else { ending.write("null") }
            ending.write(", mark: \"")
            object = (opening.octets, middle.octets, ending.octets)
            var mark = CookieMark()
            mark.add(id.domain.octets)
            mark.add(flag: id.isHostOnly)
            mark.add(id.path)
            self.mark = mark
            plainRefusal = rules.refusal(of: Octets(Array("name=value".utf8) + before + after))
        }

        /// Whether the cookie, of the same page, is of the group.
        func includes(_ cookie: Cookie) -> Bool {
            cookie.isSecure == sample.isSecure && cookie.sameSite == sample.sameSite
                && cookie.id.isHostOnly == sample.id.isHostOnly && (cookie.id.partitionKey == nil) == (top == nil)
                && cookie.id.path == sample.id.path && cookie.id.domain.octets == sample.id.domain.octets
        }

        /// The set-cookie-string of a cookie of the group, without `Expires`.
        func setCookieString(_ cookie: Cookie) -> Octets {
            // The equals sign is written even without a name, because the value may contain one.
            Octets(cookie.name.bytes + [ASCII.equals] + cookie.value.bytes + attributes.before + attributes.after)
        }

        /// Writes the script's object for a cookie of the group. Every object has every property, so that none is
        /// looked up on a prototype, which a page can change.
        func write(_ cookie: Cookie, labelled: Bool, to script: inout JavaScript) {
            script.write(script.octets.isEmpty ? "{name: \"" : ", {name: \"")
            script.writeWithinLiteral(cookie.id.name)
            script.write("\", value: \"")
            script.writeWithinLiteral(cookie.value)
            script.write(object.opening)
            // A moment, not a span: a page that opens later must not give the cookie a longer life.
            if let expiry = cookie.expiry {
                script.write("; Expires=")
                expiry.appendHTTPDate(to: &script.octets)
                script.write(object.middle)
                script.write(String(expiry.seconds * 1000))
            } else {
                script.write(object.middle)
                script.write("null")
            }
            script.write(object.ending)
            var mark = mark
            mark.add(cookie.id.name)
            mark.add(cookie.value)
            mark.add(flag: top == nil)
            if let top { mark.add(top) }
            mark.write(to: &script)
            guard labelled else { return script.write("\", state: \"\"}") }
            script.write("\", state: \"\", label: ")
            script.writeLiteral(label(cookie.id.name))
            script.write("}")
        }

        /// The beginning of a cookie's entry in a report: JSON, which the literals of this module are as well.
        private func label(_ name: Octets) -> Octets {
            var label = JavaScript()
            label.write("{\"name\":")
            label.writeLiteral(name)
            label.write(sample.id.isHostOnly ? ",\"domain\":\"" : ",\"domain\":\".")
            label.write(sample.id.domain.octets)
            label.write("\",\"path\":")
            label.writeLiteral(sample.id.path)
            return Octets(label.octets)
        }
    }
}

extension Cookie {
    /// Whether a set-cookie-string can hold name and value unchanged, and no rule depends on them: printable ASCII
    /// without separators, short enough, and a name without one of the prefixes.
    var isPlain: Bool {
        !id.name.isEmpty && id.name.count + value.count <= SetCookie.nameAndValueLimit
            && !id.name.withSpan { $0.hasPrefix("__") }
            && id.name.allAre { $0 > 0x20 && $0 < 0x7F && $0 != ASCII.semicolon && $0 != ASCII.equals }
            && value.allAre { $0 > 0x20 && $0 < 0x7F && $0 != ASCII.semicolon }
    }
}

/// Identifies one cookie with one value within an origin, or some items of web storage: a tab remembers the mark. It is
/// short, since it outlives the cookie there, and a page may read it. It is a checksum over parts and their boundaries:
/// neither a secret, nor a proof of anything.
struct CookieMark {
    private var state: UInt64 = 0xCBF2_9CE4_8422_2325

    /// Writes it as eight hexadecimal digits.
    func write(to script: inout JavaScript) {
        for shift in stride(from: UInt64(60), to: 28, by: -4) {
            script.octets.append(Hexadecimal.digit(UInt8(state >> shift & 15)))
        }
    }

    /// Adds the number of octets, then words of eight octets, then the rest.
    mutating func add(_ part: Octets) {
        mix(UInt64(part.count))
        part.withSpan { octets in
            var start = 0
            while start + 8 <= octets.count {
                let word = octets.extracting(start..<(start + 8))
                mix((0..<8).reduce(0) { $0 | UInt64(word[$1]) << UInt64($1 * 8) })
                start += 8
            }
            mix((start..<octets.count).reduce(0) { $0 << 8 | UInt64(octets[$1]) })
        }
    }

    mutating func add(flag: Bool) {
        mix(flag ? 1 : 2)
    }

    private mutating func mix(_ word: UInt64) {
        state = (state ^ word) &* 0x9E37_79B9_7F4A_7C15
        state ^= state >> 29
    }
}
