import SessionWire

extension OperationText {
    /// Tokens, logins, gateways, and the service itself.
    static let ofService: [OperationText] = [
        Self(.listTokens, "List the stored OAuth2 logins, without tokens", gives: "StoredTokenList"),
        Self(.getToken, "Get a login, without tokens", gives: "TokenStatus"),
        Self(.removeToken, "Remove a login without revoking its tokens at the server", gives: "TokenRemoval"),
        Self(
            .accessToken, "Get a valid access token. The service renews it first if it is due",
            takes: "AccessTokenRequest", example: ["skew": 60], gives: "AccessToken", fails: [409, 422, 502]),
        Self(
            .idToken, "Get a valid ID token. The service renews the tokens first if it is due", takes: "IDTokenRequest",
            example: ["skew": 60], gives: "IDToken", fails: [409, 422, 502]),
        Self(
            .refreshToken, "Renew the tokens now, whether or not they are due", gives: "StoredToken", fails: [502]),
        Self(
            .revokeToken, "Revoke the tokens at the server. The settings of the login stay", gives: "Revocation",
            fails: [502]),
        Self(
            .logOut, "Revoke the tokens at the server and remove the login", takes: "LogoutRequest",
            example: ["force": true], gives: "Revocation", fails: [502]),
        Self(
            .beginLogin, "Begin a login. The response contains what the user has to do", takes: "LoginRequest",
            example: [
                "name": "work", "flow": "browser", "issuer": "https://id.example",
                "endpoints": [
                    "authorization_endpoint": "https://id.example/authorize",
                    "token_endpoint": "https://id.example/token",
                ],
                "clientID": "app", "redirectURI": "http://127.0.0.1/callback",
            ],
            Answer(
                status: 201, description: "Begun, or already complete",
                headers: ["Location": ["schema": ["type": "string"]]],
                content: Answer.media(OpenAPIPrinter.schema("Login"))), fails: [502]),
        Self(.getLogin, "Get the state of a login", gives: "Login"),
        Self(.endLogin, "Cancel a login", Answer(status: 204, description: "Cancelled")),
        Self(
            .redirectLogin, "Complete a login with the URL that the browser was redirected to", takes: "Redirect",
            example: ["url": "http://127.0.0.1/callback?state=s&code=c"], gives: "Login"),
        Self(
            .loginCallback, "The redirect URI of logins. Needs no access token",
            Answer(status: 200, description: "Logged in", content: ["text/html": [:]]),
            Answer(
                status: 400, description: "Not logged in",
                content: [
                    "text/html": [:], "application/problem+json": ["schema": OpenAPIPrinter.schema("Problem")],
                ]),
            Answer(
                status: 423, description: "The service is locked. The login still waits for the browser",
                content: ["text/html": [:]])),
        Self(.agent, "Get whether the service is locked", gives: "Agent"),
        Self(
            .lockAgent, "Lock the service. It returns no secrets and accepts no changes until it is unlocked",
            takes: "AgentPassphrase", example: ["passphrase": "correct horse battery staple"], gives: "Agent",
            fails: [404, 502], never: [507]),
        Self(
            .unlockAgent, "Unlock the service with the passphrase of the lock", takes: "AgentPassphrase",
            example: ["passphrase": "correct horse battery staple"], gives: "Agent", fails: [404, 502],
            never: [423, 507]),
        Self(
            .listGateways, "List the gateways of jars that the caller may see, by name", gives: "GatewayList",
            fails: [404]),
        Self(.showGateway, "Show a gateway, with what has passed through it", gives: "Gateway"),
        Self(
            .startGateway,
            """
            Start a gateway on loopback. It gives every request that passes through it the session of a jar, so this \
            requires access to secrets of the jar. It ends with the access token that started it, with the jar, and \
            with the service
            """,
            takes: "GatewayRequest",
            example: ["jar": "default", "client": "browser", "intercept": ["shop.example", "*.shop.example"]],
            .document(200, "It runs already", "Gateway"), .document(201, "Started", "Gateway")),
        Self(
            .stopGateway, "Stop a gateway. Requests in progress are finished",
            Answer(status: 204, description: "Stopped")),
        Self(
            .listGatewayRequests,
            "Read the requests that have passed through a gateway, the oldest first: up to 1000 are known",
            gives: "GatewayRequestList"),
        Self(
            .followGateway,
            """
            Follow a gateway, as server-sent events: 'request' with a GatewayExchange, 'page' with a PageEvent, and \
            'missed' if older ones are gone. The stream ends with the gateway.
            """,
            query: [
                "after": OpenAPIPrinter.position("the position to begin after. Default: only what comes from now on")
            ], .events("The stream")),
        Self(
            .openapi, "Get this document",
            Answer(status: 200, description: "This document", content: Answer.media(["type": "object"]))),
    ]
}
