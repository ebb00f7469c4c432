/// The settings of a jar to change. Members that are `nil` keep their values.
public struct JarSettingsDocument: Codable, Sendable, RequestDocument {
    /// A number, or no limit.
    package enum Limit: Codable, Sendable {
        case number(Int)
        case none

        /// Decodes a number or `null`.
        package init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if container.decodeNil() {
                self = .none
                return
            }
            self = .number(try container.decode(Number<CountRange>.self).value)
        }

        /// Encodes the member.
        package func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch self {
            case .number(let number): try container.encode(number)
            case .none: try container.encodeNil()
            }
        }

        /// The number; `nil` for no limit.
        package var number: Int? {
            if case .number(let number) = self { number } else { nil }
        }
    }

    package enum CodingKeys: String, CodingKey, CaseIterable {
        case name, profile, limits
    }

    /// The name of a new jar.
    package let name: String?
    /// The cookie rules: the draft to the letter (`rfc6265bis`) or the behavior of browsers (`browser`).
    package let profile: String?
    /// Limits by name; `nil` for none.
    package let limits: [String: Limit]?

    /// Creates the document. Members that are `nil` are left out.
    public init(name: String? = nil, profile: String? = nil, limits: [String: Int?]? = nil) {
        self.name = name
        self.profile = profile
        self.limits = limits?.mapValues { $0.map { .number($0) } ?? Limit.none }
    }
}

/// Another jar, for operations on two.
package struct JarTargetDocument: Codable, Sendable, RequestDocument {
    package enum CodingKeys: String, CodingKey, CaseIterable {
        case to
    }

    /// The name of the other jar.
    package let to: String

    /// Creates the document. Members that are `nil` are left out.
    package init(to: String) {
        self.to = to
    }
}

/// The name that a removed jar is restored under.
package struct JarRestorationDocument: Codable, Sendable, RequestDocument {
    package enum CodingKeys: String, CodingKey, CaseIterable {
        case to
    }

    /// The name; `nil` for its former one. Another name requires access to all jars.
    package let to: String?

    /// Creates the document. Members that are `nil` are left out.
    package init(to: String? = nil) {
        self.to = to
    }
}

/// The settings of a pruning.
package struct PruneDocument: Codable, Sendable, RequestDocument {
    package enum CodingKeys: String, CodingKey, CaseIterable {
        case journalEntries, vacuum, emptyBin
    }

    /// How many entries of each jar's journal stay; by default the setting `journal.entries`. Requires access to all
    /// jars.
    package let journalEntries: Number<CountRange>?
    /// Whether the database file is rewritten. Requires access to all jars.
    package let vacuum: Bool?
    /// Whether removed jars can no longer be restored, instead of after a day.
    package let emptyBin: Bool?

    /// Creates the document. Members that are `nil` are left out.
    package init(journalEntries: Int? = nil, vacuum: Bool? = nil, emptyBin: Bool? = nil) {
        self.journalEntries = journalEntries.map(Number.init(unchecked:))
        self.vacuum = vacuum
        self.emptyBin = emptyBin
    }
}

/// The name that a session is saved under.
package struct SavedSessionDocument: Codable, Sendable, RequestDocument {
    package enum CodingKeys: String, CodingKey, CaseIterable {
        case name
    }

    /// The name.
    package let name: String

    /// Creates the document. Members that are `nil` are left out.
    package init(name: String) {
        self.name = name
    }
}

/// The value of a header field that is stored with a jar, and the URLs it is for.
package struct HeaderFieldSettingDocument: Codable, Sendable, RequestDocument {
    package enum CodingKeys: String, CodingKey, CaseIterable {
        case scope, value, valueBase64
    }

    /// The beginning of the URLs that the field is for; `nil` for all URLs.
    package let scope: String?
    /// The value: one line without control characters and without blanks at its ends.
    package let value: String?
    /// The value in Base64, instead of `value`.
    package let valueBase64: String?

    /// Creates the document. Members that are `nil` are left out.
    package init(scope: String? = nil, value: String? = nil, valueBase64: String? = nil) {
        self.scope = scope
        self.value = value
        self.valueBase64 = valueBase64
    }
}

/// How a site says "not signed in", and how a token signs the user in again.
package struct LoginRuleDocument: Codable, Sendable, RequestDocument {
    package enum CodingKeys: String, CodingKey, CaseIterable {
        case scope, profile, statuses, redirects, delivery, template
    }

    /// The beginning of the URLs that the rule is for.
    package let scope: String
    /// The name of the login.
    package let profile: String
    /// The statuses that say "not signed in"; 401 by default, unless redirects are given.
    package let statuses: [Number<StatusRange>]?
    /// The beginning of the URLs of login pages that the site redirects to.
    package let redirects: [String]?
    /// How the token gets to the site: `cookie`, `authorization` or `exchange`.
    package let delivery: String
    /// The `Set-Cookie` line with `{access_token}` or `{id_token}`, or the URL that answers with cookies.
    package let template: String?

    /// Creates the document. Members that are `nil` are left out.
    package init(
        scope: String, profile: String, statuses: [Int]? = nil, redirects: [String]? = nil, delivery: String,
        template: String? = nil
    ) {
        self.scope = scope
        self.profile = profile
        self.statuses = statuses?.map(Number.init(unchecked:))
        self.redirects = redirects
        self.delivery = delivery
        self.template = template
    }
}
