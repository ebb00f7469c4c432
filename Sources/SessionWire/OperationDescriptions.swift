/// Jars.
extension OperationDescription {
    package static let listJars = Self("listJars", .get, "jars", .someJars(.read), query: ["limit", "cursor"])
    package static let createJar = Self("createJar", .post, "jars", .allJars(.write), body: .document)
    package static let getJar = Self("getJar", .get, "jars/{jar}", .jar(.read))
    package static let putJar = Self("putJar", .put, "jars/{jar}", .jar(.write), body: .optionalDocument)
    package static let changeJar = Self("changeJar", .patch, "jars/{jar}", .jar(.write), body: .document)
    package static let removeJar = Self("removeJar", .delete, "jars/{jar}", .jar(.write), query: ["final"])
    package static let clearJar = Self("clearJar", .post, "jars/{jar}/clear", .jar(.write))
    package static let listSites = Self(
        "listSites", .get, "sites", .someJars(.read), query: ["jar", "limit", "cursor"])
    package static let listRemovedJars = Self("listRemovedJars", .get, "removed-jars", .someJars(.read))
    package static let restoreJar = Self(
        "restoreJar", .post, "jars/{jar}/restore", .jar(.write), body: .optionalDocument)
    package static let pruneJar = Self("pruneJar", .post, "jars/{jar}/prune", .jar(.write), body: .optionalDocument)
    package static let prune = Self("prune", .post, "prune", .allJars(.write), body: .optionalDocument)

    // Operations on two jars require access to all jars.
    package static let renameJar = Self("renameJar", .post, "jars/{jar}/rename", .allJars(.write), body: .document)
    package static let copyJar = Self("copyJar", .post, "jars/{jar}/copy", .allJars(.write), body: .document)
    package static let mergeJar = Self("mergeJar", .post, "jars/{jar}/merge", .allJars(.write), body: .document)

    package static let listSnapshots = Self("listSnapshots", .get, "jars/{jar}/snapshots", .jar(.read))
    package static let saveSnapshot = Self(
        "saveSnapshot", .post, "jars/{jar}/snapshots", .jar(.write), body: .document)
    package static let removeSnapshot = Self("removeSnapshot", .delete, "jars/{jar}/snapshots/{name}", .jar(.write))
    package static let restoreSnapshot = Self(
        "restoreSnapshot", .post, "jars/{jar}/snapshots/{name}/restore", .jar(.write))
    package static let endSession = Self("endSession", .post, "jars/{jar}/session/end", .jar(.write))
}

/// What a jar has besides its cookies.
extension OperationDescription {
    package static let listHeaderFields = Self(
        "listHeaderFields", .get, "jars/{jar}/header-fields", .jar(.read), query: ["values"])
    package static let setHeaderField = Self(
        "setHeaderField", .put, "jars/{jar}/header-fields/{name}", .jar(.write), body: .document)
    package static let removeHeaderField = Self(
        "removeHeaderField", .delete, "jars/{jar}/header-fields/{name}", .jar(.write), query: ["scope"])

    package static let listLoginRules = Self("listLoginRules", .get, "jars/{jar}/login-rules", .jar(.read))
    // A rule sends tokens to a site, so making one takes as much as taking the tokens.
    package static let setLoginRule = Self(
        "setLoginRule", .put, "jars/{jar}/login-rules/{name}", .allJars(.write), and: [.secrets], body: .document)
    package static let removeLoginRule = Self(
        "removeLoginRule", .delete, "jars/{jar}/login-rules/{name}", .jar(.write))

    package static let listWebStorage = Self(
        "listWebStorage", .get, "jars/{jar}/storage", .jar(.read), query: ["origin", "values"])
    package static let removeWebStorage = Self(
        "removeWebStorage", .delete, "jars/{jar}/storage", .jar(.write), query: ["origin", "key"])
}

/// The data of sites: cookies, stored responses and web storage.
extension OperationDescription {
    package static let listSiteData = Self(
        "listSiteData", .get, "jars/{jar}/site-data", .jar(.read), query: ["site", "since", "types"])
    package static let removeSiteData = Self(
        "removeSiteData", .delete, "jars/{jar}/site-data", .jar(.write), query: ["site", "since", "types", "all"])
}

/// The cache of responses.
extension OperationDescription {
    package static let listCachedResponses = Self(
        "listCachedResponses", .get, "jars/{jar}/cache", .jar(.read), query: ["site", "queries", "limit", "cursor"])
    package static let showCachedResponses = Self(
        "showCachedResponses", .get, "jars/{jar}/cache/responses", .jar(.read), query: ["url", "queries"])
    package static let explainCache = Self(
        "explainCache", .post, "jars/{jar}/cache/explain", .jar(.read), body: .document)
    package static let cacheStatistics = Self(
        "cacheStatistics", .get, "jars/{jar}/cache/statistics", .jar(.read))
    package static let purgeCache = Self(
        "purgeCache", .delete, "jars/{jar}/cache", .jar(.write), query: ["site", "since", "url"])
    package static let purgeAllCaches = Self("purgeAllCaches", .delete, "cache", .allJars(.write))
}

