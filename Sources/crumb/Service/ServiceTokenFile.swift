import OAuth2
import SessionOperations
import SessionStore

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
