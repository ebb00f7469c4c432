public import ArgumentParser
import CookieModel
public import RequestDecoration
import SessionClient
import SessionOperations
import SessionStore

struct ScriptCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "script",
        abstract: "Print a script that sets the cookies and localStorage of a page.",
        discussion: """
            With several URLs, one script serves them all: each frame gets the cookies of its own scheme and host. Install \
            such a script as a user script of a web view or browser, never as a <script> element: the page can read that.

            The script sets cookies of every path of the page's host. A page sees only those of its own path: the \
            others are listed on standard error, and --verify reports them as 'unverifiable'.

            The script also sets the localStorage items that the jar holds for the page's scheme, host and port.

            Standard error also lists the cookies that no script can set, with the reason. If there is nothing to set, \
            prints nothing and ends with exit status 3.
            """)

    @OptionGroup var jar: JarOptions
    @OptionGroup var context: ContextOptions
    @OptionGroup var output: OutputOptions

    @Option(
        help: """
            When the script sets a cookie or item: 'once' per tab if the page has none of that name; whenever it is \
            'missing'; or 'always'.
            """)
    var write = InjectionScript.Writing.once

    @Flag(help: "Make the script return the result for each cookie, in JSON.")
    var verify = false

    @Option(
        help: .value(
            "name", "Report the result for each cookie to this message handler."), transform: messageHandlerName)
    var handler: MessageHandlerName?

    @Argument(help: "The URLs of the pages.")
    var urls: [String]

    func execute(_ console: Console) throws {
        let pages = try urls.map { try context.context(for: try requestURL($0), interface: .script) }
        let document = ScriptDocument(
            urls: pages.map(\.url.description), pages.first.map { RequestDetails($0) } ?? RequestDetails(),
            write: write.rawValue, verify: verify, handler: handler?.description)
        let report =
            try jar.place(now: console.now).performIfThere(.script(document, of: jar.jar), by: .script)
            ?? ScriptReport(pages.map(\.url), InjectionScript([]))
        try console.report(report) { if !report.script.isEmpty { try console.write(report.script.utf8) } }
        if let unverifiable = report.unverifiable, !unverifiable.isEmpty {
            console.note(
                "set for other paths, which scripts of the page cannot verify: "
                    + unverifiable.map(\.label).joined(separator: ", "))
        }
        if report.storageItemsUnreadable > 0 {
            console.note(
                "not in the script: \(counted(report.storageItemsUnreadable, "localStorage item")): "
                    + ExclusionReason.unreadable.explanation)
        }
        for omission in report.omitted {
            let place = pages.count > 1 ? " at \(try requestURL(omission.url).origin)" : ""
            console.note(
                "not in the script\(place): \(omission.cookie.label): "
                    + omission.reasons.map(\.explanation).joined(separator: "; "))
        }
        if report.script.isEmpty { throw FailureKind.nothingToSend.exitCode }
    }
}

struct CaptureScriptCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "capture-script",
        abstract: "Print a script that reports to a web view's app what pages do to cookies.",
        discussion: """
            Install it in the page's own world, at document start, in every frame. It does nothing if no message handler \
            of that name exists. docs/web-views.md describes its messages.
            """)

    @OptionGroup var output: OutputOptions

    @Option(help: .value("name", "The message handler to report to."), transform: messageHandlerName)
    var handler: MessageHandlerName

    func execute(_ console: Console) throws {
        let script = CaptureScript(handler: handler)
        try console.report(CaptureScriptReport(script, handler: handler)) {
            try console.write(script.source.utf8)
        }
    }
}

extension InjectionScript.Writing: ExpressibleByArgument {}

/// Reads a message handler's name that a user typed.
func messageHandlerName(_ text: String) throws -> MessageHandlerName {
    guard let name = MessageHandlerName(text) else {
        throw ValidationError(
            "the name of a handler has up to \(MessageHandlerName.limit) letters, digits, _ and $, and does "
                + "not begin with a digit")
    }
    return name
}

