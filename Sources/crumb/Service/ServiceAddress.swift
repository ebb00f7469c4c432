import CookieModel
import Foundation
import OAuth2
import SessionOperations
import SessionStore

/// Where a running service is asked.
struct ServiceAddress: CustomStringConvertible {
    /// The address as a person writes it.
    let description: String
    /// What stands before the path of a request.
    let base: String
    /// The host of requests where the address has none.
    let host: String?

    /// Reads `http://127.0.0.1:8722`, `https://host`, `https://host/prefix`, `unix:/path` or `http+unix://%2Fpath`.
    ///
    /// - Throws: `Problem` where it is no address, or one that cookies would go to for everybody to see.
    init(_ text: String) throws {
        if let path = ServiceAddress.socketPath(text) {
            guard path.hasPrefix("/"), path.utf8.count > 1 else {
                throw Problem(
                    .urlInvalid, "\(text): write the socket's whole path, as in unix:/run/user/1000/crumb.sock")
            }
            description = "unix:\(path)"
            base = "http+unix://\(percentEncoded(path))"
            host = "localhost"
            return
        }
        if text.hasPrefix("/") || text.hasPrefix("./") || text.hasPrefix("../") {
            let path = URL(filePath: text).standardizedFileURL.path
            throw Problem(.urlInvalid, "\(text): write 'unix:' before a socket's path: --service unix:\(path)")
        }
        let url = try requestURL(text)
        guard url.scheme == .http || url.scheme == .https else {
            throw Problem(.urlInvalid, "\(text): a service is at an http, https or unix address")
        }
        // A password before the host would be seen in the list of processes, and is not repeated.
        guard let prefix = RequestURL.base(text)?.prefix else {
            throw Problem(
                .urlInvalid,
                "the address of a service is a scheme, a host and a port, and behind a proxy a path such as /crumb")
        }
        guard url.scheme == .https || url.host.isLoopback else {
            throw Problem(
                .urlInvalid, "\(text): sessions would go to another machine for everybody to see; use https")
        }
        description = url.origin + prefix
        base = description
        host = nil
    }

    /// Whether the service proves by a certificate who it is.
    var isEncrypted: Bool { base.hasPrefix("https:") }

    private static func socketPath(_ text: String) -> String? {
        if text.hasPrefix("http+unix://") {
            return String(text.dropFirst("http+unix://".count)).removingPercentEncoding
        }
        guard text.hasPrefix("unix:") else { return nil }
        let path = text.dropFirst("unix:".count)
        return String(path.hasPrefix("//") ? path.dropFirst(2) : path)
    }
}

/// A text as one segment of a path, or as a part of a query (RFC 3986, section 2.1).
func percentEncoded(_ text: String) -> String {
    // Dots alone would be another folder.
    if text == "." || text == ".." { return text.replacing(".", with: "%2E") }
    return text.utf8.map { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            String(UnicodeScalar(byte))
        default: "%\(byte < 16 ? "0" : "")\(String(byte, radix: 16, uppercase: true))"
        }
    }.joined()
}

/// The access token by which a service knows who asks, out of a file that its owner alone can read.
struct ServiceTokenFile {
    /// More than any access token has.
    private static let sizeLimit = 4096

    private let secret: Secret

    /// Reads the token.
    init(_ path: String) throws {
        var bytes = try InputFile(path).contents(limit: ServiceTokenFile.sizeLimit)
        // A pipe has no modes that matter.
        guard PrivateFile.isPrivate(path) || PrivateFile.isSpecial(path) else {
            throw Problem(.keyExposed, "\(path): other users may read the access token; run: chmod 600 '\(path)'")
        }
        while let last = bytes.last, InputFile.isWhiteSpace(last) { bytes.removeLast() }
        guard !bytes.isEmpty, bytes.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw Problem(.tokenInputInvalid, "\(path): there is no access token in this file")
        }
        secret = Secret(bytes)
    }

    /// The value of the Authorization field (RFC 6750, section 2.1), which is no longer protected.
    var exposedField: String { "Bearer \(secret.exposedText ?? "")" }
}
