import ArgumentParser
import Captures
import CookieModel
import SessionOperations
import SessionStore

/// Which cookies are meant: those that meet every condition; all of them where there is none.
struct CookieFilterOptions: ParsableArguments {
    /// Whether a cookie ends with the session.
    enum Lifetime: EnumerableFlag {
        case session, persistent

        static func help(for value: Lifetime) -> ArgumentHelp? {
            switch value {
            case .session: "Only session cookies."
            case .persistent: "Only cookies with an expiry."
            }
        }
    }

    @OptionGroup var context: ContextOptions

    @Option(
        name: .customLong("site"),
        help: ArgumentHelp(
            "Only cookies of this domain and its subdomains. Repeatable.", valueName: "domain"))
    var sites: [String] = []

    @Option(
        name: .customLong("name"), help: ArgumentHelp("Only cookies with this name. Repeatable.", valueName: "name"))
    var names: [String] = []

    @Flag(inversion: .prefixedNo, help: "Only cookies that are HttpOnly, or only those that are not.")
    var httpOnly: Bool?

    @Flag(exclusivity: .exclusive)
    var lifetime: Lifetime?

    /// The request to `url` that the cookies are for.
    ///
    /// - Parameters:
    ///   - format: where the format is for one URL, there has to be one.
    ///   - isAboutCaptures: whether `--top-level` has a meaning without a request, too.
    func request(
        to url: String?, for format: ExportFormat, isAboutCaptures: Bool = false
    ) throws -> RequestContext? {
        if let url { return try context.context(for: try requestURL(url)) }
        let hasPage = context.topLevel != nil && !isAboutCaptures
        if hasPage || context.initiator != nil || context.navigation != nil || context.method != "GET" {
            throw ValidationError(
                "--method, --top-level, --initiator and --navigation describe a request: give its URL.")
        }
        guard format.scope == .anySite else {
            throw Problem(.urlMissing, "'\(format.rawValue)' holds the cookies for one URL: give it with --url")
        }
        return nil
    }

    /// Picks the cookies by all conditions but the request.
    func selection() throws -> CookieSelection {
        CookieSelection(
            sites: try sites.map { site in
                guard let host = CookieFilter.domain(named: site) else {
                    throw Problem(.urlInvalid, "\(site): this is not a host name")
                }
                return host
            },
            names: Set(names.map { Octets($0) }), isHTTPOnly: httpOnly, isPersistent: lifetime.map { $0 == .persistent }
        )
    }
}
