/// What the twin asks of bytes, done the plainest way.
enum TwinText {
    static func lowercased(_ bytes: [UInt8]) -> [UInt8] {
        bytes.map { byte in byte >= 0x41 && byte <= 0x5A ? byte + 0x20 : byte }
    }

    /// "A case-insensitive match for".
    static func matches(_ bytes: [UInt8], _ text: String) -> Bool {
        lowercased(bytes) == lowercased(Array(text.utf8))
    }

    /// "Begins with a case-insensitive match for".
    static func begins(_ bytes: [UInt8], with text: String) -> Bool {
        matches(Array(bytes.prefix(text.utf8.count)), text)
    }

    /// `%x00-08 / %x0A-1F / %x7F`
    static func containsControl(_ bytes: [UInt8]) -> Bool {
        bytes.contains { byte in byte <= 0x08 || (byte >= 0x0A && byte <= 0x1F) || byte == 0x7F }
    }

    /// "Remove any leading or trailing WSP characters."
    static func trimmed(_ bytes: [UInt8]) -> [UInt8] {
        var rest = bytes
        while rest.first == 0x20 || rest.first == 0x09 { rest.removeFirst() }
        while rest.last == 0x20 || rest.last == 0x09 { rest.removeLast() }
        return rest
    }

    /// Domain matching (draft, section 5.1.3).
    static func domainMatches(_ string: [UInt8], _ domain: [UInt8], isIPAddress: Bool) -> Bool {
        // The domain string and the string are identical.
        if string == domain { return true }
        // All of these: it is a suffix; the last character not included is a dot; the string is a host name.
        guard !domain.isEmpty, string.count > domain.count, Array(string.suffix(domain.count)) == domain
        else { return false }
        return string[string.count - domain.count - 1] == 0x2E && !isIPAddress
    }

    /// Path matching (draft, section 5.1.4).
    static func pathMatches(_ requestPath: [UInt8], _ cookiePath: [UInt8]) -> Bool {
        if cookiePath == requestPath { return true }
        let isPrefix =
            requestPath.count >= cookiePath.count && Array(requestPath.prefix(cookiePath.count)) == cookiePath
        if isPrefix, cookiePath.last == 0x2F { return true }
        return isPrefix && requestPath.count > cookiePath.count && requestPath[cookiePath.count] == 0x2F
    }

    /// The default-path (draft, section 5.1.4).
    static func defaultPath(_ uriPath: [UInt8]) -> [UInt8] {
        // 2.
        if uriPath.isEmpty || uriPath[0] != 0x2F { return [0x2F] }
        // 3.
        if uriPath.filter({ $0 == 0x2F }).count <= 1 { return [0x2F] }
        // 4.
        var output = uriPath
        while output.removeLast() != 0x2F {}
        return output
    }
}
