/// What the types of `SessionWire` do not say of their members: the texts and numbers that they have.
///
/// A constraint of a list applies to its elements, unless it counts them.
enum SchemaConstraints {
    /// The constraint of a member.
    static func constraint(of member: String) -> PrintedJSON? { constraints[member] }

    /// The names that a map has, if they are known.
    static func keys(of member: String) -> [String]? { keys[member] }

    /// The members that have a constraint.
    static var places: Set<String> { Set(constraints.keys).union(keys.keys) }

    private static let constraints: [String: PrintedJSON] = Dictionary(
        uniqueKeysWithValues: table.flatMap { constraint, places in
            places.split(separator: " ").map { (String($0), constraint) }
        })

    private static let keys: [String: [String]] = [
        "JarReport.limits": limits, "JarSettingsReport.limits": limits, "JarSettingsDocument.limits": limits,
        "LoginDocument.endpoints": [
            "authorization_endpoint", "token_endpoint", "device_authorization_endpoint",
            "pushed_authorization_request_endpoint", "revocation_endpoint", "introspection_endpoint",
            "userinfo_endpoint", "jwks_uri", "registration_endpoint",
        ],
    ]

    private static let limits = [
        "domain-cookies", "total-cookies", "partition-cookies", "partition-octets", "request-cookies", "request-octets",
    ]

    /// The name of a jar, of a saved session, or of a login.
    static let name: PrintedJSON = [
        "minLength": 1, "maxLength": 100,
        "description": "1 to 100 characters, no control characters, not `.` or `..`.",
    ]

    /// The message handler of a web view.
    static let handler: PrintedJSON = ["pattern": "^[A-Za-z_$][A-Za-z0-9_$]{0,63}$"]

