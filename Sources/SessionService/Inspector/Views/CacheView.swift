import CookieModel
import PublicSuffix
import SessionOperations
import SessionStore
import SessionWire

/// The cache of one jar: a form to ask about a request, what each rule has answered, and the stored responses by site.
struct CacheView: InspectorView {
    /// A moment in a row that has several.
    struct Dated {
        let moment: MomentView?
    }

    struct Row {
        let url: String
        /// The page that explains a request to the URL; `nil` if a part of the URL is not shown.
        let explainHref: String?
        let status: Int
        let octets: Int64
        let freshness: String
        let stored: Dated
        let used: Dated

        init(_ response: CachedResponseReport, jar: String) {
            url = response.shownURL
            let isWhole = !url.contains("redacted")
            explainHref = isWhole ? InspectorPath.cache(jar, explaining: url) : nil
            status = response.status
            octets = response.octets
            freshness = response.freshness
            stored = Dated(moment: MomentView(rfc3339: response.stored))
            used = Dated(moment: MomentView(rfc3339: response.used))
        }
    }

    struct Site {
        let site: String
        let summary: String
        let isOpen: Bool
        let responses: [Row]
    }

    /// What a rule has answered.
    struct Rule {
        let name: String
        let hits: Int64
        let octets: Int64
    }

    /// The decision on a request.
    struct Answer {
        struct Response {
            let number: Int
            let audience: String
            let status: Int
            let freshness: String
            let lifetime: String
            let moment: MomentView?
            let verdict: String
            let reasons: [CachedResponseDetails.Reason]
        }

        let verdict: String
        let reasons: [CachedResponseDetails.Reason]
        let responses: [Response]
        let hasResponses: Bool

        init(_ explanation: CacheExplanationReport) {
            let number = explanation.response.map { "; stored response \($0)" } ?? ""
            verdict =
                "\(explanation.answer)\(number), by rule '\(explanation.rule)' (treatment: \(explanation.treatment))"
            reasons = explanation.reasons
            responses = explanation.responses.enumerated().map { index, details in
                Response(
                    number: index + 1, audience: details.shownAudience, status: details.response.status,
                    freshness: details.response.freshness,
                    lifetime: "age \(details.age) s, lifetime \(details.lifetime) s (\(details.lifetimeSource))",
                    moment: MomentView(rfc3339: details.response.stored),
                    verdict: "\(details.answer), by rule '\(details.rule)'", reasons: details.reasons)
            }
            hasResponses = !responses.isEmpty
        }
    }

    static let template = "cache"
    let title: String
    let caller: CallerView?
    let jar: String
    let jarHref: String
    let href: String
    let total: String
    var url = ""
    var problem: String?
    var answer: Answer?
    /// Whether the caller may see what the rules have answered for all jars.
    let seesRules: Bool
    let rules: [Rule]
    let hasRules: Bool
    let mayPurge: Bool
    let sites: [Site]
    let nextHref: String?

    init(
        _ jar: CookieJar, _ list: CachedResponseList, _ statistics: CacheStatisticsReport, caller: CallerView?,
        mayPurge: Bool
    ) {
        let shownName = Octets(jar.name).description
        title = "Cache of jar \(shownName)"
        self.caller = caller
        self.jar = shownName
        jarHref = InspectorPath.jar(jar.name)
        href = InspectorPath.cache(jar.name)
        total =
            "\(counted(Int(statistics.responses), "response")), \(counted(Int(statistics.octets), "octet")) on the disk"
        seesRules = statistics.whole != nil
        rules = (statistics.whole?.hits ?? [:]).sorted { $0.key < $1.key }.map { name, hits in
            Rule(name: name, hits: hits, octets: statistics.whole?.octetsSaved[name] ?? 0)
        }
        hasRules = !rules.isEmpty
        self.mayPurge = mayPurge && statistics.responses > 0
        let suffixes = jar.policy.publicSuffixes
        let bySite = Dictionary(grouping: list.responses) { response in
            let host = (try? RequestURL(response.url))?.host
            return host.map { String(decoding: $0.registrableDomain(suffixes), as: UTF8.self) } ?? ""
        }
        sites = bySite.sorted { $0.key < $1.key }.map { site, responses in
            Site(
                site: site, summary: counted(responses.count, "response"), isOpen: bySite.count <= 5,
                responses: responses.map { Row($0, jar: jar.name) })
        }
        nextHref = list.next.map { InspectorPath.cache(jar.name, after: $0) }
    }
}
