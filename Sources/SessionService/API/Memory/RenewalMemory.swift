import CookieModel
import RequestDecoration
import SessionStore
import Synchronization

/// The last renewals of jars' requests, by rule.
///
/// Each response that says "not signed in" arrives in a separate call, and continues from the one before: the stored
/// token, a renewed one, a new login. Together they are the ``LoginRecovery`` of one request, as in `crumb curl`.
final class RenewalMemory: Sendable {
    /// How many seconds after a renewal its result counts as fresh.
    static let settlingTime: Int64 = 10
    /// How many seconds one is remembered.
    private static let lifetime: Int64 = 3600

    private struct Key: Hashable {
        let jar: String
        let rule: String
    }

    private struct Renewal {
        let moment: Timestamp
        let recovery: LoginRecovery
        /// The last request that carried its result and was rejected, if that is known from the response.
        var rejected: SentRequest?
    }

    /// A request, as far as its document identifies it.
    private struct SentRequest: Equatable {
        let url: RequestURL
        let time: Timestamp?
    }

    /// The next step after a rejected request.
    enum Step {
        /// Nothing: it was sent before the last renewal ended.
        case sendAgain
        /// A new login: the site rejects the token that was renewed just now.
        case logIn
        /// The next step of a recovery that has begun; `nil` for the first one of a new one.
        case renew(LoginRecovery?)
    }

    private let renewals = Mutex<[Key: Renewal]>([:])

    /// Remembers how far the recovery of a jar's requests has come.
    func note(_ recovery: LoginRecovery, _ rule: String, of jar: String, at now: Timestamp) {
        renewals.withLock { renewals in
            renewals = renewals.filter { now < $0.value.moment.advanced(bySeconds: RenewalMemory.lifetime) }
            renewals[Key(jar: jar, rule: rule)] = Renewal(moment: now, recovery: recovery)
        }
    }

    /// Notes whether a rejected request carried the result of the last renewal.
    ///
    /// Call this before the cookies of the response are stored: they may remove or replace the cookie that the request
    /// carried. If a token cannot be read, the cookies must be stored all the same.
    func note(
        _ challenge: LoginChallenge, to request: RequestContext, sent time: Timestamp?, _ rule: String,
        of jar: CookieJar, now: Timestamp
    ) {
        let key = Key(jar: jar.name, rule: rule)
        guard let last = renewals.withLock({ $0[key] }), last.recovery.rule == challenge.rule else { return }
        let sent = SentRequest(url: request.url, time: time)
        let isCarried = (try? last.recovery.isCarried(by: request, in: jar, now: now)) ?? false
        renewals.withLock { renewals in
            guard let current = renewals[key], current.moment == last.moment else { return }
            if isCarried {
                renewals[key]?.rejected = sent
            } else if current.rejected == sent {
                renewals[key]?.rejected = nil
            }
        }
    }

    /// Returns the next step after a request that a site rejects.
    ///
    /// - Parameters:
    ///   - request: The request. If it did not carry the result of the last renewal, the site has not rejected that
    ///     result, and a new recovery begins.
    ///   - time: When it was sent; `nil` if not known. A renewed token that it carries is then not taken for rejected.
    func step(
        after challenge: LoginChallenge, to request: RequestContext, sent time: Timestamp?, _ rule: String,
        of jar: CookieJar, now: Timestamp
    ) throws -> Step {
        guard let last = renewals.withLock({ $0[Key(jar: jar.name, rule: rule)] }),
            last.recovery.rule == challenge.rule
        else { return .renew(nil) }
        if let time, time < last.moment { return .sendAgain }
        let isCarried =
            try last.rejected == SentRequest(url: request.url, time: time)
            || last.recovery.isCarried(by: request, in: jar, now: now)
        guard isCarried else { return .renew(nil) }
        guard last.recovery.isOver else { return .renew(last.recovery) }
        let isFresh = now < last.moment.advanced(bySeconds: RenewalMemory.settlingTime)
        return time != nil && isFresh ? .logIn : .renew(nil)
    }
}

/// The login rules of jars, decoded, so that a response whose jar has some need not wait for that.
final class LoginRuleMemory: Sendable {
    typealias Rule = (name: String, rule: LoginRule)

    private struct Entry: Sendable {
        let definitions: [(name: String, definition: String)]
        let rules: [Rule]
    }

    /// How many jars' rules are remembered; then all are forgotten.
    private static let limit = 10_000

    private let entries = Mutex<[String: Entry]>([:])

    /// A jar's rules by name, as the last commit left them.
    func rules(of jar: CookieJar) throws -> [Rule] {
        let definitions = try jar.loginRuleDefinitions()
        guard !definitions.isEmpty else { return [] }
        if let entry = entries.withLock({ $0[jar.name] }), entry.definitions.elementsEqual(definitions, by: ==) {
            return entry.rules
        }
        let rules = try jar.loginRules()
        entries.withLock { entries in
            if entries.count >= LoginRuleMemory.limit { entries = [:] }
            entries[jar.name] = Entry(definitions: definitions, rules: rules)
        }
        return rules
    }
}
