import SessionWire
import Testing

@testable import SessionService

@Suite("The schemas of the OpenAPI document")
struct SchemaTests {
    /// A schema, the type of its documents, and the members in which they differ.
    struct Row: Sendable, CustomTestStringConvertible {
        let schema: String
        let type: any (Decodable & Sendable).Type
        /// The members that the schema requires, although they are optional in the type.
        var required: Set<String> = []
        /// The members that the schema does not have.
        var without: Set<String> = []

        var testDescription: String { schema }
    }

    static let rows = [
        Row(schema: "AccessToken", type: AccessTokenReport.self),
        Row(schema: "AccessTokenRequest", type: AccessTokenDocument.self),
        Row(schema: "Agent", type: AgentReport.self),
        Row(schema: "AgentPassphrase", type: AgentPassphraseDocument.self),
        Row(schema: "CachedResponse", type: CachedResponseReport.self),
        Row(schema: "CachedResponseDetails", type: CachedResponseDetails.self),
        Row(schema: "CachedResponseDetailsList", type: CachedResponseDetailsList.self),
        Row(schema: "CachedResponseList", type: CachedResponseList.self),
        Row(schema: "CacheExplanation", type: CacheExplanationReport.self),
        Row(schema: "CacheRemoval", type: CacheRemovalReport.self),
        Row(schema: "CacheStatistics", type: CacheStatisticsReport.self),
        Row(schema: "CaptureProgress", type: CaptureProgressLine.self),
        Row(schema: "CaptureScript", type: CaptureScriptReport.self),
        Row(schema: "Change", type: ChangeReport.self), Row(schema: "ChangeList", type: ChangeList.self),
        Row(schema: "Cookie", type: CookieReport.self),
        Row(schema: "CookieIdentity", type: CookieIdentityReport.self),
        Row(schema: "CookieList", type: CookieList.self),
        Row(schema: "CookieRemovalList", type: CookieRemovalList.self),
        Row(schema: "Decisions", type: ResponseDecisions.self),
        Row(schema: "DecisionsList", type: ResponseDecisionsList.self),
        Row(schema: "DecorateRequest", type: DecorateDocument.self),
        // Only a renewal names its rule, and always does.
        Row(schema: "Decoration", type: DecorationReport.self, without: ["rule", "mayRepeat"]),
        Row(schema: "Renewal", type: DecorationReport.self, required: ["rule", "mayRepeat"]),
        Row(schema: "ExplainCacheRequest", type: ExplainCacheDocument.self),
        Row(schema: "ExplainRequest", type: ExplainDocument.self),
        Row(schema: "ExplainSetCookieRequest", type: ExplainSetCookieDocument.self),
        Row(schema: "Explanation", type: ExplanationReport.self),
        Row(schema: "ExportReport", type: ExportReport.self),
        Row(schema: "ExportRequest", type: ExportDocument.self),
        Row(schema: "EngineVerdict", type: EngineVerdictReport.self),
        Row(schema: "RejectedCookie", type: RejectedCookieReport.self),
        Row(schema: "EngineVerdictRequest", type: EngineVerdictDocument.self),
        Row(schema: "Gateway", type: GatewayReport.self),
        Row(schema: "GatewayCache", type: GatewayCacheReport.self),
        Row(schema: "GatewayCacheRequest", type: GatewayCacheDocument.self),
        Row(schema: "GatewayExchange", type: GatewayRequestReport.self),
        Row(schema: "GatewayList", type: GatewayList.self),
        Row(schema: "GatewayListening", type: GatewayListening.self),
        Row(schema: "GatewayRequest", type: GatewayDocument.self),
        Row(schema: "GatewayRequestList", type: GatewayRequestList.self),
        Row(schema: "GatewayUpstream", type: GatewayUpstreamDocument.self),
        Row(schema: "GatewayUser", type: GatewayUserReport.self),
        Row(schema: "GatewayUserRequest", type: GatewayUserDocument.self),
        Row(schema: "HeaderField", type: HeaderFieldReport.self),
        Row(schema: "HeaderFieldList", type: HeaderFieldList.self),
        Row(schema: "HeaderFieldRequest", type: HeaderFieldSettingDocument.self),
        Row(schema: "IDToken", type: IDTokenReport.self),
        Row(schema: "IDTokenRequest", type: IDTokenDocument.self),
        Row(schema: "ImportReport", type: ImportReport.self),
        Row(schema: "Jar", type: JarReport.self),
        // A new jar has to have a name; the path names one that is changed.
        Row(schema: "NewJar", type: JarSettingsDocument.self, required: ["name"]),
        Row(schema: "JarChange", type: JarSettingsDocument.self, without: ["name"]),
        Row(schema: "JarPut", type: JarSettingsDocument.self),
        Row(schema: "JarClear", type: JarClearReport.self), Row(schema: "JarCopy", type: JarCopyReport.self),
        Row(schema: "JarList", type: JarList.self), Row(schema: "JarMerge", type: JarMergeReport.self),
        Row(schema: "JarRemoval", type: JarRemovalReport.self),
        Row(schema: "RemovedJar", type: RemovedJarReport.self),
        Row(schema: "RemovedJarList", type: RemovedJarList.self),
        Row(schema: "Site", type: SiteReport.self), Row(schema: "SiteList", type: SiteList.self),
        Row(schema: "JarRestoration", type: JarRestorationDocument.self),
        Row(schema: "JarRename", type: JarRenameReport.self),
        Row(schema: "JarSettings", type: JarSettingsReport.self),
        Row(schema: "JarTarget", type: JarTargetDocument.self),
        Row(schema: "Login", type: LoginReport.self),
        Row(schema: "LoginChallenge", type: LoginChallengeReport.self),
        Row(schema: "LoginRequest", type: LoginDocument.self),
        Row(schema: "LoginRule", type: LoginRuleReport.self),
        Row(schema: "LoginRuleList", type: LoginRuleList.self),
        Row(schema: "LoginRuleRequest", type: LoginRuleDocument.self),
        Row(schema: "LogoutRequest", type: LogoutDocument.self),
        Row(schema: "MessageField", type: HeaderFieldDocument.self),
        Row(schema: "NewSnapshot", type: SavedSessionDocument.self),
        Row(schema: "Origin", type: OriginReport.self), Row(schema: "Problem", type: ProblemReport.self),
        Row(schema: "PageEvent", type: PageEventReport.self),
        Row(schema: "PruneRequest", type: PruneDocument.self), Row(schema: "Pruning", type: PruneReport.self),
        Row(schema: "Reason", type: ReasonReport.self),
        Row(schema: "ReceivedResponse", type: ResponseDocument.self),
        Row(schema: "Redirect", type: RedirectDocument.self),
        Row(schema: "Revocation", type: RevocationReport.self),
        Row(schema: "SavedSession", type: SavedSessionReport.self),
        Row(schema: "SavedSessionList", type: SavedSessionList.self),
        Row(schema: "Script", type: ScriptReport.self), Row(schema: "ScriptRequest", type: ScriptDocument.self),
        Row(schema: "SessionEnd", type: SessionEndReport.self),
        Row(schema: "SessionRestoration", type: SessionRestorationReport.self),
        Row(schema: "SessionSave", type: SessionSaveReport.self),
        Row(schema: "SetCookieRequest", type: SetCookieDocument.self),
        Row(schema: "SetCookieTrial", type: SetCookieDryRunReport.self),
        Row(schema: "SiteData", type: SiteDataReport.self), Row(schema: "SiteDataList", type: SiteDataList.self),
        Row(schema: "SiteDataRemoval", type: SiteDataRemovalReport.self),
        Row(schema: "StorageDecision", type: StorageDecisionReport.self),
        Row(schema: "StoredToken", type: StoredTokenReport.self),
        Row(schema: "StoredTokenList", type: StoredTokenList.self),
        Row(schema: "TokenRemoval", type: TokenRemoval.self),
        // The command alone says where a login is kept.
        Row(schema: "TokenStatus", type: TokenStatusReport.self, without: ["database", "key"]),
        Row(schema: "WebStorageList", type: WebStorageList.self),
        Row(schema: "WebStorageRemoval", type: WebStorageRemoval.self),
    ]

