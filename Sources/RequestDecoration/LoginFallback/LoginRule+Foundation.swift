import Foundation
public import SessionStore

extension CookieJar {
    /// The jar's login rules, by name.
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

    /// Keeps a login rule under a name, in the place of the one that was there.
    public func setLoginRule(_ rule: LoginRule, named name: String) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        try setLoginRuleDefinition(String(decoding: try encoder.encode(rule), as: UTF8.self), named: name)
    }
}
