import CookieModel
import SessionOperations

/// One gateway: its settings, and the requests and events that have passed through it.
struct GatewayView: InspectorView {
    static let template = "gateway"
    let title: String
    let caller: CallerView?
    let name: String
    let href: String
    let hasJar: Bool
    let jar: String
    let jarHref: String
    let facts: [Fact]
    let rows: [GatewayRow]
    let position: Int64

    /// A property of a gateway, with its label.
    struct Fact {
        let label: String
        let value: String
        let moment: MomentView?
    }

    /// - Parameter entries: The entries to show, the oldest first.
    init(_ gateway: HostedGateway, entries: GatewayLog.Page, caller: CallerView?) {
        let report = gateway.report
        name = shownName(Octets(report.name))
        title = "Gateway \(name)"
        self.caller = caller
        href = InspectorPath.gateway(report.name)
        hasJar = report.jar != nil
        jar = Octets(report.jar ?? "").description
        jarHref = InspectorPath.jar(report.jar ?? "")
        let addresses = report.addresses.map(\.line).joined(separator: ", ")
        facts = [
            ("Users", Octets((report.users ?? []).map(\.text).joined(separator: ", ")).description),
            ("Address", addresses), ("Since", report.started),
            ("Requests of", report.client == "tool" ? "programs" : "a browser"),
            ("Decrypted hosts", report.intercept.joined(separator: ", ")), ("Cache", report.cache?.text ?? "none"),
            ("Rules of the cache", report.cache?.shownRules.joined(separator: ", ") ?? ""),
            ("Open connections", String(report.openConnections)), ("Requests", String(report.requests)),
            ("Cookies sent", String(report.cookiesSent)), ("Cookies stored", String(report.cookiesStored)),
            ("Failures", String(report.failures)),
        ].filter { !$0.1.isEmpty }.map { label, value in
            let moment = MomentView(rfc3339: value)
            return Fact(label: label, value: moment == nil ? value : "", moment: moment)
        }
        rows = entries.entries.reversed().map(GatewayRow.init)
        position = entries.position
    }
}

extension GatewayCacheReport {
    /// The settings for a person.
    fileprivate var text: String {
        "\(shownSize), \(counted(shownRules.count, "rule"))\(offline ? ", offline" : "")"
    }
}

/// A gateway in the overview.
struct GatewaySummary {
    let name: String
    let href: String
    let jar: String
    let address: String
    let requests: Int
    let cookiesSent: Int
    let cookiesStored: Int
    let failures: Int

    init(_ gateway: HostedGateway) {
        let report = gateway.report
        name = shownName(Octets(report.name))
        href = InspectorPath.gateway(report.name)
        jar = Octets(report.jarText).description
        address = report.addresses.map(\.line).joined(separator: ", ")
        requests = report.requests
        cookiesSent = report.cookiesSent
        cookiesStored = report.cookiesStored
        failures = report.failures
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
            verdict = entry.verdict?.text ?? (entry.decorated ? "" : "passed unchanged")
            source = entry.verdict?.source
            sent = entry.cookiesSent.joined(separator: ", ")
            stored = entry.cookiesStored.joined(separator: ", ")
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
}
