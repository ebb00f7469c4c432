import CookieModel

/// The parsing algorithms of section 5.6 of the draft, written down as they stand.
struct TwinParser {
    enum Attribute: Equatable {
        case expires(Int)
        case maxAge(Int)
        case domain([UInt8])
        /// The path, and whether it is the default-path.
        case path([UInt8], isDefault: Bool)
        case secure
        case httpOnly
        case sameSite(SameSite)
        case partitioned
    }

    enum Result {
        case received(name: [UInt8], value: [UInt8], attributes: [Attribute])
        case ignored(RejectionReason)
    }

    static let day = 86_400_000_000
    /// The earliest representable date and time.
    static let earliest = Int.min

    let profile: CookieProfile
    /// Microseconds since 1970.
    let now: Int
    let requestPath: [UInt8]

    func parse(_ setCookieString: [UInt8]) -> Result {
        // 1.
        if TwinText.containsControl(setCookieString) { return .ignored(.controlCharacter) }
        // 2.
        let nameValuePair: [UInt8]
        let unparsedAttributes: [UInt8]
        if let semicolon = setCookieString.firstIndex(of: 0x3B) {
            nameValuePair = Array(setCookieString[..<semicolon])
            unparsedAttributes = Array(setCookieString[semicolon...])
        } else {
            nameValuePair = setCookieString
            unparsedAttributes = []
        }
        // 3.
        var (name, value) = split(nameValuePair) ?? ([], nameValuePair)
        // 4.
        name = TwinText.trimmed(name)
        value = TwinText.trimmed(value)
        // 5.
        if name.count + value.count > 4096 { return .ignored(.nameAndValueTooLong) }
        // 6.
        return .received(name: name, value: value, attributes: parseAttributes(unparsedAttributes))
    }

    private func split(_ pair: [UInt8]) -> ([UInt8], [UInt8])? {
        pair.firstIndex(of: 0x3D).map { (Array(pair[..<$0]), Array(pair[($0 + 1)...])) }
    }

    private func parseAttributes(_ unparsedAttributes: [UInt8]) -> [Attribute] {
        var attributes: [Attribute] = []
        var rest = unparsedAttributes
        // 1.
        while !rest.isEmpty {
            // 2.
            rest.removeFirst()
            // 3.
            let cookieAV = Array(rest.prefix { $0 != 0x3B })
            rest.removeFirst(cookieAV.count)
            // 4.
            var (name, value) = split(cookieAV) ?? (cookieAV, [])
            // 5.
            name = TwinText.trimmed(name)
            value = TwinText.trimmed(value)
            // 6.
            if value.count > 1024 { continue }
            // 7.
            if let attribute = process(name, value) { attributes.append(attribute) }
        }
        return attributes
    }

    private func process(_ name: [UInt8], _ value: [UInt8]) -> Attribute? {
        if TwinText.matches(name, "Expires") { return expires(value) }
        if TwinText.matches(name, "Max-Age") { return maxAge(value) }
        if TwinText.matches(name, "Domain") {
            if value == [0x2E], profile.contains(.refusesLoneDotDomain) { return .domain(value) }
            return .domain(TwinText.lowercased(value.first == 0x2E ? Array(value.dropFirst()) : value))
        }
        if TwinText.matches(name, "Path") {
            if value.isEmpty || value[0] != 0x2F {
                return profile.contains(.ignoresRelativePath)
                    ? nil : .path(TwinText.defaultPath(requestPath), isDefault: true)
            }
            return .path(value, isDefault: false)
        }
        if TwinText.matches(name, "Secure") { return .secure }
        if TwinText.matches(name, "HttpOnly") { return .httpOnly }
        if TwinText.matches(name, "SameSite") {
            for known in [SameSite.none, .strict, .lax] where TwinText.matches(value, known.attributeValue ?? "") {
                return .sameSite(known)
            }
            return profile.contains(.keepsEarlierSameSite) ? nil : .sameSite(.default)
        }
        if TwinText.matches(name, "Partitioned") { return .partitioned }
        return nil
    }

    /// Section 5.6.1.
    private func expires(_ value: [UInt8]) -> Attribute? {
        // 1 and 2.
        guard let seconds = TwinDate.parse(value) else { return nil }
        // 3, 4 and 6.
        return .expires(min(seconds * 1_000_000, now + 400 * TwinParser.day))
    }

    /// Section 5.6.2.
    private func maxAge(_ value: [UInt8]) -> Attribute? {
        // 1.
        if value.isEmpty { return nil }
        // 2.
        let isNegative = value[0] == 0x2D
        let digits = Array(isNegative ? value.dropFirst() : value[...])
        // 2 and 3.
        if digits.isEmpty || !digits.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) { return nil }
        // 4: what has more than eight digits is more than 400 days anyway.
        let significant = digits.drop { $0 == 0x30 }
        let number = significant.count > 8 ? 99_999_999 : Int(String(decoding: significant, as: UTF8.self)) ?? 0
        // 5 and 6.
        let deltaSeconds = min(isNegative ? -number : number, 400 * 86_400)
        // 7 and 8.
        return .maxAge(deltaSeconds <= 0 ? TwinParser.earliest : now + deltaSeconds * 1_000_000)
    }
}
