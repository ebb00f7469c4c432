import Foundation
import TestSupport
import Testing

@Suite("crumb token export --format kubernetes")
struct KubernetesCredentialTests {
    private let home = CrumbHome()

    /// A token with these seconds left, and a signature that nobody looks at.
    private static func idToken(left: Int, _ id: String = "1") -> String {
        let now = Int(Date().timeIntervalSince1970)
        let claims = #"{"iss":"https://id.example","sub":"me","aud":"app","jti":"\#(id)","iat":\#(now),"#
        return [#"{"alg":"RS256"}"#, claims + #""exp":\#(now + left)}"#, "signature"].map { part in
            Data(part.utf8).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
                .replacing("=", with: "")
        }.joined(separator: ".")
    }

    private func given(_ idToken: String, _ more: String...) throws {
        let path = try home.write(
            #"{"access_token":"access-s3cret","expires_in":7200,"id_token":"\#(idToken)","refresh_token":"r-1"}"#,
            to: "tokens")
        let result = try home.start(
            ["token", "import", "work", "--client-id", "app", "--account", "me"] + more, input: path
        ).wait()
        #expect(result.status == 0, "\(result.messages)")
        try FileManager.default.removeItem(atPath: path)
    }

    private func export(_ info: String?, _ more: String...) throws -> RunResult {
        try home.start(
            ["token", "export", "--format", "kubernetes", "work"] + more, variables: ["KUBERNETES_EXEC_INFO": info]
        ).wait()
    }

    private static func info(_ version: String, _ spec: String = "{}") -> String {
        #"{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/\#(version)","spec":\#(spec)}"#
    }

    @Test(
        "The answer has the version that was asked for",
        arguments: [
            (nil, "v1beta1"), ("", "v1beta1"), (info("v1"), "v1"), (info("v1beta1"), "v1beta1"),
            (info("v1", #"{"interactive":true}"#), "v1"), (info("v1", #"{"cluster":{"server":"https://k"}}"#), "v1"),
            (info("v1alpha1"), nil), (info("v2"), nil), ("{", nil), ("[]", nil), (#"{"kind":"Pod"}"#, nil),
            (#"{"kind":"ExecCredential"}"#, nil), (info("v1", #"{"interactive":1}"#), nil),
        ] as [(String?, String?)])
    func version(info: String?, version: String?) throws {
        let token = Self.idToken(left: 3600)
        try given(token)
        let result = try export(info)
        guard let version else {
            #expect(result.status == 47 && result.output.isEmpty, "\(result.messages)")
            #expect(result.messages.hasPrefix("crumb: KUBERNETES_EXEC_INFO "), "\(result.messages)")
            return
        }
        #expect(result.status == 0 && result.messages.isEmpty, "\(result.messages)")
        let object = try #require(try result.objects().first)
        #expect(object["apiVersion"] as? String == "client.authentication.k8s.io/\(version)")
        #expect((object["status"] as? [String: Any])?["token"] as? String == token)
    }

    @Test("kubectl asks again before the token ends, which is when crumb renews it")
    func renewal() throws {
        try given(Self.idToken(left: 3600))
        let ends = try ["0", "60", "7200"].map { skew in
            let status = try export(nil, "--skew", skew).objects().first?["status"] as? [String: Any]
            let text = try #require(status?["expirationTimestamp"] as? String)
            return try Date(text, strategy: .iso8601).timeIntervalSince1970
        }
        #expect(ends[0] - ends[1] == 60)
        // Never more than the later half of what is left, however slow this machine is.
        #expect((1700...1800).contains(ends[0] - ends[2]), "\(ends)")
    }

    @Test("The ID token is renewed when it ends, though the access token lives")
    func renewed() throws {
        let fresh = Self.idToken(left: 3600, "2")
        let server = try LoopbackServer { _ in
            LoopbackServer.Response(body: #"{"access_token":"access-2","expires_in":7200,"id_token":"\#(fresh)"}"#)
        }
        try given(Self.idToken(left: -5), "--endpoint", "token_endpoint=http://127.0.0.1:\(server.port)/token")
        let result = try export(nil)
        #expect(result.text.contains(fresh) && result.status == 0, "\(result.messages)")
        #expect(try home.crumb("token", "get", "--id-token", "work").text == "\(fresh)\n")
        let object = try home.crumb("token", "get", "--id-token", "--json", "work").objects().first
        #expect(object?["idToken"] as? String == fresh && object?["expires"] is String)
        #expect(server.requests.count == 1)
    }

    @Test("A login that has ended is made again where the user can be asked, and nowhere else")
    func interactive() throws {
        let fresh = Self.idToken(left: 3600, "2")
        // The first login's ID token has ended, as far as clocks may differ.
        let old = Self.idToken(left: -60)
        let isSecond = home.file("second")
        let server = try LoopbackServer { request in
            if request.target == "/device" {
                return LoopbackServer.Response(
                    body: #"""
                        {"device_code":"d","user_code":"AB-CD","verification_uri":"https://id.example/go","interval":1,
                         "expires_in":600}
                        """#)
            }
            guard String(decoding: request.body, as: UTF8.self).contains("device_code=d") else {
                return LoopbackServer.Response(400, body: #"{"error":"invalid_grant"}"#)
            }
            let token = FileManager.default.fileExists(atPath: isSecond) ? fresh : old
            return LoopbackServer.Response(
                body: #"{"access_token":"a-1","refresh_token":"refresh-1","expires_in":7200,"id_token":"\#(token)"}"#)
        }
        let base = "http://127.0.0.1:\(server.port)"
        let login = try home.crumb(
            "token", "login", "work", "--device", "--client-id", "app", "--account", "me", "--endpoint",
            "token_endpoint=\(base)/token", "--endpoint", "device_authorization_endpoint=\(base)/device")
        #expect(login.status == 0, "\(login.messages)")
        try home.write("", to: "second")
        for info in [nil, Self.info("v1"), Self.info("v1", #"{"interactive":false}"#)] {
            let result = try export(info)
            #expect(result.status == 43 && result.output.isEmpty && result.messages.contains("crumb token login"))
        }
        #expect(server.requests.count { $0.target == "/device" } == 1)
        let result = try export(Self.info("v1", #"{"interactive":true}"#))
        #expect(result.status == 0 && result.text.contains(fresh), "\(result.messages)")
        #expect(server.requests.count { $0.target == "/device" } == 2 && result.messages.contains("AB-CD"))
    }
}
