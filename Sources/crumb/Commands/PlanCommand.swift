import ArgumentParser
import CookieModel
import RequestDecoration
import SessionOperations
import SessionStore

struct PlanCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "plan",
        abstract: "Print, in JSON, the steps that open a page in a web view with the session.",
        discussion: """
            The steps in order: put cookies into the web view's own store (HttpOnly ones too), install a script, load \
            the URL with a Cookie field if one is needed, and verify the cookies of the store. The script sets cookies of \
            every path of the host; 'unverifiable' lists those that scripts of the page cannot see. Values are in the \
            clear.

            --native names a file with the cookies of the web view's store: a JSON object for each cookie, one on each \
            line or in an array, with the members of 'crumb list --json --values'. The plan then puts only cookies into \
            the store that are missing or different. 'omitted' lists the cookies that the store cannot hold, with the \
            reason.
            """)

    @OptionGroup var jar: JarOptions
    @OptionGroup var context: ContextOptions
    @OptionGroup var output: OutputOptions

    @Option(help: ArgumentHelp("What the web view's store holds; '-' is standard input.", valueName: "file"))
    var native: String?

    @Flag(help: "The web view has no store that can be written: the request carries everything.")
    var withoutStore = false

    @Option(
        help: ArgumentHelp("Let a message to this handler say what became of each cookie.", valueName: "name"),
        transform: messageHandlerName)
    var handler: MessageHandlerName?

    @Argument(help: "The URL of the page.")
    var url: String

    func validate() throws {
        if withoutStore, native != nil { throw ValidationError("--native and --without-store exclude each other") }
    }

    func execute(_ console: Console) throws {
        let now = Timestamp.now
        let navigation = try context.context(for: try requestURL(url))
        let held = try native.map { try NativeCookieDocument.cookies(InputFile($0)) } ?? []
        let existing = try jar.openExistingJar(now: now)
        let found = try existing?.cookies()
        let plan = WebViewPlan(
            for: navigation, cookies: found?.readable ?? [], native: withoutStore ? nil : held,
            policy: try existing?.policy ?? jar.policy(), verification: handler.map { .message($0) } ?? .none, now: now)
        try console.writeJSON(WebViewPlanReport(plan))
        for cookie in found?.unreadable ?? [] {
            console.complain("\(cookie.label): \(ExclusionReason.unreadable.explanation)")
        }
    }
}
