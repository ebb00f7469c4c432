import ArgumentParser
import CookieModel
import OAuth2
import SessionStore

struct ServeTokenCreateCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "Create an access token for the service, and print it once.",
        discussion: """
            The database stores only a hash of it. The token allows what the flags say, for the jars that you name. \
            Without --jar it is for all jars, future ones too, and for everything that belongs to no jar.
            """)

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    @Argument(help: "The name of the access token, for the audit log.")
    var name: String

    @Option(
        name: [.customShort("j"), .customLong("jar")],
        help: "A jar that the token is for. Repeatable. Default: all jars.")
    var jars: [String] = []

    @Flag(help: "Allow reading names, flags, lifetimes and decisions, but no values.")
    var read = false

    @Flag(help: "Allow changes.")
    var write = false

    @Flag(help: "Allow reading values, Cookie fields, scripts, exports and tokens.")
    var secrets = false

    @Option(help: "How long the token is valid, such as 30d; units are s, m, h and d. Default: until it is revoked.")
    var expires: String?

    func execute(_ console: Console) throws {
        let flags = [(AccessVerb.read, read), (.write, write), (.secrets, secrets)]
        let verbs = Set(flags.filter(\.1).map(\.0))
        guard !verbs.isEmpty else {
            throw ValidationError("Choose what the token allows: --read, --write, --secrets, or several of them.")
        }
        let now = Timestamp.now
        let expiry = try expires.map { text in
            guard let seconds = ServeTokenCreateCommand.seconds(text) else {
                throw ValidationError("\(text): not a duration. Write a number and a unit: s, m, h or d.")
            }
            return now.advanced(bySeconds: seconds)
        }
        var generator = SystemRandomNumberGenerator()
        let token = try database.open(now: now).serviceTokens.create(
            named: name, grant: AccessGrant(verbs: verbs, jars: jars.isEmpty ? .all : .named(Set(jars))),
            expiry: expiry, now: now, using: &generator)
        if output.json {
            try console.writeJSON(["name": name, "token": String(decoding: token.exposedBytes, as: UTF8.self)])
        } else {
            try console.write(token.exposedBytes + [UInt8(ascii: "\n")])
        }
    }

    private static func seconds(_ text: String) -> Int64? {
        let units: [Character: Int64] = ["s": 1, "m": 60, "h": 3600, "d": 86_400]
        guard let unit = text.last.flatMap({ units[$0] }), let count = Int64(text.dropLast()),
            (1...1_000_000_000).contains(count)
        else { return nil }
        return count * unit
    }
}
