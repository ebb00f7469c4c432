import CookieModel
import Foundation
import RequestExchange
import SessionClient
import SessionWire
import Testing
import WebPrimitives

@Suite("What a service is asked about the hops of an exchange")
struct ServiceJarStateTests {
    private static func state() -> ServiceJarState {
        ServiceJarState("work", signInLimit: 2) { RequestDetails(method: $0.method) }
    }

    private static func chain(_ method: String = "GET") throws -> RedirectChain {
        RedirectChain(RequestContext(url: try RequestURL("https://a.test/1")).with(method: method))
    }

    /// The report of a service that adds the fields, in JSON.
    private static func report(_ fields: String) throws -> DecorationReport {
        let text = #"{"excluded":[],"fields":[\#(fields)],"included":[]}"#
        return try JSONDecoder().decode(DecorationReport.self, from: Data(text.utf8))
    }

    private static let proof =
        #"{"name":"authorization","value":"DPoP 1"},{"name":"dpop","value":"p1"},{"name":"x-key","value":"k"}"#
    private static let renewedProof = #"{"name":"authorization","value":"DPoP 2"},{"name":"dpop","value":"p2"}"#

    /// The body of a request to the service.
    private static func body<Answer>(_ request: SessionRequest<Answer>?) throws -> NSDictionary? {
        guard let bytes = try request?.encodedBody() else { return nil }
        return try JSONSerialization.jsonObject(with: Data(bytes)) as? NSDictionary
    }

    @Test("A request names the caller's cookies and fields; after another origin, the fields of a token, too")
    func decoration() throws {
        var state = Self.state()
        var chain = try Self.chain("POST")
        let first = state.decoration(
            of: chain, at: nil, cookies: ["a=1"], settingFields: ["x-key", "cookie", "accept"])
        #expect(first.target.hasSuffix("/jars/work/decorate"))
        #expect(
            try Self.body(first) == [
                "url": "https://a.test/1", "method": "POST",
                "headers": [
                    ["name": "cookie", "value": "a=1"], ["name": "accept", "value": ""],
                    ["name": "x-key", "value": ""],
                ],
            ])
        #expect(try Self.body(state.decoration(of: chain, at: nil, cookies: [], settingFields: []))?["headers"] == nil)
        _ = try chain.follow(status: 303, location: "https://b.test/2")
        #expect(
            try Self.body(state.decoration(of: chain, at: nil, cookies: [], settingFields: [])) == [
                "url": "https://b.test/2", "method": "GET",
                "headers": [["name": "authorization", "value": ""], ["name": "dpop", "value": ""]],
            ])
    }

    @Test("A request counts as sent when the service is asked for its fields: its answer may lack a later session")
    func sent() throws {
        var state = Self.state()
        let chain = try Self.chain()
        for moment in [Timestamp(seconds: 1_800_000_000), nil] {
            _ = state.decoration(of: chain, at: moment, cookies: [], settingFields: [])
            _ = state.fields(try Self.report(Self.proof), for: chain)
            let receipt = try Self.body(state.receipt(of: ResponseHead(status: 401), to: chain))
            #expect(receipt?["sent"] as? String == moment?.rfc3339)
        }
    }

    @Test("The renewed token takes the place of the rejected one, once, and at the URL that rejected it")
    func renewal() throws {
        var state = Self.state()
        var chain = try Self.chain()
        #expect(state.renewal == nil && !state.hasProof)
        let fields = state.fields(try Self.report(Self.proof), for: chain)
        #expect(fields.map(\.value) == ["k", "DPoP 1", "p1"] && state.hasProof)
        state.note(ResponseHead(status: 401), to: chain, isRejection: true)
        let renewal = state.beginSignIn()
        #expect(renewal?.target.hasSuffix("/jars/work/renewals") == true)
        #expect(try Self.body(renewal) == Self.body(state.receipt(of: ResponseHead(status: 401), to: chain)))
        #expect(state.renewed(try Self.report(Self.renewedProof)))
        #expect(state.fields(try Self.report(Self.proof), for: chain).map(\.value) == ["k", "DPoP 2", "p2"])
        #expect(state.fields(try Self.report(Self.proof), for: chain).map(\.value) == ["k", "DPoP 1", "p1"])
        #expect(state.renewed(try Self.report(Self.renewedProof)))
        _ = try chain.follow(status: 302, location: "/2")
        #expect(state.fields(nil, for: chain).isEmpty && !state.hasProof)
    }

    @Test("Nothing is renewed without a rejection, and the steps of a login end")
    func end() throws {
        var state = Self.state()
        let chain = try Self.chain()
        state.note(ResponseHead(status: 401), to: chain, isRejection: true)
        state.note(ResponseHead(status: 200), to: chain, isRejection: false)
        #expect(state.beginSignIn() == nil && !state.isOver)
        #expect(!state.renewed(try Self.report("")))
        #expect(state.beginSignIn() == nil && state.isOver)
    }
}