    private static func schemas(_ document: APIDocument) throws -> [String: [String: Any]] {
        let components = try #require(document.members["components"] as? [String: Any])
        return try #require(components["schemas"] as? [String: [String: Any]])
    }

    @Test("Each schema has the members and required members of its type, at every depth", arguments: rows)
    func members(row: Row) throws {
        let document = try APIDocument()
        let schema = try #require(try Self.schemas(document)[row.schema])
        let exceptions = row.required.union(row.without)
        let faults = try SchemaDecoder.faults(of: row.type, schema, in: document, except: exceptions)
        #expect(faults == [])
    }

    @Test("Members of schemas are in camel case, except in maps whose keys are external names")
    func memberNames() throws {
        // Limits have the names that 'crumb jars settings' takes; endpoints, those of RFC 8414.
        let maps: Set = ["limits", "endpoints"]
        func check(_ value: Any, _ name: String) {
            if let list = value as? [Any] { for item in list { check(item, name) } }
            guard let members = value as? [String: Any] else { return }
            if let properties = members["properties"] as? [String: Any], !maps.contains(name) {
                for key in properties.keys { #expect(key.wholeMatch(of: /[a-z][A-Za-z0-9]*/) != nil, "\(key)") }
            }
            for (key, member) in members { check(member, key) }
        }
        check(try APIDocument().members, "")
    }

    @Test("The comparison of schemas and types finds each kind of difference")
    func differences() throws {
        let document = try APIDocument()
        func faults(_ schema: [String: Any]) throws -> [String] {
            try SchemaDecoder.faults(of: TokenRemoval.self, schema, in: document, except: [])
        }
        let text = ["removed": ["type": "string"]]
        #expect(try faults(["type": "object", "properties": text, "required": ["removed"]]) == [])
        #expect(try faults(["type": "object", "properties": text]).count == 1)
        #expect(try faults(["type": "object", "properties": ["other": ["type": "string"]]]).count == 2)
        let number = ["removed": ["type": "integer"]]
        #expect(try faults(["type": "object", "properties": number, "required": ["removed"]]).count == 1)
    }
}
