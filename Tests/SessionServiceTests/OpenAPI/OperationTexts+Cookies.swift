import SessionWire

extension OperationText {
    /// Cookies, requests, responses, captures and exports.
    static let ofCookies: [OperationText] = [
        Self(
            .listCookies, "List the cookies of a jar, by site and then by creation. values=true requires 'secrets'",
            gives: "CookieList", isConditional: true),
        Self(
            .getCookie, "Get a cookie by name. With url, the one that is sent first",
            query: [
                "url": ["schema": ["type": "string"], "description": "cookies that a request to this URL carries"]
            ],
            gives: "Cookie", fails: [409], isConditional: true),
        Self(
            .setCookies, "Store Set-Cookie lines as if they came in a response of the URL", takes: "SetCookieRequest",
            example: ["url": "https://www.example.com/", "setCookie": ["theme=dark; Path=/; Max-Age=3600"]],
            gives: "Decisions"),
        Self(
            .removeCookies, "Remove the cookies that meet every condition. At least one condition is required",
            gives: "CookieRemovalList"),
        Self(
            .explain, "Explain why each cookie of a site is sent or not", takes: "ExplainRequest",
            example: ["url": "https://www.example.com/"], gives: "Explanation"),
        Self(
            .explainSetCookie, "Explain what the jar would do with Set-Cookie lines", takes: "ExplainSetCookieRequest",
            example: ["url": "https://www.example.com/", "setCookie": ["a=1; Domain=other.example"]],
            gives: "SetCookieTrial"),
        Self(.listChanges, "Read the journal of a jar, by position", gives: "ChangeList"),
        Self(
            .followChanges,
            """
            Follow the changes of a jar, as server-sent events: 'change' with a Change, and 'missed' if older changes \
            are gone. The stream continues until the caller disconnects.
            """,
            query: [
                "after": OpenAPIPrinter.position("the position to begin after. Default: only new changes")
            ], .events("The stream of changes")),
        Self(
            .decorate, "Get the header fields to add to a request", takes: "DecorateRequest",
            example: ["url": "https://www.example.com/cart", "topLevel": "https://www.example.com/"],
            gives: "Decoration"),
        Self(
            .receiveResponses, "Store the cookies of responses that an app received, in one transaction",
            schema: [
                "oneOf": [
                    OpenAPIPrinter.schema("ReceivedResponse"),
                    ["type": "array", "items": OpenAPIPrinter.schema("ReceivedResponse")],
                ]
            ],
            example: [
                "url": "https://www.example.com/", "status": 200,
                "headers": [["name": "Set-Cookie", "value": "sid=2; Secure; HttpOnly; Path=/"]],
            ],
            Answer(
                status: 200, description: "The decisions",
                content: Answer.media([
                    "oneOf": [OpenAPIPrinter.schema("Decisions"), OpenAPIPrinter.schema("DecisionsList")]
                ]))),
        Self(
            .renew,
            """
            Log in again for a request whose response means 'not signed in': get a token by the login rule of the jar, \
            deliver it, and return the header fields to repeat the request with
            """,
            takes: "ReceivedResponse",
            example: [
                "url": "https://app.example/account", "status": 302,
                "headers": [["name": "Location", "value": "/login"]],
            ],
            .document(
                200,
                """
                The header fields to repeat the request with, if 'mayRepeat' is true. Repeat it only once: if the site \
                rejects it again, that is the final response
                """, "Renewal"), fails: [502]),
        Self(
            .importCapture, "Import a capture of any format except databases. The service reads the body as it arrives",
            query: [
                "url": ["schema": ["type": "string"], "description": "the URL of the first request in a raw dump"],
                "topLevel": [
                    "schema": ["type": "string"],
                    "description":
                        "the URL of the page in the address bar, for requests whose capture does not contain it",
                ],
            ], schema: ["type": "string", "format": "binary"],
            Answer(
                status: 200, description: "The report",
                content: [
                    "application/json": ["schema": OpenAPIPrinter.schema("ImportReport")],
                    "application/x-ndjson": ["schema": OpenAPIPrinter.schema("CaptureProgress")],
                ]), never: [409]),
        Self(
            .export,
            """
            Export the cookies in the format of another tool. The field Crumb-Export counts what was written and dropped
            """,
            takes: "ExportRequest", example: ["format": "netscape", "sites": ["example.com"]],
            Answer(
                status: 200, description: "The export, or its report",
                headers: [
                    "Crumb-Export": [
                        "schema": ["type": "string"],
                        "description": "a dictionary (RFC 9651): written, expired, left-out, not-kept, unreadable",
                    ]
                ],
                content: [
                    "application/json": [:], "application/x-ndjson": [:], "text/plain": [:],
                    "application/vnd.crumb.export": [:],
                ])),
        Self(
            .script, "Get a script that sets the cookies of pages", takes: "ScriptRequest",
            example: ["urls": ["https://www.example.com/"], "write": "missing"], gives: "Script"),
        Self(
            .captureScript, "Get a script that reports to a web view's app what pages do to cookies",
            gives: "CaptureScript"),
        Self(
            .simulate,
            """
            Run scenarios, one JSON object per line, on throw-away jars. docs/simulate.md describes the format
            """,
            schema: ["type": "object", "description": "one scenario per line"],
            example: [
                "id": 1,
                "steps": [
                    ["receive": ["url": "https://a.example/", "setCookie": ["a=1"]]],
                    ["send": ["url": "https://a.example/"]],
                ],
            ],
            Answer(status: 200, description: "One result per line", content: ["application/x-ndjson": [:]])),
    ]
}

extension OperationText.Answer {
    /// Server-sent events.
    static func events(_ description: String) -> Self {
        let text: PrintedJSON = ["type": "string"]
        return Self(
            status: 200, description: description,
            content: [
                "text/event-stream": [
                    "schema": [
                        "description": "each event", "type": "object",
                        "properties": ["id": text, "event": text, "data": text],
                    ]
                ]
            ])
    }
}
