package import CookieModel
import SessionStore
import SessionWire

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension SetCookieDocument {
    /// The response of the URL with these lines.
    package func response() throws(OperationError) -> ReceivedResponse {
        ReceivedResponse(context: try details.requestContext(for: members.url), setCookie: try lines())
    }

    /// The field values, in order: text first.
    fileprivate func lines() throws(OperationError) -> [Octets] {
        var lines = (members.setCookie ?? []).map { Octets($0) }
        for base64 in members.setCookieBase64 ?? [] {
            guard let data = Data(base64Encoded: base64) else {
                throw .bodyInvalid("setCookieBase64: this is not base64")
            }
            lines.append(Octets(Array(data)))
        }
        guard !lines.isEmpty else {
            throw .bodyInvalid("setCookie: give a line, such as 'name=value; Path=/; Secure'")
        }
        return lines
    }
}

extension ExplainSetCookieDocument {
    /// The field values, in order.
    fileprivate func lines() throws(OperationError) -> [Octets] {
        try SetCookieDocument(
            url: members.url, setCookie: members.setCookie, setCookieBase64: members.setCookieBase64
        ).lines()
    }
}

extension EngineVerdictDocument {
    /// Creates the verdict from its names.
    func verdict() throws(OperationError) -> EngineVerdict {
        do {
            return try EngineVerdict(source: source, classes: classes, partition: partition)
        } catch {
            throw .bodyInvalid("verdict.\(error)")
        }
    }
}

extension CookieFilter {
    /// Whether it has a condition at all.
    fileprivate var isGiven: Bool { name != nil || domain != nil || path != nil || request != nil }
}

extension DatabaseOperation where Document == NoDocument, Output == CookieList {
    package static var listCookies: Self {
        Self(.listCookies) { input, context in
            let (jar, showsValues) = try context.jar(showingValuesAskedIn: input)
            let limit = try context.limit(input.query)
            let start = try CookieCursor(input.query)
            let condition = try CookieCondition(input.query)
            let showsOrigins = try input.query.flag("origins") ?? false
            let page = try condition.page(
                of: jar, after: start, limit: limit, readsAllSites: context.pageLimit == nil, now: context.now)
            let origins = showsOrigins ? try jar.origins() : [:]
            let list = CookieList(
                cookies: page.cookies.map {
                    CookieReport($0.cookie, showingValue: showsValues, origin: origins[$0.cookie.id])
                }, unreadable: page.unreadable.map { CookieIdentityReport($0) },
                next: page.hasMore ? page.cookies.last?.place.text : nil)
            if showsValues {
                context.disclosed = [
                    SecretAccess(
                        .cookieValues, jar: jar.name, names: list.cookies.map { $0.name ?? $0.nameBase64 ?? "" })
                ]
            }
            return list
        }
    }
}

extension DatabaseOperation where Document == NoDocument, Output == CookieReport {
    package static var getCookie: Self {
        Self(.getCookie) { input, context in
            let (jar, showsValue) = try context.jar(showingValuesAskedIn: input)
            var condition = try CookieCondition(input.query)
            condition.filter.name = Octets(input.name)
            condition.filter.request = try CookieCondition.request(input.query)
            let (readable, unreadable) = try condition.cookies(of: jar, now: context.now)
            // Of those that a request carries, the one that goes first counts, as for a server.
            guard let cookie = readable.first else {
                throw unreadable.isEmpty
                    ? OperationError(.cookieNotFound, "'\(input.name)': the jar has no such cookie")
                    : OperationError(.valueDamaged, ExclusionReason.unreadable.explanation)
            }
            guard readable.count == 1 || condition.filter.request != nil else {
                throw OperationError(
                    .cookieAmbiguous,
                    "'\(input.name)': the jar has \(readable.count) cookies with this name; add domain, path or url")
            }
            let report = CookieReport(cookie, showingValue: showsValue, origin: try jar.origin(of: cookie.id))
            if showsValue {
                context.disclosed = [
                    SecretAccess(.cookieValues, jar: jar.name, site: report.domain, names: [input.name])
                ]
            }
            return report
        }
    }
}

extension DatabaseOperation where Document == NoDocument, Output == CookieRemovalList {
    package static var removeCookies: Self {
        Self(.removeCookies) { input, context in
            let condition = try CookieCondition(input.query)
            guard condition.filter.isGiven else {
                throw OperationError(
                    .parameterMissing,
                    "select cookies by name, domain, path or url; POST to 'clear' removes all")
            }
            let jar = try context.jar(named: input.jar)
            let removed = try jar.removeCookies(condition.filter, now: context.now)
            guard !removed.isEmpty else {
                throw OperationError(.cookieNotFound, "jar '\(jar.name)' has no such cookie")
            }
            return CookieRemovalList(removed: removed.map { CookieIdentityReport($0) })
        }
    }
}

extension DatabaseOperation where Document == ExplainDocument, Output == ExplanationReport {
    package static var explain: Self {
        Self(.explain) { input, context in
            let (members, details) = (input.document.members, input.document.details)
            var description = try details.requestContext(for: members.url, members.script == true ? .script : .http)
            description.verdict = try members.verdict?.verdict()
            let jar = try context.jar(named: input.jar)
            var explanation = Explanation(description, jar: jar.name, policy: jar.policy, now: context.now)
            try explanation.add(jar)
            // Other jars are reported only to callers who may see them.
            try explanation.addOtherJars(
                of: context.database, named: context.grant.jarNames, policy: context.policy)
            return ExplanationReport(explanation)
        }
    }
}

extension DatabaseOperation where Document == ExplainSetCookieDocument, Output == SetCookieDryRunReport {
    package static var explainSetCookie: Self {
        Self(.explainSetCookie) { input, context in
            let (members, details) = (input.document.members, input.document.details)
            let description = try details.requestContext(for: members.url, members.script == true ? .script : .http)
            let lines = try input.document.lines()
            let jar = try context.jar(named: input.jar)
            let stored = try jar.cookies()
            return SetCookieDryRunReport(
                SetCookieDryRun(
                    lines, description, jar: jar.name, policy: jar.policy,
                    cookies: stored.readable + stored.unreadable, now: context.now))
        }
    }
}

extension DatabaseOperation where Document == NoDocument, Output == ChangeList {
    package static var listChanges: Self {
        Self(.listChanges) { input, context in
            let position = try input.query.number("after", 0...Int64.max) ?? 0
            let limit = Int(try input.query.number("limit", 1...1000) ?? 1000)
            return ChangeList(try context.jar(named: input.jar).changes(after: position, count: limit))
        }
    }
}
