import HTTPTypes
import Testing

/// A request that each route answers: the table that every route has to be in.
struct RouteSample: Sendable, CustomTestStringConvertible {
    let method: HTTPRequest.Method
    let path: String
    let uri: String
    var body: String?
    var type = "application/json"
    var status = 200
    /// What has to be done before.
    var before: [String] = []

    var testDescription: String { "\(method) \(uri)" }

    init(
        _ method: HTTPRequest.Method, _ path: String, _ uri: String, _ body: String? = nil, status: Int = 200,
        type: String = "application/json"
    ) {
        self.method = method
        self.path = path
        self.uri = uri
        self.body = body
        self.status = status
        self.type = type
    }

    private static let jar = "/v1/jars/{jar}"
    private static let url = #"{"url":"https://www.example.com/"}"#

    /// All routes but those of events, which have no end.
    static let all: [RouteSample] = [
        RouteSample(.get, "/v1/jars", "/v1/jars"),
        RouteSample(.post, "/v1/jars", "/v1/jars", #"{"name":"new","profile":"browser"}"#, status: 201),
        RouteSample(.get, jar, "/v1/jars/default"),
        RouteSample(.put, jar, "/v1/jars/default", #"{"profile":"browser"}"#),
        RouteSample(.patch, jar, "/v1/jars/default", #"{"limits":{"total-cookies":50,"domain-cookies":null}}"#),
        RouteSample(.delete, jar, "/v1/jars/default"),
        RouteSample(.post, "\(jar)/clear", "/v1/jars/default/clear"),
        RouteSample(.get, "/v1/sites", "/v1/sites"),
        RouteSample(.get, "/v1/removed-jars", "/v1/removed-jars"),
        RouteSample(.post, "\(jar)/restore", "/v1/jars/default/restore", status: 404),
        RouteSample(.post, "\(jar)/prune", "/v1/jars/default/prune"),
        RouteSample(.post, "/v1/prune", "/v1/prune"),
        RouteSample(.post, "\(jar)/rename", "/v1/jars/default/rename", #"{"to":"new"}"#),
        RouteSample(.post, "\(jar)/copy", "/v1/jars/default/copy", #"{"to":"new"}"#, status: 201),
        RouteSample(.post, "\(jar)/merge", "/v1/jars/default/merge", #"{"to":"other"}"#),
        RouteSample(.get, "\(jar)/snapshots", "/v1/jars/default/snapshots"),
        RouteSample(.post, "\(jar)/snapshots", "/v1/jars/default/snapshots", #"{"name":"tuesday"}"#, status: 201),
        RouteSample(.delete, "\(jar)/snapshots/{name}", "/v1/jars/default/snapshots/monday"),
        RouteSample(.post, "\(jar)/snapshots/{name}/restore", "/v1/jars/default/snapshots/monday/restore"),
        RouteSample(.post, "\(jar)/session/end", "/v1/jars/default/session/end"),
        RouteSample(
            .post, "\(jar)/responses", "/v1/jars/default/responses",
            #"{"url":"https://www.example.com/","headers":[{"name":"Set-Cookie","value":"a=cookie-secret"}]}"#),
        RouteSample(
            .post, "\(jar)/captures", "/v1/jars/default/captures?url=https://www.example.com/",
            "HTTP/1.1 200 OK\r\nSet-Cookie: b=cookie-secret\r\n\r\n", type: "application/octet-stream"),
        RouteSample(.post, "\(jar)/decorate", "/v1/jars/default/decorate", url),
        RouteSample(
            .post, "\(jar)/renewals", "/v1/jars/default/renewals",
            #"{"url":"https://www.example.com/","status":401,"headers":[]}"#),
        RouteSample(.get, "\(jar)/login-rules", "/v1/jars/default/login-rules"),
        RouteSample(
            .put, "\(jar)/login-rules/{name}", "/v1/jars/default/login-rules/new",
            #"{"scope":"https://app.test/","profile":"work","delivery":"authorization"}"#),
        RouteSample(
            .delete, "\(jar)/login-rules/{name}", "/v1/jars/default/login-rules/main", status: 204),
        RouteSample(.get, "\(jar)/header-fields", "/v1/jars/default/header-fields"),
        RouteSample(
            .put, "\(jar)/header-fields/{name}", "/v1/jars/default/header-fields/X-New",
            #"{"scope":"https://app.test/","value":"field-secret"}"#),
        RouteSample(
            .delete, "\(jar)/header-fields/{name}",
            "/v1/jars/default/header-fields/x-key?scope=https://api.test/v2"),
        RouteSample(.get, "\(jar)/storage", "/v1/jars/default/storage?origin=https://www.example.com/"),
        RouteSample(.delete, "\(jar)/storage", "/v1/jars/default/storage"),
        RouteSample(.get, "\(jar)/cache", "/v1/jars/default/cache?site=www.example.com&queries=true"),
        RouteSample(
            .get, "\(jar)/cache/responses", "/v1/jars/default/cache/responses?url=https://www.example.com/",
            status: 404),
        RouteSample(.post, "\(jar)/cache/explain", "/v1/jars/default/cache/explain", url),
        RouteSample(.get, "\(jar)/cache/statistics", "/v1/jars/default/cache/statistics"),
        RouteSample(.delete, "\(jar)/cache", "/v1/jars/default/cache?since=2026-11-21T08:00:00Z"),
        RouteSample(.delete, "/v1/cache", "/v1/cache"),
        RouteSample(.get, "\(jar)/site-data", "/v1/jars/default/site-data?site=www.example.com"),
        RouteSample(.delete, "\(jar)/site-data", "/v1/jars/default/site-data?types=cookies,cache"),
        RouteSample(.get, "\(jar)/cookies", "/v1/jars/default/cookies?origins=true"),
        RouteSample(
            .post, "\(jar)/cookies", "/v1/jars/default/cookies",
            #"{"url":"https://www.example.com/","setCookie":["sid=cookie-secret; Secure","x=1; Domain=other.test"]}"#),
        RouteSample(.delete, "\(jar)/cookies", "/v1/jars/default/cookies?name=sid"),
        RouteSample(.get, "\(jar)/cookies/{name}", "/v1/jars/default/cookies/sid"),
        RouteSample(.post, "\(jar)/script", "/v1/jars/default/script", #"{"urls":["https://www.example.com/"]}"#),
        RouteSample(.get, "\(jar)/capture-script", "/v1/jars/default/capture-script?handler=crumb"),
        RouteSample(.post, "\(jar)/explain", "/v1/jars/default/explain", url),
        RouteSample(
            .post, "\(jar)/explain-set-cookie", "/v1/jars/default/explain-set-cookie",
            #"{"url":"https://www.example.com/","setCookie":["sid=cookie-secret; Domain=other.test"]}"#),
        RouteSample(.get, "\(jar)/changes", "/v1/jars/default/changes"),
        RouteSample(.post, "\(jar)/export", "/v1/jars/default/export", #"{"format":"json"}"#),
        RouteSample(.get, "/v1/tokens", "/v1/tokens"),
        RouteSample(.get, "/v1/tokens/{name}", "/v1/tokens/work"),
        RouteSample(.delete, "/v1/tokens/{name}", "/v1/tokens/work"),
        RouteSample(.post, "/v1/tokens/{name}/access-token", "/v1/tokens/work/access-token"),
        RouteSample(.post, "/v1/tokens/{name}/id-token", "/v1/tokens/work/id-token"),
        RouteSample(.post, "/v1/tokens/{name}/refresh", "/v1/tokens/work/refresh"),
        RouteSample(.post, "/v1/tokens/{name}/revoke", "/v1/tokens/work/revoke"),
        RouteSample(.post, "/v1/tokens/{name}/logout", "/v1/tokens/work/logout"),
        RouteSample(.get, "/v1/agent", "/v1/agent"),
        RouteSample(.post, "/v1/agent/lock", "/v1/agent/lock", #"{"passphrase":"p"}"#),
        RouteSample(.post, "/v1/agent/unlock", "/v1/agent/unlock", #"{"passphrase":"p"}"#),
        RouteSample(.post, "/v1/logins", "/v1/logins", #"{"name":"work","flow":"device"}"#, status: 201),
        RouteSample(.get, "/v1/logins/{id}", "/v1/logins/none", status: 404),
        RouteSample(.delete, "/v1/logins/{id}", "/v1/logins/none", status: 404),
        RouteSample(
            .post, "/v1/logins/{id}/redirect", "/v1/logins/none/redirect", #"{"url":"https://a.test/"}"#, status: 404),
        RouteSample(.get, "/v1/logins/callback", "/v1/logins/callback?state=none", status: 400),
        RouteSample(
            .post, "/v1/simulate", "/v1/simulate",
            #"{"id":1,"steps":[{"receive":{"url":"https://a.test/","setCookie":["a=1"]}}]}"#,
            type: "application/x-ndjson"),
        RouteSample(.get, "/v1/gateways", "/v1/gateways"),
        RouteSample(.get, "/v1/gateways/{name}", "/v1/gateways/none", status: 404),
        RouteSample(
            .put, "/v1/gateways/{name}", "/v1/gateways/new", #"{"jar":"default","client":"tool"}"#, status: 201),
        RouteSample(.delete, "/v1/gateways/{name}", "/v1/gateways/none", status: 404),
        RouteSample(.get, "/v1/gateways/{name}/requests", "/v1/gateways/none/requests", status: 404),
        RouteSample(.get, "/v1/openapi.json", "/v1/openapi.json"),
    ]
}
