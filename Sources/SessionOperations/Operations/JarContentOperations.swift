import CookieModel
import OAuth2
import RequestDecoration
import SessionStore
import SessionWire

// MARK: - Header fields

extension HeaderFieldSettingDocument {
    /// The field of that name.
    fileprivate func rule(named name: String) throws -> FieldRule {
        try FieldRule(
            name: name, value: Secret(try HeaderFieldDocument.octets(value, valueBase64, at: "")),
            scope: try scope.map { URLScope(try RequestURL($0, member: "scope")) })
    }
}

extension DatabaseOperation where Document == NoDocument, Output == HeaderFieldList {
    /// The header fields of a jar. Seeing their values requires the right to see the secrets of a session.
    package static var listHeaderFields: Self {
        Self(.listHeaderFields) { input, context in
            let (jar, showsValues) = try context.jar(showingValuesAskedIn: input)
            let fields = try jar.cachedHeaderFields()
            if showsValues {
                context.disclosed = [SecretAccess(.fieldValues, jar: jar.name, names: fields.map(\.name))]
            }
            return HeaderFieldList(fields: fields.map { HeaderFieldReport($0, showingValue: showsValues) })
        }
    }
}

extension DatabaseOperation where Document == HeaderFieldSettingDocument, Output == HeaderFieldReport {
    package static var setHeaderField: Self {
        Self(.setHeaderField) { input, context in
            let jar = try context.jar(named: input.jar)
            let rule = try input.document.rule(named: input.name)
            try jar.setFieldRule(rule)
            return HeaderFieldReport(rule)
        }
    }
}

extension DatabaseOperation where Document == NoDocument, Output == HeaderFieldReport {
    package static var removeHeaderField: Self {
        Self(.removeHeaderField) { input, context in
            let jar = try context.jar(named: input.jar)
            let scope = try input.query.url("scope").map { URLScope($0) }
            guard try jar.removeFieldRule(named: input.name, scope: scope) else {
                throw OperationError(
                    .fieldNotFound, "\(input.name): the jar has no such header field with this scope")
            }
            return HeaderFieldReport(name: input.name, scope: scope?.description, value: nil)
        }
    }
}

// MARK: - Login rules

extension LoginRuleDocument {
    /// How a token goes back to the site.
    private enum Delivery: String, CaseIterable {
        case cookie, authorization, exchange
    }

    fileprivate func rule() throws -> LoginRule {
        let delivery = try Delivery.named(self.delivery, member: "delivery")
        guard (delivery == .authorization) == (template == nil) else {
            throw OperationError.bodyInvalid(
                "template: use a Set-Cookie line for a cookie, a URL for an exchange, and nothing for Authorization")
        }
        let way: LoginRule.Delivery =
            switch delivery {
            case .cookie: .cookie(try CookieTemplate(template ?? ""))
            case .authorization: .authorization
            case .exchange: .exchange(template ?? "")
            }
        return try LoginRule(
            scope: try RequestURL(scope, member: "scope").description,
            signs: LoginRule.Signs(named: statuses?.map(\.value) ?? [], redirects: redirects ?? []), profile: profile,
            delivery: way)
    }
}

extension DatabaseOperation where Document == NoDocument, Output == LoginRuleList {
    package static var listLoginRules: Self {
        Self(.listLoginRules) { input, context in
            let rules = try context.jar(named: input.jar).loginRules()
            return LoginRuleList(rules: rules.map { LoginRuleReport(name: $0.name, rule: $0.rule) })
        }
    }
}

extension DatabaseOperation where Document == LoginRuleDocument, Output == LoginRuleReport {
    package static var setLoginRule: Self {
        Self(.setLoginRule) { input, context in
            let rule = try input.document.rule()
            let jar = try context.jar(named: input.jar)
            _ = try jar.tokens.get(rule.profile)
            try jar.setLoginRule(rule, named: input.name)
            return LoginRuleReport(name: input.name, rule: rule)
        }
    }
}

extension DatabaseOperation where Document == NoDocument, Output == Void {
    package static var removeLoginRule: Self {
        Self(.removeLoginRule) { input, context in
            guard try context.jar(named: input.jar).removeLoginRule(named: input.name) else {
                throw OperationError(
                    .loginRuleNotFound, "\(input.name): the jar has no login rule with this name")
            }
        }
    }
}

// MARK: - Web storage

extension DatabaseOperation where Document == NoDocument, Output == WebStorageList {
    /// The origins with `localStorage` in a jar; of one origin, its items.
    package static var listWebStorage: Self {
        Self(.listWebStorage) { input, context in
            let origin = try input.query.url("origin")?.origin
            let showsValues = try input.query.flag("values") ?? false
            guard origin != nil || !showsValues else {
                throw OperationError.parameterInvalid("values", "add the origin whose values to show")
            }
            let jar = try context.jar(named: input.jar)
            if showsValues { try context.require(.secrets, jar: jar.name) }
            let list = try WebStorageList(jar, ofOrigin: origin, showingValues: showsValues)
            if showsValues { context.disclosed = [SecretAccess(.storageValues, jar: jar.name, site: origin)] }
            return list
        }
    }
}

extension DatabaseOperation where Document == NoDocument, Output == WebStorageRemoval {
    package static var removeWebStorage: Self {
        Self(.removeWebStorage) { input, context in
            let origin = try input.query.url("origin")?.origin
            let key = try input.query.octets("key")
            guard origin != nil || key == nil else {
                throw OperationError.parameterInvalid("key", "add the origin of the item")
            }
            let jar = try context.jar(named: input.jar)
            return WebStorageRemoval(jar: jar.name, removed: try jar.removeWebStorage(ofOrigin: origin, key: key))
        }
    }
}
