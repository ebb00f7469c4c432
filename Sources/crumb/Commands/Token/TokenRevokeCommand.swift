import ArgumentParser
import CookieModel
import OAuth2
import SessionOperations
import SessionStore

struct TokenRevokeCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke",
        abstract: "End the tokens at the server; what is known of the login stays.",
        discussion: "A later 'crumb token login NAME' needs no options.")

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    @Argument(help: "The name that the tokens are kept under.")
    var name: String

    func execute(_ console: Console) throws {
        let now = Timestamp.now
        let access = try TokenAccess(database, for: name, now: now)
        let revoked = try access.revoke(name, now: now)
        if output.json {
            try console.writeJSON(RevocationReport(name: name, revoked: revoked, isRemoved: false))
        } else {
            console.note("revoked \(name)")
        }
    }
}

struct TokenLogoutCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "logout",
        abstract: "End the tokens at the server and forget them.",
        discussion: """
            Where the server cannot be reached, nothing is forgotten, so that it can be tried again; --force forgets all \
            the same. Where it has no way to end tokens, they are forgotten, and it is said.
            """)

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    @Flag(help: "Forget the tokens even where the server cannot end them.")
    var force = false

    @Argument(help: "The name that the tokens are kept under.")
    var name: String

    func execute(_ console: Console) throws {
        let now = Timestamp.now
        let access = try TokenAccess(database, for: name, now: now)
        var revoked: [TokenKind] = []
        do {
            revoked = try access.revoke(name, now: now)
        } catch let error as OAuth2Error where error.code == .endpointMissing || force {
            console.complain("\(name): the tokens were not ended at the server: \(error)")
        } catch let problem as Problem where problem.status == .tokenSettingsInvalid {
            console.complain("the tokens were not ended at the server: \(problem.message)")
        }
        _ = try access.store.remove(name, now: now)
        if output.json {
            try console.writeJSON(RevocationReport(name: name, revoked: revoked, isRemoved: true))
        } else {
            console.note("logged out: \(name)")
        }
    }
}

extension TokenAccess {
    /// Ends a profile's tokens at the server: the refresh token first, from which others could be got.
    ///
    /// - Returns: which tokens were ended. They are kept no longer, and the access token counts as expired.
    fileprivate func revoke(_ name: String, now: Timestamp) throws -> [TokenKind] {
        // Says what to do where it is not known who to ask.
        _ = try connection(name, now: now)
        let revoker = TokenRevoker(store, over: HelperTransport(), now: { .now })
        return try Blocking.run { try await revoker.revoke(name) }
    }
}
