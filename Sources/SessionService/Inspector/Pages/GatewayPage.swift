import CookieModel
import SessionOperations
import WebPages

/// The page of one gateway: its settings, and the requests and events that have passed through it.
extension InspectorPages {
    /// - Parameter entries: The entries to show, the oldest first.
    func gateway(_ gateway: GatewayReport, entries: GatewayLog.Page) -> InspectorPage {
        let title = "Gateway \(shownName(Octets(gateway.name)))"
        let jar: HTML? = gateway.jar.map {
            "<dt>Jar</dt><dd><a href=\"\(url(.jar($0)))\">\(shown($0))</a></dd>"
        }
        let requests = HTML.table(
            "Requests", ["Time", "Request", "Status", "Verdict", "Cookies sent", "Cookies stored"],
            entries.entries.reversed().map { GatewayRow($0).html })
        return InspectorPage(
            title: title,
            content: """
                \(breadcrumb())
                <h1>\(title)</h1>
                <dl>
                \(jar)
                \(facts(of: gateway))</dl>
                <section aria-labelledby="requests" data-gateway="\(url(.events(gateway.name, after: entries.position)))">
                <h2 id="requests">Requests</h2>
                <p class="note live-note">Reload the page to see newer requests.</p>
                \(requests)</section>

                """)
    }

    /// The properties of a gateway that it has.
    private func facts(of gateway: GatewayReport) -> [HTML] {
        [
            ("Users", shown((gateway.users ?? []).map(\.text).joined(separator: ", "))),
            ("Address", gateway.shownAddresses), ("Since", gateway.started),
            ("Requests of", gateway.client == "tool" ? "programs" : "a browser"),
            ("Decrypted hosts", gateway.intercept.joined(separator: ", ")), ("Cache", gateway.cache?.text ?? "none"),
            ("Rules of the cache", gateway.cache?.shownRules.joined(separator: ", ") ?? ""),
            ("Open connections", String(gateway.openConnections)), ("Requests", String(gateway.requests)),
            ("Cookies sent", String(gateway.cookiesSent)), ("Cookies stored", String(gateway.cookiesStored)),
            ("Failures", String(gateway.failures)),
        ].filter { !$0.1.isEmpty }.map { label, value in
            let moment = MomentView(rfc3339: value)
            return "<dt>\(label)</dt><dd>\(moment == nil ? value : "")\(HTML.moment(moment))</dd>\n"
        }
    }
}

extension GatewayReport {
    /// Where it listens, for a person.
    var shownAddresses: String { addresses.map(\.line).joined(separator: ", ") }
}

extension GatewayCacheReport {
    /// The settings for a person.
    fileprivate var text: String {
        "\(shownSize), \(counted(shownRules.count, "rule"))\(offline ? ", offline" : "")"
    }
}

/// A request or event of a gateway, as the page and its script show it.
struct GatewayRow: Encodable {
    let moment: MomentView?
    let request: String
    let status: String?
    /// `sent` for a response of the server, `unsent` for a failure.
    let kind: String
    let verdict: String
    /// Where the verdict comes from.
    let source: String?
    let sent: String
    let stored: String
    let note: String?

    init(_ entry: GatewayLog.Entry) {
        switch entry {
        case .request(let entry):
            moment = MomentView(rfc3339: entry.time)
            request = "\(entry.method) \(entry.url)"
            status = entry.status.map(String.init) ?? "none"
            kind = entry.failure == nil ? "sent" : "unsent"
            let browserVerdict = entry.isRefused ? nil : entry.verdict
            verdict = browserVerdict?.text ?? entry.passage ?? ""
            source = browserVerdict?.source
            sent = shownNames(entry.cookiesSent)
            stored = shownNames(entry.cookiesStored)
            let notes = [
                entry.user.map { "user: \($0)" }, entry.failure, entry.signedInAgain ? "signed in again" : nil,
                entry.cookiesRejected.map { "rejected: \($0.map(\.text).joined(separator: ", "))" },
                entry.loginFailure.map { "not signed in: \($0)" }, entry.hint.map { "hint: \($0)" },
            ].compactMap(\.self)
            note = notes.isEmpty ? nil : notes.joined(separator: ", ")
        case .event(let event):
            moment = MomentView(rfc3339: event.time)
            request = event.line
            (status, source) = (nil, nil)
            (kind, verdict, sent, stored) = ("sent", "", "", "")
            note = "event of a page"
        }
    }

    /// The row of the table. The page's script builds the same one for a newer request.
    fileprivate var html: HTML {
        """
        <tr><td>\(HTML.moment(moment))</td>\
        <th scope="row" class="request">\(request)\(note.map(HTML.remark))</th>\
        <td>\(status.map { "<span class=\"answer \(kind)\">\($0)</span>" })</td>\
        <td>\(verdict)\(source.map(HTML.remark))</td>\
        <td class="names">\(sent)</td><td class="names">\(stored)</td></tr>

        """
    }
}
