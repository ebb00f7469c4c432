import Testing
import WebPrimitives

@testable import HTTPMessages

@Suite("Secrets in bodies, fields and URLs, and what is left of them")
struct SecretRedactionTests {
    @Test(
        "Secrets in bodies lose their values, and nothing else changes",
        arguments: [
            ("application/x-www-form-urlencoded", "a=1&password=S&b", "a=1&password=redacted&b"),
            (
                "application/x-www-form-urlencoded", "user%5Bpassword%5D=S&user[name]=n&pin=S&shipping=K",
                "user%5Bpassword%5D=redacted&user[name]=n&pin=redacted&shipping=K"
            ),
            (
                "application/json", #"{"password_confirmation":"S","token_type":"K","new_password2":"S"}"#,
                #"{"password_confirmation":"redacted","token_type":"K","new_password2":"redacted"}"#
            ),
            (
                "application/json", #"{ "user":"u", "password" : "S\"S", "n":1 }"#,
                #"{ "user":"u", "password" : "redacted", "n":1 }"#
            ),
            (
                "application/json; charset=utf-8", #"[{"otp":1234},{"otp":-1.5e3 ,"a":2}]"#,
                #"[{"otp":"redacted"},{"otp":"redacted" ,"a":2}]"#
            ),
            (
                "application/vnd.api+json", #"{"data":{"apiKey":["S",{"x":"S"},7],"keep":"K"}}"#,
                #"{"data":{"apiKey":["redacted",{"x":"redacted"},"redacted"],"keep":"K"}}"#
            ),
            (
                "text/json", #"{"pass\u0077ord":"S","token":null,"secret":true,"s":"token"}"#,
                #"{"pass\u0077ord":"redacted","token":null,"secret":true,"s":"token"}"#
            ),
            ("application/json", "12", "12"), ("application/json", #""S""#, #""S""#),
            ("application/json", #"{"a":1"#, nil), ("application/json", #"{"token":S}"#, nil),
            ("application/json", ")]}'\n{\"token\":\"S\"}", ")]}'\n{\"token\":\"redacted\"}"),
            ("application/json", "\u{FEFF}{\"token\":\"S\"}", "\u{FEFF}{\"token\":\"redacted\"}"),
            ("application/json", "for(;;);[{\"token\":1}]", "for(;;);[{\"token\":\"redacted\"}]"),
            ("application/json", "{}&&{\"token\":\"S\"}", "{}&&{\"token\":\"redacted\"}"),
            ("text/javascript", "/**/cb({\"token\":\"S\"});\n", "/**/cb({\"token\":\"redacted\"});\n"),
            ("text/plain", "access_token=S&scope=K", "access_token=redacted&scope=K"),
            ("", "{\"token\":\"S\"}", "{\"token\":\"redacted\"}"),
            ("text/html", "<a href='?token=K'>{\"token\":\"K\"}</a>", "<a href='?token=K'>{\"token\":\"K\"}</a>"),
            (
                "application/json", #"{"next":"https:\/\/a.example\/cb?code=S&b=\u0061","say":"see /cb?code=S now"}"#,
                #"{"next":"https:\/\/a.example\/cb?code=redacted&b=\u0061","say":"see /cb?code=redacted now"}"#
            ),
            (
                "application/json", #"{"body":"{\"token\":\"S\",\"pin\":12,\"a\":\"K\"}"}"#,
                #"{"body":"{\"token\":\"redacted\",\"pin\":redacted,\"a\":\"K\"}"}"#
            ),
            (
                "application/x-ndjson", "{\"token\":\"S\"}\n{\"a\":\"K\"}\n",
                "{\"token\":\"redacted\"}\n{\"a\":\"K\"}\n"
            ),
            ("application/x-ndjson", "{\"token\":\"S", nil),
            (
                "text/event-stream", "event: a\ndata: {\"token\":\"S\"}\n\ndata: /cb?code=S\n\n",
                "event: a\ndata: {\"token\":\"redacted\"}\n\ndata: /cb?code=redacted\n\n"
            ),
            ("application/jwt", "S.S.S", "redacted"),
            ("application/token-introspection+jwt", "S.S.S", "redacted"),
            ("application/x-www-form-urlencoded", "next=%2Fcb%3Fcode%3DS&a=K", "next=%2Fcb%3Fcode%3Dredacted&a=K"),
            ("multipart/form-data", "--b\r\n\r\nS\r\n--b--\r\n", nil),
            ("application/json", "", nil),
            (
                "multipart/form-data; boundary=b",
                "--b\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\nS\r\n--b--\r\n",
                "--b\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\nredacted\r\n--b--\r\n"
            ),
            (
                "multipart/form-data; boundary=b",
                "--b\r\nContent-Disposition: form-data; name=\"user[password]\"\r\n\r\nS\r\n--b--\r\n",
                "--b\r\nContent-Disposition: form-data; name=\"user[password]\"\r\n\r\nredacted\r\n--b--\r\n"
            ),
            (
                "Multipart/Form-Data; x=y; Boundary=\"b\"",
                "--b\r\ncontent-disposition: form-data; filename=\"password\"; name=f\r\n\r\nK\r\n\r\nK\r\n--b\r\n"
                    + "Content-Disposition: form-data; name=token\r\n\r\nS\r\n\r\nS\r\n--b--",
                "--b\r\ncontent-disposition: form-data; filename=\"password\"; name=f\r\n\r\nK\r\n\r\nK\r\n--b\r\n"
                    + "Content-Disposition: form-data; name=token\r\n\r\nredacted\r\n--b--"
            ),
            (
                "multipart/form-data; boundary=b", "--b\r\n\r\n\r\n--b\r\n;\r\n\r\n--b--",
                "--b\r\n\r\n\r\n--b\r\n;\r\n\r\n--b--"
            ),
            (
                "multipart/form-data; boundary=b",
                "--b\r\nContent-Disposition: form-data; name=o\r\n\r\n{\"v\":{\"password\":\"S\"},\"k\":\"K\"}\r\n--b--\r\n",
                "--b\r\nContent-Disposition: form-data; name=o\r\n\r\n{\"v\":{\"password\":\"redacted\"},\"k\":\"K\"}\r\n--b--\r\n"
            ),
            (
                "multipart/form-data; boundary=b",
                "--b\r\nContent-Disposition: form-data; name=o\r\nContent-Type: application/json\r\n\r\n{\"pin\":1}\r\n--b--\r\n",
                "--b\r\nContent-Disposition: form-data; name=o\r\nContent-Type: application/json\r\n\r\n{\"pin\":\"redacted\"}\r\n--b--\r\n"
            ),
            (
                "multipart/form-data; boundary=b",
                "--b\r\nContent-Disposition: form-data; name=o\r\n\r\na=K&password=S\r\n--b--\r\n",
                "--b\r\nContent-Disposition: form-data; name=o\r\n\r\na=K&password=redacted\r\n--b--\r\n"
            ),
            (
                "multipart/form-data; boundary=b",
                "--b\r\nContent-Disposition: form-data; name=o\r\n\r\nsee /cb?code=S K\r\n--b--\r\n",
                "--b\r\nContent-Disposition: form-data; name=o\r\n\r\nsee /cb?code=redacted K\r\n--b--\r\n"
            ),
            (
                "multipart/form-data; boundary=b",
                "--b\r\nContent-Disposition: form-data; filename=\"a;name=x\"; name=\"password\"\r\n\r\nS\r\n--b--\r\n",
                "--b\r\nContent-Disposition: form-data; filename=\"a;name=x\"; name=\"password\"\r\n\r\nredacted\r\n--b--\r\n"
            ),
            (
                "multipart/form-data; boundary=b",
                "--b\r\nContent-Disposition: form-data; filename=\"\\\";name=x\"; name=\"password\"\r\n\r\nS\r\n--b--\r\n",
                "--b\r\nContent-Disposition: form-data; filename=\"\\\";name=x\"; name=\"password\"\r\n\r\nredacted\r\n--b--\r\n"
            ),
            (
                "multipart/form-data; boundary=b",
                "--b\r\nContent-Disposition: form-data; name*=UTF-8''pass%77ord\r\n\r\nS\r\n--b--\r\n",
                "--b\r\nContent-Disposition: form-data; name*=UTF-8''pass%77ord\r\n\r\nredacted\r\n--b--\r\n"
            ),
            (
                "multipart/form-data; boundary=b",
                "--b\r\nContent-Disposition : form-data;\r\n name=\"password\"\r\n\r\nS\r\n--b--\r\n",
                "--b\r\nContent-Disposition : form-data;\r\n name=\"password\"\r\n\r\nredacted\r\n--b--\r\n"
            ),
            (
                "multipart/form-data; boundary=b",
                "--b\r\nContent-Disposition: form-data; name=f; filename=\"password;a\"\r\n\r\nK\r\n--b--\r\n",
                "--b\r\nContent-Disposition: form-data; name=f; filename=\"password;a\"\r\n\r\nK\r\n--b--\r\n"
            ),
            (
                "multipart/form-data; boundary=b",
                "--b\r\nContent-Disposition: form-data; name=f\r\nContent-Type: image/png\r\n\r\n{\"password\":\"K\"}\r\n--b--\r\n",
                "--b\r\nContent-Disposition: form-data; name=f\r\nContent-Type: image/png\r\n\r\n{\"password\":\"K\"}\r\n--b--\r\n"
            ),
            ("multipart/related; boundary=b", "--b\r\nContent-Type: text/json\r\n\r\n{\"token\":S}\r\n--b--", nil),
            (
                "text/plain", "user=K\r\npassword=S S\r\nmy password=K\r\n",
                "user=K\r\npassword=redacted\r\nmy password=K\r\n"
            ),
            ("application/x-www-form-urlencoded, text/plain", "password=S", "password=redacted"),
            (
                "application/json", String(repeating: " ", count: 100) + #"x{"token":"S"}"#,
                String(repeating: " ", count: 100) + #"x{"token":"redacted"}"#
            ),
            (
                "application/json", #"{"u":"cb?code=S'S","v":"'/?code=S'"}"#,
                #"{"u":"cb?code=redacted","v":"'/?code=redacted'"}"#
            ),
            ("multipart/form-data; boundary=b", "--b\r\nContent-Disposition: form-data; name=a\r\n\r\nS\r\n--b", nil),
            ("multipart/form-data; boundary=b", "--c\r\n\r\nS\r\n--c--", nil),
            ("multipart/form-data; boundary=b", "", nil),
        ] as [(String, String, String?)])
    func bodies(_ type: String, _ body: String, _ expected: String?) throws {
        let head = try MessageHead(
            Array("POST / HTTP/1.1\r\nHost: a\r\nContent-Type: \(type)\r\n\r\n".utf8), from: .client)
        let kind = try #require(NamedBody(head))
        #expect(SecretRedaction.body(Array(body.utf8), kind).map { String(decoding: $0, as: UTF8.self) } == expected)
    }

    @Test(
        "Secret names are told from others, in whatever structure and spelling",
        arguments: [
            (
                true,
                [
                    "password", "user[password]", "user%5Bpassword%5D", "user[password][]", "users[0][password]",
                    "password_confirmation", "passwordConfirmation", "password1", "new_password2", "PASSWD", "loginPwd",
                    "passphrase", "private_key_passphrase", "client_secret", "secret_key", "secretAccessKey",
                    "pass", "pass1", "pin", "PIN", "user[pin]", "new_pin", "otp", "user[otp_attempt]", "totp",
                    "id_token_hint", "access_token", "access_token%20", "access%5Ftoken", "+token", "token[value]",
                    "refreshToken", "code", "code1", "code_verifier", "codeVerifier", "api-key", "apiKey", "API_KEY_2",
                    "client_assertion", "jwt", "jsessionid", "ASP.NET_SessionId", "connect.sid", "sid",
                    "/cb?code", "openid.sig", "X-Amz-Signature", "secretary_password",
                ]
            ),
            (
                false,
                [
                    "shipping", "shipping[pin_up]", "pinned", "spin", "token_type", "token_type_hint", "max_tokens",
                    "secretary", "secretaries", "secretariat", "compass", "bypass", "passenger", "passport", "keyword",
                    "monkey", "country_code", "postcode", "encode", "session_start", "session[email]", "pin[color]",
                    "sidebar", "client_id", "grant_type", "client_assertion_type", "state", "nonce", "user", "q", "1",
                    "",
                    "[]", "opt", "authorization_endpoint", "accountSid",
                ]
            ),
        ])
    func names(isSecret: Bool, names: [String]) {
        for name in names { #expect(SecretNames.secrets.contains(name.utf8) == isSecret, "\(name)") }
    }

    @Test(
        "Fields with credentials are told from others",
        arguments: [
            (
                true,
                [
                    "authorization", "x-authorization", "proxy-authorization", "x-session-id", "x-jwt-assertion",
                    "cf-access-jwt-assertion", "x-access-token", "x-api-key", "x-client-secret", "dpop",
                    "x-auth", "x-wsse", "cookie2", "set-cookie2", "x-functions-key", "x-hub-signature-256",
                    "x-amz-security-token", "ocp-apim-subscription-key",
                ]
            ),
            (
                false,
                [
                    "www-authenticate", "access-control-allow-credentials", "sec-websocket-key", "sec-websocket-accept",
                    "sec-websocket-protocol", "idempotency-key", "dpop-nonce", "signature-input", "user-agent",
                    "sec-fetch-site", "host", "accept-encoding", "etag", "content-security-policy",
                ]
            ),
        ])
    func fieldNames(isSecret: Bool, names: [String]) {
        for name in names { #expect(SecretNames.secrets.contains(field: name) == isSecret, "\(name)") }
    }

    @Test(
        "Fields lose the secrets in their values",
        arguments: [
            ("sec-websocket-protocol", "bearer, TOKEN", "bearer, redacted"),
            ("sec-websocket-protocol", "graphql-ws,MQTT", "graphql-ws,MQTT"),
            ("sec-websocket-protocol", "base64url.bearer.authorization.k8s.io.S , v10.stomp", "redacted, v10.stomp"),
            ("refresh", "0; url=https://a.example/cb?code=S", "0; url=https://a.example/cb?code=redacted"),
            ("accept", "a/b;token=S", "a/b;token=S"),
            ("refresh", "0; url='/cb?code=S'", "0; url='/cb?code=redacted'"),
            ("refresh", "0; url=/cb?code=S'S", "0; url=/cb?code=redacted"),
            ("location", "/cb?code=S'S", "/cb?code=redacted"),
            ("location", "/cb?code=S S<S&a=K", "/cb?code=redacted&a=K"),
            ("referer", "https:\\\\u:S@a.example/", "https:\\\\redacted@a.example/"),
            ("location", "cb?code=S", "cb?code=redacted"), ("content-location", "/a#token=S", "/a#token=redacted"),
            ("hx-redirect", "/cb?code=S", "/cb?code=redacted"), ("hx-push-url", "?token=S", "?token=redacted"),
            ("hx-replace-url", "a?token=S", "a?token=redacted"), ("hx-current-url", "/?token=S", "/?token=redacted"),
            (
                "hx-location", #"{"path":"/cb?code=S","target":"main"}"#,
                #"{"path":"/cb?code=redacted","target":"main"}"#
            ),
            (
                "link", "</a?token=S>; rel=\"next\", <https://u:S@a.example/b?x=K>; rel=prev",
                "</a?token=redacted>; rel=\"next\", <https://redacted@a.example/b?x=K>; rel=prev"
            ),
            ("sourcemap", "a.map?sig=S", "a.map?sig=redacted"),
            ("x-sourcemap", "/a.map?token=S", "/a.map?token=redacted"),
            ("x-original-url", "cb?code=S", "cb?code=redacted"),
            ("x-rewrite-url", "/cb?code=S&x=K", "/cb?code=redacted&x=K"),
            ("x-forwarded-uri", "cb?code=S", "cb?code=redacted"),
            ("x-envoy-original-path", "cb?code=S", "cb?code=redacted"),
            ("report-to", #"{"url":"https://a.example/r?key=S"}"#, #"{"url":"https://a.example/r?key=redacted"}"#),
            (
                "content-security-policy", "report-uri https://a.example/r?key=S; img-src *",
                "report-uri https://a.example/r?key=redacted img-src *"
            ),
            ("forwarded", "for=192.0.2.1;proto=https", "for=192.0.2.1;proto=https"),
        ])
    func fieldValues(name: String, value: String, expected: String) {
        #expect(SecretRedaction().value(Octets(value), ofField: name) == Octets(expected))
    }

    @Test(
        "URLs lose the secrets in their paths, queries and fragments",
        arguments: [
            ("https://a.example/b;jsessionid=S?x=y", "https://a.example/b;jsessionid=redacted?x=y"),
            ("https://a.example/b;v=1;jsessionid=S/c", "https://a.example/b;v=1;jsessionid=redacted/c"),
            ("https://a.example/b;jsessionid=S;v=1/c", "https://a.example/b;jsessionid=redacted/c"),
            ("/b%3Bjsessionid=S", "/b%3Bjsessionid=redacted"),
            ("https://a.example/?a=1;token=S", "https://a.example/?a=1;token=redacted"),
            ("https://a.example/?token=S;S&b=/c", "https://a.example/?token=redacted&b=/c"),
            ("https://a.example/?token=S/S", "https://a.example/?token=redacted"),
            (
                "https://a.example/?access_token%20=S&user[password]=S",
                "https://a.example/?access_token%20=redacted&user[password]=redacted"
            ),
            ("https://a.example/#/cb?code=S&b", "https://a.example/#/cb?code=redacted&b"),
            ("https://a.example/b;c=d/;/?a=;b&&c;token=#token", "https://a.example/b;c=d/;/?a=;b&&c;token=#token"),
            ("https://u:S@a.example/b", "https://redacted@a.example/b"),
            ("//S@a.example?x=y@z", "//redacted@a.example?x=y@z"),
            ("https://a.example/b//c@d/@e", "https://a.example/b//c@d/@e"),
            ("/go/https://u:S@a.example/", "/go/https://redacted@a.example/"),
            ("/?next=https://a.example/cb?code=S&x=y", "/?next=https://a.example/cb?code=redacted&x=y"),
            (
                "/?next=https%3A%2F%2Fa.example%2Fcb%3Fcode%3DS%26state%3DK&x=y",
                "/?next=https%3A%2F%2Fa.example%2Fcb%3Fcode%3Dredacted%26state%3DK&x=y"
            ),
            (
                "/?u=a%253Fnext%253D%25252Fcb%25253Fcode%25253DS",
                "/?u=a%253Fnext%253D%25252Fcb%25253Fcode%25253Dredacted"
            ),
            ("/?code%3DS", "/?code%3Dredacted"), ("/?a%3Fcode%3DS=K", "/?a%3Fcode%3Dredacted=K"),
            ("/#%2Fcb%3Fcode%3DS", "/#%2Fcb%3Fcode%3Dredacted"),
            ("/go/https%3A%2F%2Fu%3AS%40a.example%2F", "/go/https%3A%2F%2Fredacted%40a.example%2F"),
            ("/b%3Bjsessionid%3DS", "/b%3Bjsessionid%3Dredacted"),
            (
                "/?data=%7B%22token%22%3A%22S%22%2C%22a%22%3A1%7D",
                "/?data=%7B%22token%22%3A%22redacted%22%2C%22a%22%3A1%7D"
            ),
            ("/?a=b==&c=d%zz%", "/?a=b==&c=d%zz%"),
            ("https://a.example", "https://a.example"), ("", ""), ("*", "*"), ("a.example:443", "a.example:443"),
        ])
    func urls(url: String, expected: String) {
        #expect(SecretRedaction.url(url) == expected)
        #expect(SecretRedaction.url(expected) == expected)
    }

    @Test("What is encoded or nested more often than anyone does is left out")
    func depth() {
        var value = "code=S"
        for _ in 0..<20 {
            value = value.replacing("%", with: "%25").replacing("=", with: "%3D")
            let redacted = SecretRedaction.url("/?next=\(value)")
            #expect(!redacted.contains("S") && SecretRedaction.url(redacted) == redacted)
        }
        let nested = SecretRedaction.url("/?" + String(repeating: "a=?", count: 50_000) + "code=S")
        #expect(!nested.contains("S"))
    }

    @Test(
        "A body of another kind is not looked into", arguments: ["image/png", "text/css", "image/json", "font/woff2"])
    func otherBodies(_ type: String) throws {
        let head = try MessageHead(
            Array("POST / HTTP/1.1\r\nHost: a\r\nContent-Type: \(type)\r\n\r\n".utf8), from: .client)
        #expect(NamedBody(head) == nil)
    }
}
