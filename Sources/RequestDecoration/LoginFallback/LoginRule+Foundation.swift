import Foundation
public import SessionStore

extension CookieJar {
    /// The login rules of the jar, by name.
    ///
    /// - Throws: `SessionStoreError`; ``LoginFallbackError/Code/ruleInvalid`` for a rule that was damaged.
    public func loginRules() throws -> [(name: String, rule: LoginRule)] {
        try loginRuleDefinitions().map { name, definition in
            guard let rule = try? JSONDecoder().decode(LoginRule.self, from: Data(definition.utf8)) else {
                throw LoginFallbackError(.ruleInvalid, name, "the stored rule is damaged; set it again")
            }
            return (name, rule)
        }
    }

    /// Stores a login rule under a name. Replaces an existing one.
    public func setLoginRule(_ rule: LoginRule, named name: String) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        try setLoginRuleDefinition(String(decoding: try encoder.encode(rule), as: UTF8.self), named: name)
    }
}