    private static let table: [(PrintedJSON, String)] = [
        (
            name,
            """
            JarReport.name JarSettingsDocument.name JarSettingsReport.name ExplanationReport.OtherJar.name \
            ExplanationReport.jar SetCookieDryRunReport.jar JarClearReport.jar JarCopyReport.from JarCopyReport.to \
            JarMergeReport.from JarMergeReport.into JarRenameReport.from JarRenameReport.to JarRemovalReport.jar \
            RemovedJarReport.jar JarRestorationDocument.to JarTargetDocument.to SiteReport.jar WebStorageRemoval.jar \
            SessionEndReport.jar SessionRestorationReport.jar SessionSaveReport.jar SavedSessionReport.name \
            SavedSessionDocument.name LoginReport.name LoginDocument.name RevocationReport.name StoredTokenReport.name \
            TokenRemoval.removed CacheStatisticsReport.jar SiteDataRemovalReport.jar
            """
        ),
        (["minLength": 1], "AgentPassphraseDocument.passphrase GatewayDocument.jar GatewayUserDocument.jar"),
        (["pattern": "^[A-Za-z0-9._-]{1,64}$"], "GatewayUserDocument.name GatewayUserReport.name"),
        (["pattern": "^[0-9A-Fa-f]{64}$"], "GatewayUserDocument.secretHash"),
        (["minLength": 1], "LoginRuleReport.profile LoginRuleDocument.profile"),
        (
            ["examples": ["https://www.example.com/"]],
            """
            DecorateDocument.url ExplainCacheDocument.url ExplainDocument.url ExplainSetCookieDocument.url ResponseDocument.url \
            SetCookieDocument.url
            """
        ),
        (["minItems": 1, "maxItems": 1000, "examples": ["https://www.example.com/"]], "ScriptDocument.urls"),
        (["format": "uri"], "AccessTokenDocument.url"),
        (handler, "ScriptDocument.handler"),
        (
            ["minimum": 0],
            """
            ChangeList.position GatewayReport.position GatewayRequestList.position PruneReport.freedBytes \
            CachedResponseReport.octets CachedResponseDetails.lifetime CachedResponseDetails.age \
            CacheRemovalReport.removed CacheRemovalReport.octets CacheStatisticsReport.responses \
            CacheStatisticsReport.octets CacheStatisticsReport.Whole.responses CacheStatisticsReport.Whole.octets \
            SiteDataReport.count SiteDataReport.octets SiteDataRemovalReport.responses \
            SiteDataRemovalReport.responseOctets
            """
        ),
        (["minimum": 1], "ChangeReport.position GatewayRequestReport.position PageEventReport.position"),
        (["minimum": 1], "CachedResponseDetails.audience CacheExplanationReport.response"),
        (
            [
                "enum": [
                    "never-store", "always-ask", "keep", "stale-then-ask", "reload", "reload-everywhere", "stored-only",
                    "protocol",
                ]
            ], "CacheExplanationReport.treatment"
        ),
        (["minimum": 100, "maximum": 599], "ProblemReport.status"),
        (["minimum": 100, "maximum": 999], "LoginRuleReport.statuses"),
        (
            ["enum": ["stored", "replaced", "deleted", "expired", "evicted", "removed"]], "ChangeReport.cause"
        ),
        (["enum": ["Strict", "Lax", "None"]], "CookieReport.sameSite"),
        (["enum": ["fresh", "stale", "invalid"]], "CachedResponseReport.state"),
        (["enum": ["cookies", "cache", "storage"]], "SiteDataReport.type"),
        (["enum": ["max-age", "expires", "heuristic", "none"]], "CachedResponseDetails.lifetimeSource"),
        (
            ["enum": ["hit", "hit-then-validate", "validate", "complete", "forward", "unavailable"]],
            "CachedResponseDetails.outcome CacheExplanationReport.outcome"
        ),
        (["enum": ["request"]], "OriginReport.kind"),
        (
            ["enum": ["stored", "replaced", "deleted", "rejected"]],
            "StorageDecisionReport.outcome SetCookieDryRunReport.Line.outcome"
        ),
        (
            [
                "enum": [
                    "netscape", "storage-state", "har", "json", "set-cookie", "header", "curl", "httpie-session",
                    "webdriver",
                ]
            ], "ExportDocument.format"
        ),
        (
            ["enum": ["none", "sec-fetch", "partition-key", "page", "given", "referrer"]],
            "ImportReport.ThirdParty.source"
        ),
        (["enum": ["once", "missing", "always"]], "ScriptDocument.write"),
        (["enum": ["rfc6265bis", "browser"]], "JarSettingsDocument.profile"),
        (["enum": ["removed", "cleared", "merged", "restored"]], "RemovedJarReport.cause"),
        (
            ["enum": ["browser", "tool"]],
            "GatewayReport.client CachedResponseDetails.client ExplainCacheDocument.client"
        ),
        (["enum": ["browser", "tool"], "default": "browser"], "GatewayDocument.client"),
        (["enum": ["mirror", "strip", "pass"]], "GatewayReport.cookies GatewayDocument.cookies"),
        (["enum": ["client-tool", "authority-not-trusted"]], "GatewayRequestReport.hint"),
        (["enum": ["witness", "sec-fetch", "none"]], "EngineVerdictReport.source EngineVerdictDocument.source"),
        (
            ["enum": ["strict", "lax", "none", "default", "recent"]],
            "EngineVerdictReport.classes EngineVerdictDocument.classes"
        ),
        (["enum": ["cookie", "authorization", "exchange"]], "LoginRuleReport.delivery LoginRuleDocument.delivery"),
        (["enum": ["status", "redirect", "bearer-challenge", "step-up"]], "LoginChallengeReport.sign"),
        (["enum": ["pending", "done", "failed"]], "LoginReport.state"),
        (["enum": ["valid", "due", "expired", "unknown", "login-required"]], "StoredTokenReport.state"),
        (["enum": ["access_token", "refresh_token"]], "RevocationReport.revoked"),
        (
            ["enum": ["browser", "device", "client-credentials", "jwt-bearer", "token-exchange"]], "LoginDocument.flow"
        ),
        (["enum": ["issuer", "token_endpoint"]], "LoginDocument.keyAudience"),
        (
            [
                "enum": [
                    "none", "client_secret_basic", "client_secret_post", "private_key_jwt", "client_secret_jwt",
                    "tls_client_auth", "self_signed_tls_client_auth",
                ]
            ], "LoginDocument.authMethod"
        ),
        (
            [
                "enum": [
                    "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "Ed25519",
                    "HS256", "HS384", "HS512",
                ]
            ], "LoginDocument.idTokenAlgorithm"
        ),
    ]
}
