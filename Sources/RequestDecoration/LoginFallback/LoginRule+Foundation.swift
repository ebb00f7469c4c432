public import SessionStore
package import WebPrimitives

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension CookieJar {
    /// The login rules of the jar, by name.
    ///
    /// - Throws: `SessionStoreError`; `LoginFallbackError.Code.ruleInvalid` for a rule that was damaged.
    public func loginRules() throws -> [(name: String, rule: LoginRule)] {
        let stored = StoredLoginRules(try loginRuleDefinitions())
        if let damaged = stored.damaged.first { throw damaged.error }
        return stored.rules
    }

    /// Stores a login rule under a name. Replaces an existing one.
    public func setLoginRule(_ rule: LoginRule, named name: String) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        try setLoginRuleDefinition(String(decoding: try encoder.encode(rule), as: UTF8.self), named: name)
    }
}

/// The login rules of a jar, of which some may be damaged. A damaged rule is no reason to do without the others.
package struct StoredLoginRules {
    /// A rule that cannot be read any more.
    package struct Damaged {
        let name: String
        /// The URLs that it is for; `nil` if it does not name them any more.
        let scope: URLScope?

        /// Says that the rule is damaged.
        package var error: LoginFallbackError {
            LoginFallbackError(.ruleInvalid, name, "the stored rule is damaged; set it again")
        }
    }

    /// The readable part of a damaged rule.
    private struct Scope: Decodable {
        let scope: String
    }

    /// Those that can be read, by name.
    package private(set) var rules: [(name: String, rule: LoginRule)] = []
    package private(set) var damaged: [Damaged] = []

    /// Reads rules as the jar stores them.
    package init(_ definitions: [(name: String, definition: String)]) {
        let decoder = JSONDecoder()
        for (name, definition) in definitions {
            let data = Data(definition.utf8)
            if let rule = try? decoder.decode(LoginRule.self, from: data) {
                rules.append((name, rule))
            } else {
                let scope = try? URLScope(decoder.decode(Scope.self, from: data).scope)
                damaged.append(Damaged(name: name, scope: scope))
            }
        }
    }

    /// The damaged rule for a URL; `nil` if there is none.
    package func damaged(for url: RequestURL) -> Damaged? {
        damaged.first { $0.scope?.contains(url) == true }
    }
}
