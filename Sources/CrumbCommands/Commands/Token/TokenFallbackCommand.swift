import ArgumentParser
import CookieModel
import RequestDecoration
import SessionClient
import SessionOperations

struct TokenFallbackCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fallback",
        abstract: "Manage the rules that sign a jar in again with a token when a site signs it out.",
        subcommands: [FallbackSetCommand.self, FallbackListCommand.self, FallbackRemoveCommand.self])
}

struct FallbackSetCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "set",
        abstract: "Store a rule.",
        discussion: """
            crumb token fallback set app https://app.example/ --profile work --when-redirect /login \\
                --cookie 'session={access_token}; Path=/; Secure; HttpOnly; SameSite=Lax'

            When a response matches the rule, 'crumb curl' gets a token, delivers it, and repeats the request once. The \
            cookie lives as long as the token.
            """)

    @OptionGroup var jar: JarOptions
    @OptionGroup var output: OutputOptions

    @Option(help: "The name of the login.")
    var profile: String

    @Option(help: "A status that means 'not signed in'. Repeatable. Default: 401.")
    var whenStatus: [Int] = []

    @Option(help: "The start of a URL or path that a redirect to a login page has. Repeatable.")
    var whenRedirect: [String] = []

    @Option(help: "Deliver the token as this cookie: a Set-Cookie line with {access_token} or {id_token} in its value.")
    var cookie: String?

    @Option(help: "Deliver the token to this URL of the site, which answers with cookies.")
    var exchange: String?

    @Flag(help: "Deliver the token in the Authorization field.")
    var authorization = false

    @Argument(help: "The name of the rule.")
    var name: String

    @Argument(help: "The start of the URLs that the rule is for.")
    var url: String

    func validate() throws {
        let ways = [cookie != nil, exchange != nil, authorization].count { $0 }
        guard ways == 1 else { throw ValidationError("Use one of --cookie, --exchange and --authorization.") }
        guard whenStatus.allSatisfy((100...999).contains) else {
            throw ValidationError("--when-status: use numbers from 100 to 999.")
        }
    }

    func execute(_ console: Console) throws {
        let delivery: LoginRule.Delivery =
            if let cookie {
                .cookie(try CookieTemplate(cookie))
            } else if let exchange {
                .exchange(exchange)
            } else {
                .authorization
            }
        let rule = try LoginRule(
            scope: try requestURL(url).description,
            signs: LoginRule.Signs(named: whenStatus, redirects: whenRedirect),
            profile: profile, delivery: delivery)
        let told = LoginRuleReport(name: name, rule: rule)
        let document = LoginRuleDocument(
            scope: told.scope, profile: told.profile, statuses: told.statuses, redirects: told.redirects,
            delivery: told.delivery, template: told.template)
        let report = try jar.place(now: console.now).performCreatingJar(
            .setLoginRule(name, document, of: jar.jar), by: .setLoginRule, console)
        try console.report(report, note: "stored rule \(report.text)")
    }
}

struct FallbackListCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the rules of a jar.", aliases: ["show", "ls"])

    @OptionGroup var jar: JarOptions
    @OptionGroup var output: OutputOptions

    func execute(_ console: Console) throws {
        let list = try jar.place(now: console.now).performIfThere(.loginRules(of: jar.jar), by: .listLoginRules)
        let rules = list?.rules ?? []
        for report in rules { try console.report(report, line: report.text) }
        if rules.isEmpty, !console.isJSON { console.note("no rules in jar '\(jar.jar)'") }
    }
}

struct FallbackRemoveCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Remove a rule.", aliases: ["rm", "delete"])

    @OptionGroup var jar: JarOptions
    @OptionGroup var output: OutputOptions

    @Argument(help: "The name of the rule.")
    var name: String

    func execute(_ console: Console) throws {
        let place = try jar.place(now: console.now)
        // No rule has an empty name, and no path of a service has one.
        let removed: Void? =
            try name.isEmpty
            ? nil
            : ifFound(.loginRuleNotFound) {
                try place.performIfThere(.removeLoginRule(name, of: jar.jar), by: .removeLoginRule)
            }
        guard removed != nil else {
            throw CommandFailure(
                .tokenNotFound, "\(name): there is no rule with this name; 'crumb token fallback list' lists the rules")
        }
        try console.report(["removed": name], note: "removed \(name)")
    }
}

extension LoginRuleReport {
    fileprivate var text: String {
        let signs = statuses.map(String.init) + redirects
        return "\(name): \(scope) at \(signs.joined(separator: ", ")): \(delivery)"
            + (template.map { " \($0)" } ?? "") + " from \(profile)"
    }
}
