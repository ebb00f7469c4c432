import SessionClient
import Testing

@testable import SessionService

@Suite("The requests of the client")
struct ClientRouteTests {
    /// A request in the place of whose parameters stand their names, as method and path.
    private static func operation<Answer>(_ request: SessionRequest<Answer>) -> String {
        "\(request.method) \(request.target.prefix { $0 != "?" })"
            .replacing("JAR", with: "{jar}").replacing("NAME", with: "{name}").replacing("ID", with: "{id}")
    }

    private static let response = ResponseDocument(url: "", headers: [])
    private static let settings = JarSettingsDocument()

    static let operations = [
        operation(.jars()), operation(.createJar(settings)), operation(.jar("JAR")), operation(.putJar("JAR")),
        operation(.changeSettings(of: "JAR", settings)), operation(.removeJar("JAR")), operation(.clearJar("JAR")),
        operation(.sites()), operation(.removedJars()), operation(.restoreJar("JAR")),
        operation(.renameJar("JAR", to: "")), operation(.copyJar("JAR", to: "")),
        operation(.mergeJar("JAR", into: "")), operation(.prune(jar: "JAR")), operation(.pruneAll()),
        operation(.savedSessions(of: "JAR")), operation(.saveSession("", of: "JAR")),
        operation(.restoreSession("NAME", of: "JAR")), operation(.removeSavedSession("NAME", of: "JAR")),
        operation(.endSession(of: "JAR")), operation(.headerFields(of: "JAR")),
        operation(.setHeaderField("NAME", HeaderFieldSettingDocument(), of: "JAR")),
        operation(.removeHeaderField("NAME", of: "JAR")), operation(.loginRules(of: "JAR")),
        operation(
            .setLoginRule("NAME", LoginRuleDocument(scope: "", profile: "", delivery: "cookie"), of: "JAR")),
        operation(.removeLoginRule("NAME", of: "JAR")), operation(.webStorage(of: "JAR")),
        operation(.removeWebStorage(of: "JAR")), operation(.cachedResponses(of: "JAR")),
        operation(.cachedResponses(to: "", of: "JAR")), operation(.cacheStatistics(of: "JAR")),
        operation(.explain(ExplainCacheDocument(url: ""), in: "JAR")),
        operation(.purgeCache(of: "JAR")), operation(.purgeAllCaches()),
        operation(.siteData(of: "JAR")), operation(.removeSiteData(of: "JAR")),
        operation(.decorate(DecorateDocument(url: ""), in: "JAR")),
        operation(.receive(response, in: "JAR")), operation(.renew(response, in: "JAR")),
        operation(.cookies(of: "JAR")), operation(.cookie("NAME", for: "", in: "JAR")),
        operation(.setCookies(SetCookieDocument(url: ""), in: "JAR")),
        operation(.removeCookies(CookieQuery(), of: "JAR")),
        operation(.script(ScriptDocument(urls: []), of: "JAR")), operation(.captureScript(handler: "", of: "JAR")),
        operation(.explain(ExplainDocument(url: ""), in: "JAR")),
        operation(.explain(ExplainSetCookieDocument(url: ""), in: "JAR")), operation(.changes(of: "JAR")),
        operation(.events(of: "JAR")), operation(.export(ExportDocument(format: ""), of: "JAR")),
        operation(.followedImport(into: "JAR")), operation(.tokens()), operation(.token("NAME")),
        operation(.removeToken("NAME")), operation(.accessToken("NAME")), operation(.idToken("NAME")),
        operation(.refreshToken("NAME")), operation(.revokeToken("NAME")), operation(.logOut("NAME")),
        operation(.beginLogin(LoginDocument(name: ""))), operation(.login("ID")), operation(.cancelLogin("ID")),
        operation(.endLogin("ID", redirectedTo: "")), operation(.agent()),
        operation(.lockAgent(AgentPassphraseDocument(passphrase: ""))),
        operation(.unlockAgent(AgentPassphraseDocument(passphrase: ""))), operation(.gateways()),
        operation(.gateway("NAME")), operation(.startGateway("NAME", GatewayDocument(jar: ""))),
        operation(.stopGateway("NAME")), operation(.gatewayRequests("NAME")), operation(.gatewayEvents("NAME")),
    ]

    /// What no program asks for with a document: scenarios, the page of a browser, and the document itself.
    private static let others = ["POST /v1/simulate", "GET /v1/logins/callback", "GET /v1/openapi.json"]

    @Test("The client has a request for each operation of the OpenAPI document")
    func complete() throws {
        #expect(Set(try APIDocument().operations.keys) == Set(Self.operations + Self.others))
    }
}
