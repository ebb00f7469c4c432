import WebPrimitives

/// The secrets in URLs, wherever a URL occurs: as that of the request, in a field, in JSON, or in a parameter of
/// another URL.
extension SecretRedaction {
    /// How often a value is decoded, and how deep URLs within URLs are searched. Deeper values are left out.
    static let depthLimit = 8

    /// A URL without its secrets: user information, and the values of secret parameters in its path, its query and its
    /// fragment, also in URLs within it, even if they are encoded several times.
    package static func url(_ url: [UInt8]) -> [UInt8] {
        url.redacted(places(inURL: url[...]).map { SecretPlace(range: $0) })
    }

    /// The same for a URL in a message.
    package static func url(_ url: String) -> String {
        isSuspicious(url.utf8) ? String(decoding: self.url(Array(url.utf8)), as: UTF8.self) : url
    }

    /// The places of secrets in a URL.
    package static func places(inURL url: ArraySlice<UInt8>, depth: Int = 0) -> [Range<Int>] {
        guard isSuspicious(url) else { return [] }
        let fragment = url.firstIndex(of: ASCII.numberSign) ?? url.endIndex
        let query = url[..<fragment].firstIndex(of: ASCII.questionMark) ?? fragment
        var places = userInformation(in: url[..<query])
        for segment in url[..<query].split(separator: ASCII.slash) {
            places += self.places(inPairs: segment, .secrets, depth)
        }
        for part in [url[query..<fragment], url[fragment...]] {
            places += self.places(inForm: part.dropFirst(), .secrets, depth: depth)
        }
        return places
    }

    /// The places of secrets in the URLs of a text.
    ///
    /// - Parameter isURL: Whether each word may be a URL, even if it does not look like one, as relative ones.
    static func places(inText text: ArraySlice<UInt8>, isURL: Bool = false, depth: Int = 0) -> [Range<Int>] {
        guard isSuspicious(text) else { return [] }
        return words(of: text).flatMap { word in
            isURL || looksLikeURL(word) ? places(inURL: word, depth: depth) : []
        }
    }

    /// The words of a text, without the quotes and brackets around them. URLs may contain an apostrophe or a backtick,
    /// so these count as quotes only before a word, up to the next one.
    private static func words(of text: ArraySlice<UInt8>) -> [ArraySlice<UInt8>] {
        var words: [ArraySlice<UInt8>] = []
        var start = text.startIndex
        var quote: UInt8?
        for index in text.indices {
            let octet = text[index]
            let isQuote = octet == UInt8(ascii: "'") || octet == UInt8(ascii: "`")
            if isQuote, quote == nil, index == start || "=(,:;".utf8.contains(text[index - 1]) {
                quote = octet
            } else if isQuote, quote == octet {
                quote = nil
            } else if octet <= ASCII.space || octet == ASCII.quote || "<>".utf8.contains(octet) {
                quote = nil
            } else {
                continue
            }
            words.append(text[start..<index])
            start = index + 1
        }
        return words + [text[start...]]
    }

    private static func looksLikeURL(_ text: ArraySlice<UInt8>) -> Bool {
        guard let first = text.first else { return false }
        return "/?#\\".utf8.contains(first) || text.contains("://".utf8) || text.contains(":\\\\".utf8)
            || text.firstIndex(of: ASCII.questionMark).map { text[$0...].contains(ASCII.equals) } == true
    }

    /// Whether a text contains an octet that every text with a secret has.
    private static func isSuspicious(_ text: some Sequence<UInt8>) -> Bool {
        text.contains { $0 == ASCII.equals || $0 == ASCII.percent || $0 == UInt8(ascii: "@") || $0 == ASCII.leftBrace }
    }

    /// The places of user names and passwords before hosts (RFC 3986, section 3.2.1), in a URL up to the end of its
    /// path. Browsers treat a backslash as a slash.
    private static func userInformation(in url: ArraySlice<UInt8>) -> [Range<Int>] {
        func isSlash(_ octet: UInt8) -> Bool { octet == ASCII.slash || octet == ASCII.backslash }
        var places: [Range<Int>] = []
        var position = url.startIndex
        while let slash = url[position...].firstIndex(where: isSlash) {
            position = slash + 1
            guard position < url.endIndex, isSlash(url[position]),
                slash == url.startIndex || url[slash - 1] == ASCII.colon
            else { continue }
            position += 1
            let authority = url[position...].prefix { !isSlash($0) }
            if let at = authority.lastIndex(of: UInt8(ascii: "@")), at > position { places.append(position..<at) }
        }
        return places
    }

    /// The places of secrets in a form (`application/x-www-form-urlencoded`) or a query.
    static func places(
        inForm form: ArraySlice<UInt8>, _ names: SecretNames = .secrets, depth: Int = 0
    ) -> [Range<Int>] {
        form.split(separator: ASCII.ampersand).flatMap { places(inPairs: $0, names, depth) }
    }

    /// The places of secrets in a name and its value, or in several separated by semicolons. Everything after the first
    /// secret name may be part of its value.
    private static func places(
        inPairs text: ArraySlice<UInt8>, _ names: SecretNames, _ depth: Int
    ) -> [Range<Int>] {
        var places: [Range<Int>] = []
        for part in text.split(separator: ASCII.semicolon) {
            guard let equals = part.firstIndex(of: ASCII.equals) else {
                if names.includesURLs { places += self.places(inValue: part, isPart: part.count < text.count, depth) }
                continue
            }
            if equals + 1 < text.endIndex, names.contains(part[..<equals]) {
                places.append((equals + 1)..<text.endIndex)
                return places
            }
            guard names.includesURLs else { continue }
            places += self.places(inValue: part[..<equals], isPart: true, depth)
            places += self.places(inValue: part[(equals + 1)...], isPart: true, depth)
        }
        return places
    }

    /// The places of secrets in a value, which may be a URL or JSON, encoded or not.
    ///
    /// - Parameter isPart: Whether it is shorter than the text in which it was found.
    private static func places(inValue value: ArraySlice<UInt8>, isPart: Bool, _ depth: Int) -> [Range<Int>] {
        guard isSuspicious(value) else { return [] }
        let (decoded, starts) = percentDecoded(value)
        let isEncoded = decoded.count < value.count
        guard isEncoded || isPart else { return [] }
        guard depth < depthLimit else { return [value.startIndex..<value.endIndex] }
        let first = decoded.first
        let json =
            first == ASCII.leftBrace || first == ASCII.leftBracket
            ? self.places(inJSON: decoded[...], .secrets, depth: depth + 1)?.map(\.range) : nil
        let places = json ?? self.places(inURL: decoded[...], depth: depth + 1)
        return places.map { starts[$0.lowerBound]..<starts[$0.upperBound] }
    }

    /// The percent-decoded text, with the positions of its octets in the original, and the end of the original.
    private static func percentDecoded(_ text: ArraySlice<UInt8>) -> (octets: [UInt8], starts: [Int]) {
        var octets: [UInt8] = []
        var starts: [Int] = []
        var index = text.startIndex
        while index < text.endIndex {
            starts.append(index)
            if text[index] == ASCII.percent, index + 2 < text.endIndex,
                let high = ASCII.hexadecimalValue(text[index + 1]), let low = ASCII.hexadecimalValue(text[index + 2])
            {
                octets.append(high << 4 | low)
                index += 3
            } else {
                octets.append(text[index])
                index += 1
            }
        }
        return (octets, starts + [text.endIndex])
    }
}
