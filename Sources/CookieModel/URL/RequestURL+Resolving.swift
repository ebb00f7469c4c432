extension RequestURL {
    /// Resolves a `Location` against this URL, as a browser does with a redirect.
    ///
    /// - Parameter reference: an absolute URL, or one relative to scheme, host or path.
    public func resolving(_ reference: Octets) throws(RequestURLError) -> RequestURL {
        var text = reference.filter { $0 != 0x09 && $0 != 0x0A && $0 != 0x0D }.drop { $0 <= ASCII.space }
        while let last = text.last, last <= ASCII.space { text.removeLast() }
        if let colon = RequestURL.schemeEnd(text) {
            guard text[..<colon].map(ASCII.lowercased) == Array(scheme.name.utf8) else {
                return try RequestURL(Octets(text))
            }
            // With this URL's own scheme, what stands behind it is as relative as without: `http:b` is `b`.
            text = text[(colon + 1)...]
        }
        guard let first = text.first else { return self }
        let second = text.dropFirst().first
        var absolute = Array("\(scheme.name):".utf8)
        if isSlash(first), let second, isSlash(second) {
            return try RequestURL(Octets(absolute + text))
        }
        absolute = Array(origin.utf8)
        if isSlash(first) {
            absolute += text
        } else if first == ASCII.questionMark {
            absolute += path + text
        } else if first == ASCII.numberSign {
            return self
        } else {
            let lastSlash = path.lastIndex(of: ASCII.slash) ?? 0
            absolute += path[0..<lastSlash] + [ASCII.slash] + text
        }
        return try RequestURL(Octets(absolute))
    }

    private func isSlash(_ byte: UInt8) -> Bool {
        byte == ASCII.slash || byte == ASCII.backslash
    }

    /// Where the colon of a scheme stands, if there is one.
    private static func schemeEnd(_ text: ArraySlice<UInt8>) -> Int? {
        guard let first = text.first, ASCII.isLetter(first), let colon = text.firstIndex(of: ASCII.colon)
        else { return nil }
        let isScheme = text[..<colon].allSatisfy { byte in
            ASCII.isLetter(byte) || ASCII.isDigit(byte) || byte == 0x2B || byte == ASCII.hyphen || byte == ASCII.dot
        }
        return isScheme ? colon : nil
    }
}
