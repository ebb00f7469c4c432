import RequestDecoration
import SessionStore
import Synchronization

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
