import CookieModel
import PublicSuffix
import SessionOperations
import SessionStore
import SessionWire
import WebPages

/// What the page of a jar's cache shows.
struct CacheContents {
    let jar: String
    /// A part of the stored responses, by site.
    let sites: [(site: String, responses: [CachedResponseReport])]
    /// The end of the page; `nil` on the last one.
    let cursor: String?
    let statistics: CacheStatisticsReport
    let mayPurge: Bool

    init(_ jar: CookieJar, _ list: CachedResponseList, _ statistics: CacheStatisticsReport, mayPurge: Bool) {
        self.jar = jar.name
        let suffixes = jar.policy.publicSuffixes
        let bySite = Dictionary(grouping: list.responses) { response in
            let host = (try? RequestURL(response.url))?.host
            return host.map { String(decoding: $0.registrableDomain(suffixes), as: UTF8.self) } ?? ""
        }
        sites = bySite.sorted { $0.key < $1.key }.map { (site: $0, responses: $1) }
        cursor = list.next
        self.statistics = statistics
        self.mayPurge = mayPurge && statistics.responses > 0
    }
}

/// The question about a request on the page of a cache, and the answer to it.
struct AskedCache {
    var url = ""
    /// Why there is no answer.
    var problem: String?
    var answer: CacheExplanationReport?
}

/// The page of the cache of one jar: a form to ask about a request, what each rule has answered, and the stored responses
/// by site.
extension InspectorPages {
    func cache(_ contents: CacheContents, _ question: AskedCache) -> InspectorPage {
        let title = "Cache of jar \(shown(contents.jar))"
        let statistics = contents.statistics
        let next: HTML? = contents.cursor.map { cursor in
            let address = url(.cache(contents.jar, after: cursor))
            return "<nav aria-label=\"Pages\"><a href=\"\(address)\" rel=\"next\">Next page</a></nav>"
        }
        let tables = contents.sites.map { responses($0.responses, of: $0.site, contents) }
        return InspectorPage(
            title: title,
            content: """
                \(breadcrumb(jar: contents.jar))
                <h1>\(title)</h1>
                <p>\(counted(Int(statistics.responses), "response")), \
                \(counted(Int(statistics.octets), "octet")) on the disk</p>
                \(form(for: question, about: contents.jar))\(statistics.whole.map(rules))\
                <section aria-labelledby="responses">
                <h2 id="responses">Stored responses</h2>
                \(purgeForm(contents, site: "", "this jar"))
                \(tables)\(next)
                </section>

                """)
    }

    private func form(for question: AskedCache, about jar: String) -> HTML {
        """
        <section aria-labelledby="why">
        <h2 id="why">Explain a request</h2>
        <form method="get" action="\(url(.cache(jar)))" class="question">
        <label for="url">URL of a GET request</label>
        <input id="url" name="url" type="url" value="\(question.url)" \
        placeholder="https://www.example.com/app.js" required spellcheck="false">
        <button>Explain</button>
        </form>
        \(question.problem.map(HTML.alert))
        \(question.answer.map(answer))\
        <p class="note">By the built-in rules, without a table of a gateway's own.</p>
        </section>

        """
    }

    private func answer(_ explanation: CacheExplanationReport) -> HTML {
        let number = explanation.response.map { "; stored response \($0)" } ?? ""
        let verdict = HTML.verdict(
            "\(explanation.answer)\(number), by rule '\(explanation.rule)' (treatment: \(explanation.treatment))")
        let table = HTML.table(
            "Stored responses",
            [
                .number("Response"), "Audience", .number("Status"), "Freshness", "Stored", "Result if it were alone",
            ], explanation.responses.enumerated().map { row($1, number: $0 + 1) })
        return """
            \(verdict)\(reasons(explanation.reasons))
            \(explanation.responses.isEmpty ? nil : table)
            """
    }

    private func reasons(_ reasons: [CachedResponseDetails.Reason]) -> [HTML] {
        reasons.map { HTML.reason($0.explanation, id: $0.id) }
    }

    private func row(_ details: CachedResponseDetails, number: Int) -> HTML {
        let lifetime = "age \(details.age) s, lifetime \(details.lifetime) s (\(details.lifetimeSource))"
        let verdict = "\(details.answer), by rule '\(details.rule)'"
        return """
            <tr><th scope="row" class="number">\(number)</th><td>\(details.shownAudience)</td>\
            <td class="number">\(details.response.status)</td>\
            <td>\(details.response.freshness)\(HTML.remark(lifetime))</td>\
            <td>\(HTML.moment(MomentView(rfc3339: details.response.stored)))</td>\
            <td class="result">\(verdict)\(reasons(details.reasons))</td></tr>

            """
    }

    /// What the rules have answered for all jars.
    private func rules(_ whole: CacheStatisticsReport.Whole) -> HTML {
        let rows: [HTML] = whole.hits.sorted { $0.key < $1.key }.map { name, hits in
            """
            <tr><th scope="row">\(name)</th><td class="number">\(hits)</td>\
            <td class="number">\(whole.octetsSaved[name] ?? 0)</td></tr>

            """
        }
        let table = HTML.table("Answered from the cache", ["Rule", .number("Requests"), .number("Octets saved")], rows)
        return """
            <section aria-labelledby="rules">
            <h2 id="rules">Answered from the cache</h2>
            <p class="note">For all jars. A gateway counts when it stops, and now and then before.</p>
            \(rows.isEmpty ? "<p>No requests.</p>" : table)
            </section>

            """
    }

    private func responses(
        _ responses: [CachedResponseReport], of site: String, _ contents: CacheContents
    ) -> HTML {
        let table = HTML.table(
            "Responses of \(site)",
            ["URL", .number("Status"), .number("Octets"), "Freshness", "Stored", "Last used"],
            responses.map { row($0, of: contents.jar) })
        return .siteDetails(
            site, summary: counted(responses.count, "response"), isOpen: contents.sites.count <= 5,
            """
            \(purgeForm(contents, site: site, site))
            \(table)
            """)
    }

    private func row(_ response: CachedResponseReport, of jar: String) -> HTML {
        let shown = response.shownURL
        // A link to a URL of which a part is not shown would not find the response.
        let link: HTML =
            shown.contains("redacted")
            ? "\(shown)" : "<a href=\"\(url(.cache(jar, explaining: shown)))\">\(shown)</a>"
        return """
            <tr><th scope="row" class="request">\(link)</th><td class="number">\(response.status)</td>\
            <td class="number">\(response.octets)</td><td>\(response.freshness)</td>\
            <td>\(HTML.moment(MomentView(rfc3339: response.stored)))</td>\
            <td>\(HTML.moment(MomentView(rfc3339: response.used)))</td></tr>

            """
    }

    /// The button that removes responses; nothing if the caller may not.
    ///
    /// - Parameters:
    ///   - site: A host of the site; empty for all sites.
    ///   - owner: The site or jar, for a person.
    private func purgeForm(_ contents: CacheContents, site: String, _ owner: String) -> HTML? {
        guard contents.mayPurge else { return nil }
        return """
            <form method="post" action="\(url(.purge(contents.jar)))"><input type="hidden" name="site" value="\(site)">\
            <button>Remove all responses of \(owner)</button></form>
            """
    }
}
