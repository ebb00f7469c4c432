public import CookieModel
public import HTTPTypes
package import OAuth2
public import SessionStore

/// A header field to add to requests, and the URLs that it is for.
public struct FieldRule: Sendable, Hashable {
    /// The field.
    package let field: HTTPField
    /// The URLs that the field is for; `nil` for all. A secret such as an API key needs a scope.
    package let scope: URLScope?

    /// Creates a rule from its parts.
    public init(_ field: HTTPField, scope: URLScope? = nil) {
        self.field = field
        self.scope = scope
    }

    /// Returns the reason for omitting the field from a request, or `nil` if it is sent.
    ///
    /// Of several reasons, the first one counts, in this order: the rule itself, its scope, a field of another rule, a
    /// field of the request's own.
    ///
    /// - Parameters:
    ///   - url: The URL of the request.
    ///   - isSetByCaller: Whether the request has a field of the name already.
    ///   - isSetByOtherRule: Whether a rule before this one has set the field.
    func omission(
        from url: RequestURL, isSetByCaller: @autoclosure () -> Bool, isSetByOtherRule: Bool
    ) -> FieldOmissionReason? {
        if FieldRule.reserved.contains(field.name) { return .reserved }
        if let scope, !scope.contains(url) { return .outsideScope }
        // A field that a rule has set is on the request, too.
        if isSetByOtherRule { return .setByOtherRule }
        return isSetByCaller() ? .setByCaller : nil
    }

    /// The fields that a rule cannot set: cookies come from the jar, credentials from an ``AuthorizationRule``, and the
    /// others from the client, which knows the message that they describe (RFC 9110, section 7.6.1; RFC 9112).
    static let reserved: Set<HTTPField.Name> = {
        let names = ["dpop", "host", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade"]
        return Set(
            names.compactMap { HTTPField.Name($0) } + [
                .authorization, .connection, .contentLength, .cookie, .proxyAuthorization, .setCookie,
            ])
    }()
}

extension FieldRule: ValueHiding {
    /// The field's name and scope, without its value.
    public var description: String {
        "\(field.name)" + (scope.map { " for \($0)" } ?? "") + " (value hidden)"
    }
}

extension FieldRule {
    /// The longest value that is kept: servers refuse longer ones.
    static let valueLimit = 1 << 16

    /// Creates a rule from user input.
    ///
    /// - Parameters:
    ///   - name: The field's name.
    ///   - value: Its value, octet for octet.
    ///   - scope: The start of the URLs that it is for; `nil` for all.
    /// - Throws: An error if the name or value is not valid in a request, or if settings cannot set the field.
    package init(name: String, value: Secret, scope: URLScope? = nil) throws(FieldRuleError) {
        guard let fieldName = HTTPField.Name(name), name.utf8.count <= 100 else {
            throw FieldRuleError(
                "the header field's name", "use 1 to 100 letters, digits and -, as in X-API-Key, without a colon")
        }
        guard !FieldRule.reserved.contains(fieldName) else {
            throw FieldRuleError(
                name, "this field cannot be stored: the jar, a credential rule or the client sets it")
        }
        if let scope, scope.hasWildcard {
            throw FieldRuleError(
                name, "a scope is one host, without '*': set the field for each host, or for all URLs")
        }
        let octets = value.exposedBytes
        guard !octets.isEmpty, octets.count <= FieldRule.valueLimit, HTTPField.isValidValue(octets) else {
            throw FieldRuleError(
                name,
                "its value cannot be sent: use 1 to 65536 octets on one line, no control characters, no blanks at the "
                    + "ends")
        }
        self.init(HTTPField(name: fieldName, value: octets), scope: scope)
    }
}

extension CookieJar {
    /// Stores a header field for requests of the jar. Replaces the one with the same name and scope.
    public func setFieldRule(_ rule: FieldRule) throws {
        // Once more: a rule can be made without these checks.
        let value = Secret(rule.value)
        let checked = try FieldRule(name: rule.name, value: value, scope: rule.scope)
        try setHeaderField(value, named: checked.name, scope: checked.scope?.description)
    }

    /// Removes a header field.
    ///
    /// - Returns: Whether the jar had a field with that name and scope.
    public func removeFieldRule(named name: String, scope: URLScope? = nil) throws(SessionStoreError) -> Bool {
        try removeHeaderField(named: name, scope: scope?.description)
    }
}

extension DecorationSettings {
    /// Reads the header fields that are stored in a jar, including its user agent.
    ///
    /// - Throws: `SessionStoreError`; its code is `value-damaged` if a stored value was changed or moved.
    public init(keptWith jar: CookieJar) throws(SessionStoreError) {
        self.init()
        for field in try jar.headerFields() {
            guard let rule = FieldRule(field) else { throw SessionStoreError(damagedFieldNamed: field.name) }
            fields.append(rule)
        }
    }
}

extension FieldRule {
    /// The field's name as it was written.
    package var name: String { field.name.rawName }

    /// The octets of the field's value.
    package var value: Octets { field.octets }

    /// A field that was kept; `nil` if it was damaged.
    init?(_ stored: StoredHeaderField) {
        guard let name = HTTPField.Name(stored.name), let value = stored.value else { return nil }
        let scope = stored.scope.map { try? URLScope($0) }
        // A scope that is no URL would make it a field for all of them.
        if case .some(.none) = scope { return nil }
        self.init(HTTPField(name: name, value: value.exposedBytes), scope: scope ?? nil)
    }
}

/// Why a header field cannot be stored in a jar: a stable code, the field, and one sentence with the next step. Never
/// contains a value.
public struct FieldRuleError: DescribedError, Hashable, Sendable {
    /// The stable code.
    package static let code = "field-invalid"

    /// The name that was given.
    package let subject: String
    private let detail: String

    init(_ subject: String, _ detail: String) {
        self.subject = subject
        self.detail = detail
    }

    /// One sentence that names the field and the remedy.
    public var description: String {
        "\(subject): \(detail)"
    }
}