/// Cookies.
extension OperationDescription {
    package static let listCookies = Self(
        "listCookies", .get, "jars/{jar}/cookies", .jar(.read),
        query: ["name", "domain", "path", "url", "httpOnly", "session", "values", "origins", "limit", "cursor"])
    package static let getCookie = Self(
        "getCookie", .get, "jars/{jar}/cookies/{name}", .jar(.read),
        query: ["method", "topLevel", "initiator", "navigation", "domain", "path", "url", "values"])
    package static let setCookies = Self("setCookies", .post, "jars/{jar}/cookies", .jar(.write), body: .document)
    package static let removeCookies = Self(
        "removeCookies", .delete, "jars/{jar}/cookies", .jar(.write), query: ["name", "domain", "path", "url"])
    package static let explain = Self("explain", .post, "jars/{jar}/explain", .jar(.read), body: .document)
    package static let explainSetCookie = Self(
        "explainSetCookie", .post, "jars/{jar}/explain-set-cookie", .jar(.read), body: .document)
    package static let listChanges = Self(
        "listChanges", .get, "jars/{jar}/changes", .jar(.read), query: ["after", "limit"])
    package static let followChanges = Self(
        "followChanges", .get, "jars/{jar}/events", .jar(.read), query: ["after"])
}

/// Requests, responses, captures and exports.
extension OperationDescription {
    package static let decorate = Self("decorate", .post, "jars/{jar}/decorate", .jar(.secrets), body: .document)
    package static let receiveResponses = Self(
        "receiveResponses", .post, "jars/{jar}/responses", .jar(.write), body: .document)
    package static let renew = Self(
        "renew", .post, "jars/{jar}/renewals", .jar(.secrets), and: [.write], body: .document)
    package static let importCapture = Self(
        "importCapture", .post, "jars/{jar}/captures", .jar(.write),
        query: ["format", "url", "topLevel", "receivedNow", "requestCookies", "again", "source", "digest", "dryRun"],
        body: .streamed)
    package static let export = Self("export", .post, "jars/{jar}/export", .jar(.secrets), body: .document)
    package static let script = Self("script", .post, "jars/{jar}/script", .jar(.secrets), body: .document)
    package static let captureScript = Self(
        "captureScript", .get, "jars/{jar}/capture-script", .jar(.read), query: ["handler"])
    package static let simulate = Self("simulate", .post, "simulate", .caller, body: .streamed)
}

/// Tokens and logins. They belong to no jar, so only callers with access to all jars may see them.
extension OperationDescription {
    package static let listTokens = Self("listTokens", .get, "tokens", .allJars(.read))
    package static let getToken = Self("getToken", .get, "tokens/{name}", .allJars(.read))
    package static let removeToken = Self("removeToken", .delete, "tokens/{name}", .allJars(.write))
    package static let accessToken = Self(
        "accessToken", .post, "tokens/{name}/access-token", .allJars(.secrets), body: .optionalDocument)
    package static let idToken = Self(
        "idToken", .post, "tokens/{name}/id-token", .allJars(.secrets), body: .optionalDocument)
    package static let refreshToken = Self("refreshToken", .post, "tokens/{name}/refresh", .allJars(.write))
    package static let revokeToken = Self("revokeToken", .post, "tokens/{name}/revoke", .allJars(.write))
    package static let logOut = Self(
        "logOut", .post, "tokens/{name}/logout", .allJars(.write), body: .optionalDocument)

    package static let beginLogin = Self("beginLogin", .post, "logins", .allJars(.write), body: .document)
    package static let getLogin = Self("getLogin", .get, "logins/{id}", .allJars(.read))
    package static let endLogin = Self("endLogin", .delete, "logins/{id}", .allJars(.write))
    package static let redirectLogin = Self(
        "redirectLogin", .post, "logins/{id}/redirect", .allJars(.write), body: .document)
    // The user's browser has no token. Its request is identified by the state, which cannot be guessed.
    package static let loginCallback = Self("loginCallback", .get, "logins/callback", .everyone, query: nil)
}

/// The service itself.
extension OperationDescription {
    // The lock is for those who may change everything: it stops everybody else, too.
    package static let agent = Self("agent", .get, "agent", .allJars(.read))
    package static let lockAgent = Self("lockAgent", .post, "agent/lock", .allJars(.write), body: .document)
    package static let unlockAgent = Self("unlockAgent", .post, "agent/unlock", .allJars(.write), body: .document)

    // A client of a gateway has the session of its jar.
    package static let listGateways = Self("listGateways", .get, "gateways", .someJars(.read))
    package static let showGateway = Self("showGateway", .get, "gateways/{name}", .someJars(.read))
    package static let startGateway = Self(
        "startGateway", .put, "gateways/{name}", .someJars(.write), and: [.secrets], body: .document)
    package static let stopGateway = Self("stopGateway", .delete, "gateways/{name}", .someJars(.write))
    package static let listGatewayRequests = Self(
        "listGatewayRequests", .get, "gateways/{name}/requests", .someJars(.read), query: ["after", "limit"])
    package static let followGateway = Self(
        "followGateway", .get, "gateways/{name}/events", .someJars(.read), query: ["after"])

    package static let openapi = Self("openapi", .get, "openapi.json", .caller)
}
