import CookieModel
import SessionOperations
import WebPrimitives

/// The URL of the first request: as the user wrote it, for curl, and parsed, for the rules.
struct CurlTarget {
    /// The text that curl is given.
    let text: [UInt8]
    /// The URL that the rules use.
    let url: RequestURL
    /// User name and password before the host, with their `@`; empty without them. They stay as long as the
    /// redirects stay within the origin.
    let userInfo: [UInt8]
    /// The file name of `--remote-name`, which redirects do not change.
    let remoteName: [UInt8]

    /// - Parameters:
    ///   - defaultScheme: the value of `--proto-default`.
    ///   - upload: the file of `--upload-file`. If the URL's path ends with a slash, curl appends the file's name.
    init(_ text: [UInt8], defaultScheme: [UInt8]?, upload: [UInt8]?) throws {
        self.text = text
        // No message shows a password.
        let shown = String(
            decoding: text.lastIndex(of: UInt8(ascii: "@")).map { text[($0 + 1)...] } ?? text[...], as: UTF8.self)
        var absolute = text
        if !CurlTarget.hasScheme(text) {
            // curl guesses other schemes by the first label of the host.
            let host = String(decoding: text, as: UTF8.self).lowercased()
            let isOther = ["ftp.", "dict.", "ldap.", "imap.", "smtp.", "pop3."].contains { host.hasPrefix($0) }
            if isOther, defaultScheme == nil {
                throw CommandFailure(.urlInvalid, "\(shown): write the scheme, https:// or http://, in front")
            }
            absolute = (defaultScheme ?? Array("http".utf8)) + Array("://".utf8) + text
        }
        let slashes = absolute.firstIndex(of: UInt8(ascii: "/")) ?? absolute.endIndex
        let authorityStart = absolute[slashes...].firstIndex { $0 != UInt8(ascii: "/") } ?? absolute.endIndex
        let ends = Array("/?#".utf8)
        let authorityEnd = absolute[authorityStart...].firstIndex(where: ends.contains) ?? absolute.endIndex
        let at = absolute[authorityStart..<authorityEnd].lastIndex(of: UInt8(ascii: "@"))
        userInfo = at.map { Array(absolute[authorityStart...$0]) } ?? []
        let pathEnd = absolute[authorityEnd...].firstIndex { $0 == ends[1] || $0 == ends[2] } ?? absolute.endIndex
        let path = absolute[authorityEnd..<pathEnd]
        remoteName = Array(path[((path.lastIndex(of: ends[0]) ?? path.endIndex - 1) + 1)...])
        if let upload, !CurlTarget.isStandardInput(upload), path.isEmpty || path.last == ends[0] {
            let name = upload[((upload.lastIndex(of: ends[0]) ?? -1) + 1)...]
            let slash = path.isEmpty ? [ends[0]] : []
            absolute.replaceSubrange(pathEnd..<pathEnd, with: slash + CurlTarget.percentEncoded(name))
        }
        url = try CurlTarget.parsed(absolute, shown: shown)
    }

    private static func parsed(_ absolute: [UInt8], shown: String) throws -> RequestURL {
        let url: RequestURL
        do throws(RequestURLError) {
            url = try RequestURL(Octets(absolute))
        } catch {
            throw CommandFailure(.urlInvalid, "\(shown): \(error.description)")
        }
        guard url.scheme == .http || url.scheme == .https else {
            throw CommandFailure(.urlInvalid, "\(shown): 'crumb curl' makes http and https requests only")
        }
        return url
    }

    /// Whether curl takes an upload from standard input.
    static func isStandardInput(_ upload: [UInt8]) -> Bool {
        upload == [UInt8(ascii: "-")] || upload == [UInt8(ascii: ".")]
    }

    /// curl's own test: letters, digits and `+-.` up to `:/`.
    private static func hasScheme(_ text: [UInt8]) -> Bool {
        guard let colon = text.firstIndex(of: UInt8(ascii: ":")), colon > 0, colon + 1 < text.count,
            text[colon + 1] == UInt8(ascii: "/")
        else { return false }
        return text[..<colon].allSatisfy { isAlphanumeric($0) || Array("+-.".utf8).contains($0) }
    }

    private static func percentEncoded(_ name: ArraySlice<UInt8>) -> [UInt8] {
        name.flatMap { byte -> [UInt8] in
            if isAlphanumeric(byte) || Array("-._~".utf8).contains(byte) { return [byte] }
            let digits = Array("0123456789ABCDEF".utf8)
            return [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
        }
    }

    private static func isAlphanumeric(_ byte: UInt8) -> Bool { ASCII.isLetter(byte) || ASCII.isDigit(byte) }
}
