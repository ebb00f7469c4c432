import ArgumentParser
import CookieModel
import RequestDecoration

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

            With --gateway, the plan is to use that proxy, which 'crumb gateway run' has printed: no cookie is in the plan.
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
    }

    /// A service is asked after standard input was read.
    var needsNetwork: Bool { jar.databaseOptions.asksService }

    func execute(_ console: Console) throws {
        let now = console.now
        if let gateway {
            let address = try ListeningAddress(gateway, option: "--gateway")
            let plan = WebViewPlan(
                for: try requestURL(url), through: WebViewGateway(host: address.host, port: address.port))
            return try console.writeJSON(WebViewPlanReport(plan))
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
}