struct PlanCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "plan",
        abstract: "Print a plan, in JSON, that opens a page in a web view with the cookies of a jar.",
        discussion: """
            The plan lists the steps in order: the cookies to put into the web view's own store, HttpOnly ones too; the \
            script to install; the URL to load with its Cookie field; and the cookies to look for afterwards. The script \
            sets cookies of every path of the host; 'unverifiable' lists those that scripts of the page cannot see. It \
            also sets the localStorage items of the page's origin. The plan holds values in the clear.

            --native names a file with the current contents of the web view's store: JSON objects, one per line or in an \
            array, with the members of 'crumb list --json --values'. The plan then holds only cookies that are missing or \
            different. Cookies that the store cannot hold are in 'omitted', with the reason.

            With --gateway, the plan is to use that proxy, which 'crumb gateway run' has printed: no cookie is in the plan. \
            If the gateway has users, name one with --gateway-user, and the file with the secret that 'crumb gateway user \
            add' has printed with --gateway-secret-file. The plan then holds both in the clear.
            """)

    @OptionGroup var jar: JarOptions
    @OptionGroup var context: ContextOptions
    @OptionGroup var output: OutputOptions

    @Option(help: .file("The contents of the web view's store; '-' is standard input."))
    var native: String?

    @Flag(help: "Do not use the web view's store: the request carries every cookie.")
    var withoutStore = false

    @Option(help: .value("address", "Send the requests of the web view through this gateway."))
    var gateway: String?

    @Option(help: .value("name", "Sign in to the gateway as this user."))
    var gatewayUser: String?

    @Option(
        help: .file(
            "The file with that user's secret, readable only by you; '-' is standard input."
        ))
    var gatewaySecretFile: String?

    @Option(
        help: .value(
            "name", "Report the result for each cookie to this message handler."), transform: messageHandlerName)
    var handler: MessageHandlerName?

    @Argument(help: "The URL of the page.")
    var url: String

    func validate() throws {
        if withoutStore, native != nil { throw ValidationError("--native and --without-store exclude each other.") }
        if gateway != nil, withoutStore || native != nil || handler != nil {
            throw ValidationError(
                "With --gateway, the web view's store and scripts are not used: leave out the others.")
        }
        guard (gatewayUser == nil) == (gatewaySecretFile == nil), gateway != nil || gatewayUser == nil else {
            throw ValidationError("Use --gateway-user and --gateway-secret-file together, and with --gateway.")
        }
    }

    /// A service is asked after standard input was read.
    var needsNetwork: Bool { jar.databaseOptions.asksService }

    func execute(_ console: Console) throws {
        let now = console.now
        if let gateway {
            let address = try ListeningAddress(gateway, option: "--gateway")
            var gateway = WebViewGateway(host: address.host, port: address.port)
            gateway.credentials = try credentials()
            return try console.writeJSON(WebViewPlanReport(WebViewPlan(for: try requestURL(url), through: gateway)))
        }
        let navigation = try context.context(for: try requestURL(url))
        let held = try native.map { try NativeCookieDocument.cookies(InputFile($0)) } ?? []
        let contents = try jar.backend(now: now).contents(for: navigation.url)
        let plan = WebViewPlan(
            for: navigation, cookies: contents.cookies, storage: contents.storage, native: withoutStore ? nil : held,
            policy: contents.policy, verification: handler.map { .message($0) } ?? .none, now: now)
        try console.writeJSON(WebViewPlanReport(plan))
        for line in contents.damage { console.error(line) }
    }

    /// The credentials for the gateway, if they were given.
    private func credentials() throws -> WebViewGateway.Credentials? {
        guard let gatewayUser, let gatewaySecretFile else { return nil }
        try GatewayUser.check(gatewayUser)
        try SecretFile.check(gatewaySecretFile)
        let secret = try SecretFile.secret(in: gatewaySecretFile)
        guard GatewaySecretHash(of: secret) != nil else {
            throw CommandFailure(
                .inputUnrecognized,
                "\(gatewaySecretFile): this is not the secret of a user; 'crumb gateway user add' prints one")
        }
        return WebViewGateway.Credentials(user: gatewayUser, secret: secret)
    }
}
