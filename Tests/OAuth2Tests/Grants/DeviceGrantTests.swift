import HTTPTypes
import Testing

@testable import OAuth2

@Suite("DeviceGrant")
struct DeviceGrantTests {
    private static let reply =
        #"{"device_code":"dev-code-1","user_code":"WDJB-MJHT","verification_uri":"https://id.example/device""#

    private func grant() throws -> DeviceGrant {
        DeviceGrant(
            deviceAuthorizationEndpoint: try Given.endpoint("/device"), tokenEndpoint: try Given.endpoint(),
            authentication: .publicClient(clientID: "app"), scopes: ["a"])
    }

    private func authorization(_ members: String = "") throws -> DeviceAuthorization {
        try grant().authorization(in: Given.response(DeviceGrantTests.reply + members + "}"), now: now)
    }

    @Test("Begins and polls as RFC 8628 requires")
    func requests() throws {
        #expect(Given.form(try grant().authorizationRequest()) == ["scope=a", "client_id=app"])
        #expect(
            Given.form(try grant().request(polling: try authorization())) == [
                "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Adevice_code", "device_code=dev-code-1",
                "client_id=app",
            ])
    }

    @Test(
        "Interval and lifetime have bounds and defaults",
        arguments: [
            ("", 5, 600), (#","interval":2,"expires_in":30"#, 2, 30), (#","interval":"7","expires_in":"9.5""#, 7, 9),
            (#","interval":0"#, 1, 600), (#","interval":-4"#, 1, 600), (#","interval":1e9"#, 3600, 600),
            (#","interval":120"#, 120, 600),
            (#","interval":"soon","expires_in":"later""#, 5, 600), (#","expires_in":-1"#, 5, 0),
        ])
    func times(_ members: String, _ interval: Int, _ lifetime: Int64) throws {
        let authorization = try authorization(members)
        #expect(authorization.interval == interval)
        #expect((authorization.expiry - now).components.seconds == lifetime)
    }

    @Test("Each slow_down adds five seconds")
    func slowDown() throws {
        var authorization = try authorization()
        authorization.slowDown()
        #expect(authorization.interval == 10)
        for _ in 0..<50 { authorization.slowDown() }
        #expect(authorization.interval == 60)
        // A server that wants more is never asked sooner than it wants.
        var patient = try self.authorization(#","interval":120"#)
        patient.slowDown()
        patient.backOff()
        #expect(patient.interval == 120)
    }

    @Test(
        "A code or an address that no user should see is rejected",
        arguments: [
            #"{"device_code":"d","user_code":"u"}"#, #"{"device_code":"d","verification_uri":"https://x"}"#,
            #"{"user_code":"d","verification_uri":"https://x"}"#,
            #"{"device_code":"d","user_code":"u","verification_uri":"javascript:alert(1)"}"#,
            #"{"device_code":"d","user_code":"u","verification_uri":"https://x\u001b[31m"}"#,
            #"{"device_code":"d","user_code":"u\u001b","verification_uri":"https://x"}"#,
            #"{"device_code":"d","user_code":"u","verification_uri":"https://x","verification_uri_complete":"file:///"}"#,
        ])
    func unusable(_ body: String) throws {
        let grant = try grant()
        let error = thrown { () throws(OAuth2Error) in
            try grant.authorization(in: Given.response(body), now: now)
        }
        #expect(error?.code == .incompleteReply)
    }

    @Test(
        "Every answer to a question has its meaning",
        arguments: [
            (#"{"error":"authorization_pending"}"#, HTTPResponse.Status.badRequest, "pending"),
            (#"{"error":"slow_down"}"#, .badRequest, "slow"), (#"{"error":"slow_down"}"#, .tooManyRequests, "slow"),
            (#"{"error":"access_denied"}"#, .badRequest, "access_denied"),
            (#"{"error":"expired_token"}"#, .badRequest, "device_code_expired"),
            ("", .notFound, "unexpected_status"), ("", .badGateway, "server_unavailable"),
            ("<html>", .ok, "markup"), (#"{"access_token":"t"}"#, .ok, "issued"),
        ])
    func outcomes(_ body: String, _ status: HTTPResponse.Status, _ expected: String) throws {
        let grant = try grant()
        do {
            let outcome = try grant.outcome(
                in: Given.response(body, status: status), polling: try authorization(), now: now)
            switch outcome {
            case .issued(let tokens):
                #expect(expected == "issued" && tokens.scopes == ["a"])
            case .pending: #expect(expected == "pending")
            case .slowDown: #expect(expected == "slow")
            }
        } catch let error as OAuth2Error {
            #expect(error.code.rawValue == expected)
        }
    }
}
