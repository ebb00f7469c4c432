import ArgumentParser
import CookieModel
import HTTPTypes
import OAuth2
import SessionOperations
import SessionStore

struct TokenGetCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "get",
        abstract: "Print a valid access token, refreshed where it is due, for $(…).",
        discussion: """
            Nothing else is printed. Exit status 40 where there is no token of that name, 41 where it has expired and \
            nothing can renew it, 43 where the server wants a new login, 45 where it cannot be reached; nothing is lost \
            then.
            """)

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions
    @OptionGroup var freshness: FreshnessOptions

    @Argument(help: "The name that the token is kept under.")
    var name: String

    func execute(_ console: Console) throws {
        let token = try database.keptTokens(now: .now).accessToken(of: name, skew: freshness.skew, for: nil)
        if output.json {
            try console.writeJSON(token)
        } else {
            try console.writeLine(token.accessToken)
        }
    }
}

struct TokenHeaderCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "header",
        abstract: "Print the Authorization header with a valid access token.",
        discussion: """
            For curl, without the token in its arguments:

                crumb token header work | curl -H @- https://api.example/me

            A token that is bound to a key (DPoP) needs a proof for each request, which --method and --url name; a server \
            that asks for a nonce says it in its DPoP-Nonce field:

                crumb token header work --url https://api.example/me | curl -H @- https://api.example/me
            """)

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions
    @OptionGroup var freshness: FreshnessOptions

    @Option(help: "The method of the request, for a token that is bound to a key. Default: GET, where there is a URL.")
    var method: String?

    @Option(help: "The URL of the request, for a token that is bound to a key.")
    var url: String?

    @Option(help: "The nonce that the request's server wants in the proof.")
    var nonce: String?

    @Argument(help: "The name that the token is kept under.")
    var name: String

    func validate() throws {
        guard url != nil || (method == nil && nonce == nil) else {
            throw ValidationError("--method and --nonce: give the request's --url, too.")
        }
    }

    func execute(_ console: Console) throws {
        let request = try url.map {
            ProvenRequest(method: method ?? "GET", url: try requestURL($0), nonce: nonce)
        }
        let token = try database.keptTokens(now: .now).accessToken(of: name, skew: freshness.skew, for: request)
        for field in try token.exposedFields(of: name) {
            if output.json {
                try console.writeJSON(["name": field.name, "value": field.value])
            } else {
                try console.writeLine("\(field.name): \(field.value)")
            }
        }
    }
}

/// How fresh an access token has to be.
struct FreshnessOptions: ParsableArguments {
    @Option(help: "Refresh where fewer seconds than this are left.")
    var skew = 60

    func validate() throws {
        guard (0...86_400).contains(skew) else { throw ValidationError("--skew: use 0 to 86400 seconds.") }
    }
}

extension StoredToken {
    /// The access token as text, which is no longer protected.
    var exposedAccessToken: String {
        get throws { try profile.exposedText(of: tokens) }
    }
}

extension Profile {
    /// The access token of the profile as text, which is no longer protected.
    func exposedText(of tokens: TokenSet) throws -> String {
        guard let token = tokens.accessToken.exposedText else {
            throw Problem(.valueDamaged, "\(name): the stored token is not text")
        }
        return token
    }
}
