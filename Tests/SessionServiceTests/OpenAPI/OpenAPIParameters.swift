/// The parts of the OpenAPI document that several operations share: its head, the parameters, and what they refer to.
enum OpenAPIParameters {
    static let head: PrintedJSON = [
        "openapi": "3.1.0",
        "info": [
            "title": "Crumb", "version": "1",
            "summary": "Cookie jars and OAuth2 tokens over HTTP, for programs and users.",
            "license": ["name": "Apache 2.0", "identifier": "Apache-2.0"],
            "description": """
            x-crumb-access names the access that each operation requires: a verb (read, write, secrets) for the jar in \
            the path (jar:), for all jars (all:), or for at least one jar. A jar outside of the token's access is \
            reported as not found. Times are RFC 3339. Unknown members of a request are rejected.
            """,
        ],
        "servers": [["url": "/"]], "security": [["bearer": []]],
    ]

    /// The parameter of a path that a `{name}` is, by the segment in front of it.
    static let named = [
        "snapshots": "SnapshotName", "cookies": "CookieName", "tokens": "TokenName", "gateways": "GatewayName",
        "login-rules": "LoginRuleName", "header-fields": "HeaderFieldName",
    ]

    static let components: PrintedJSON = [
        "securitySchemes": [
            "bearer": [
                "type": "http", "scheme": "bearer",
                "description": "An access token of 'crumb serve'. The owner needs none on the Unix-domain socket.",
            ]
        ],
        "parameters": [
            "Jar": ofPath("jar", name, example: "default"),
            "SnapshotName": ofPath("name", name, example: "monday"),
            "CookieName": ofPath("name", text, example: "sid"),
            "TokenName": ofPath("name", name, example: "work"),
            "LoginID": ofPath("id", text),
            "LoginRuleName": ofPath("name", name, example: "app"),
            "HeaderFieldName": ofPath(
                "name",
                [
                    "type": "string", "minLength": 1, "maxLength": 100, "pattern": "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$",
                    "description": "the name of a header field, case-insensitive",
                ], example: "X-API-Key"),
            "GatewayName": ofPath("name", name, example: "shop"),
            "IdempotencyKey": [
                "name": "Idempotency-Key", "in": "header",
                "schema": ["type": "string", "minLength": 1, "maxLength": 255],
                "description": """
                A repeated request with the same key gets the first response again, for one hour. Services that share \
                a database on a server share the keys.
                """,
            ],
            "IfNoneMatch": ["name": "If-None-Match", "in": "header", "schema": ["type": "string"]],
        ],
        "headers": ["ETag": ["schema": ["type": "string"]]],
        "responses": [
            "Problem": [
                "description": "The problem",
                "content": ["application/problem+json": ["schema": OpenAPIPrinter.schema("Problem")]],
            ]
        ],
    ]

    private static let text: PrintedJSON = ["type": "string", "minLength": 1]
    private static let name: PrintedJSON = (["type": "string"] as PrintedJSON).adding(SchemaConstraints.name)

    private static func ofPath(_ name: PrintedJSON, _ schema: PrintedJSON, example: PrintedJSON? = nil) -> PrintedJSON {
        (["name": name, "in": "path", "required": true, "schema": schema] as PrintedJSON)
            .adding(example.map { ["example": $0] })
    }

    /// The place in a stream of events that a client continues at.
    static let lastEvent: PrintedJSON = [
        "name": "Last-Event-ID", "in": "header", "schema": ["type": "string", "pattern": "^[0-9]{1,18}$"],
        "description": "the position to continue after; takes precedence over 'after'",
    ]

    /// The query parameters by name. A text of an operation has those that differ.
    static let query: PrintedJSON = [
        "after": OpenAPIPrinter.position("the position that the previous page ended at"),
        "again": flag("import the capture even if it was imported before"),
        "cursor": string("the 'next' of the previous page", pattern: #"^[0-9a-z-]+\.[0-9a-z-]+$"#),
        "digest": string(
            """
            the SHA-256 of one line followed by the capture. The line is url, a space and receivedNow; then, if given, \
            a space and format; a space, 'top-level=' and topLevel; and ' request-cookies' for requestCookies. If the \
            jar has imported that capture before, the service does not read the body
            """, pattern: "^[0-9a-f]{64}$"),
        "domain": string("cookies of this domain and its subdomains"),
        "dryRun": flag("report what would be imported and store nothing. The jar does not have to exist"),
        "final": flag("whether it is removed for good at once"),
        "format": [
            "schema": [
                "type": "string",
                "enum": [
                    "har", "http", "netscape", "storage-state", "webdriver", "devtools", "cookie-editor",
                    "httpie-session", "header-json", "curl-verbose", "curl-trace", "wget-verbose", "net-log", "warc",
                    "document-cookie", "capture-messages", "binary-cookies", "json", "tshark-json", "firefox-session",
                    "devtools-log", "httpie-verbose", "curl-command", "fetch", "powershell", "cookie-header",
                    "tough-cookie", "cookie-table",
                ],
            ],
            "description": "the format, if it cannot be detected from the content",
        ],
        "handler": [
            "schema": (["type": "string"] as PrintedJSON).adding(SchemaConstraints.handler), "required": true,
            "example": "crumb",
        ],
        "httpOnly": ["schema": ["type": "boolean"]],
        "initiator": string("with url: the origin that starts the request, or 'user'"),
        "jar": [
            "schema": ["type": "string", "minLength": 1, "maxLength": 100],
            "description": "list the sites of this jar only",
        ],
        "key": string("the key of the item to remove; requires an origin"),
        "limit": ["schema": ["type": "integer", "minimum": 1, "maximum": 1000]],
        "method": string("with url: the method of the request. Default: GET"),
        "name": string("cookies with this name"),
        "navigation": flag("with url: whether the request navigates the tab"),
        "origin": string("a URL of the origin. Default: every origin"),
        "origins": flag("include the origin of each cookie"),
        "path": string("cookies with exactly this path"),
        "queries": flag("show the queries of URLs. The values of parameters that are secrets are replaced"),
        "receivedNow": flag("count lifetimes from now, not from the time of the capture"),
        "requestCookies": flag(
            """
            also import the cookies that requests sent: as host-only session cookies with HttpOnly, with Secure for \
            https. They never replace a cookie that a response set
            """),
        "scope": string(
            "the scope: the start of the URLs that the field is for. Default: the field for all URLs"),
        "session": flag("true: only session cookies; false: only cookies with an expiry"),
        "since": string(
            "responses that were stored since this time (RFC 3339), or in the last part of time, such as 2h"),
        "site": string("responses of the site of this host"),
        "source": [
            "schema": ["type": "string", "minLength": 1, "maxLength": 4096],
            "description": "the name of the capture in reports",
        ],
        "topLevel": string("with url: the page in the address bar. Default: the URL itself"),
        "url": string("cookies that a user's visit to this URL carries"),
        "values": flag("requires 'secrets'"),
    ]

    private static func flag(_ description: PrintedJSON) -> PrintedJSON {
        ["schema": ["type": "boolean"], "description": description]
    }

    private static func string(_ description: PrintedJSON, pattern: PrintedJSON? = nil) -> PrintedJSON {
        let schema: PrintedJSON = ["type": "string"]
        return ["schema": schema.adding(pattern.map { ["pattern": $0] }), "description": description]
    }
}
