import CookieModel
import OAuth2
import SessionStore

/// The owner's access token for TCP: in a file that its owner alone can read.
struct OwnerToken {
    static let name = "owner"
    /// A token and a line's end, and some room.
    private static let sizeLimit = 256

    let path: String

    /// Sees to it that the file holds a token that is valid.
    ///
    /// - Returns: whether it was made anew.
    func prepare(_ store: ServiceTokenStore, now: Timestamp) throws -> Bool {
        if let bytes = PrivateFile.contents(path, limit: OwnerToken.sizeLimit) {
            guard PrivateFile.isPrivate(path) else {
                throw ServiceStartError(
                    .fileUnusable, "\(path): others can read this access token: revoke it, remove the file, start again"
                )
            }
            let text = Secret(bytes.filter { $0 > 0x20 })
            if try store.token(text, now: now) != nil { return false }
        }
        // Of a token whose file is lost, nobody has any use; one whose file is there was revoked, or is of another
        // database.
        _ = try store.revoke(named: OwnerToken.name, now: now)
        var generator = SystemRandomNumberGenerator()
        let token = try store.create(named: OwnerToken.name, grant: .everything, now: now, using: &generator)
        PrivateFile.createFolders(above: path)
        let failure = PrivateFile.replace(token.exposedBytes + [UInt8(ascii: "\n")], at: path)
        guard failure == 0 else {
            throw ServiceStartError(
                .fileUnusable, "\(path): the access token cannot be written: \(PrivateFile.message(failure))")
        }
        return true
    }
}
