import ArgumentParser
import CookieModel
import OAuth2
import SessionStore

struct ServeTokenCreateCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "Make an access token of the service and print it, this once.",
        discussion: """
            Only a hash of it is kept. Its bearer may do what the flags say with the jars named; without --jar with \
            all jars, those to come too, and with what belongs to no jar.
            """)

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    @Argument(help: "The token's name, which stands in the audit log.")
    var name: String

    @Option(
        name: [.customShort("j"), .customLong("jar")],
        help: "A jar that the token is for. Can be repeated. Default: all of them.")
    var jars: [String] = []

    @Flag(help: "Let its bearer see what there is: names, flags, lifetimes, decisions; no values.")
    var read = false

    @Flag(help: "Let its bearer change what there is.")
    var write = false

    @Flag(help: "Let its bearer get values, Cookie fields, scripts, exports and tokens.")
    var secrets = false

    @Option(help: "How long the token is valid: a number with s, m, h or d behind it. Default: until it is revoked.")
    var expires: String?

    func execute(_ console: Console) throws {
        let flags = [(AccessVerb.read, read), (.write, write), (.secrets, secrets)]
        let verbs = Set(flags.filter(\.1).map(\.0))
        guard !verbs.isEmpty else {
            throw ValidationError("Say what the token is for: --read, --write, --secrets, or several of them.")
        }
        let now = Timestamp.now
        let expiry = try expires.map { text in
            guard let seconds = ServeTokenCreateCommand.seconds(text) else {
                throw ValidationError("\(text): this is no length of time; write a number with s, m, h or d behind it.")
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
