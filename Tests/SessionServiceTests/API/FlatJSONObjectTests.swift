import Foundation
import SessionWire
import Testing

@testable import SessionService

@Suite("Plain objects")
struct PlainObjectTests {
    /// Bodies, and whether they are read without the decoder.
    static let bodies: [(String, isPlain: Bool)] = [
        (#"{"url":"https://a.test/"}"#, true),
        (" \r\n{ \"url\"\t: \"https://a.test/?q=1#x\" , \"method\": \"POST\" } \n", true),
        (#"{"navigation":true,"url":"u","topLevel":"t","initiator":"i","method":"m"}"#, true),
        (#"{"url":"","navigation":false}"#, true),
        // What the decoder has to read.
        (#"{"url":"https://a.test/\u0041"}"#, false), (#"{"url":"https://ä.test/"}"#, false),
        (#"{"\u0075rl":"u"}"#, false), (#"{"url":"u","method":null}"#, false),
        (#"{"url":"u","headers":[{"name":"Cookie","value":"a=1"}]}"#, false), (#"{"url":"u","headers":[]}"#, false),
        // What it has to refuse, or to decide on.
        ("", false), ("{", false), ("{}", false), ("[]", false), ("null", false), (#"{"url":"u"}}"#, false),
        (#"{"url":"u"} {}"#, false), (#"{"url":"u",}"#, false), (#"{,"url":"u"}"#, false), (#"{"url" "u"}"#, false),
        (#"{"url":"u" "method":"m"}"#, false), (#"{"url":"u"#, false), (#"{"url":"u""#, false), (#"{"url":"#, false),
        (#"{"url":u}"#, false), (#"{"url":"u","navigation":tru}"#, false), (#"{"url":"u","navigation":truely}"#, false),
        (#"{"url":"u","navigation":"true"}"#, false), (#"{"url":true}"#, false), (#"{"url":"u","method":true}"#, false),
        (#"{"url":"u","navigation":1}"#, false), (#"{"method":"m"}"#, false), (#"{"url":"u","Url":"v"}"#, false),
        (#"{"url":"u","methd":"m"}"#, false), (#"{"url":"u","url":"v"}"#, false), ("{\"url\":\"a\u{7F}\"}", false),
        ("{\"url\":\"a\nb\"}", false), ("\u{FEFF}{\"url\":\"u\"}", false), (#"{"url":'u'}"#, false),
    ]

    @Test("Plain objects are decoded as by the decoder, or not at all", arguments: bodies)
    func agrees(body: String, isPlain: Bool) throws {
        let plain = FlatJSONObject(Array(body.utf8)).flatMap(DecorateDocument.init)
        #expect((plain != nil) == isPlain)
        guard let plain else { return }
        let decoded = try JSONDecoder().decode(StrictlyDecoded<DecorateDocument>.self, from: Data(body.utf8)).document
        #expect(PlainObjectTests.parts(plain) == PlainObjectTests.parts(decoded))
    }

    @Test("Damaged plain objects are decoded as by the decoder, or not at all")
    func mutations() {
        let body = Array(#"{"navigation":true,"url":"https://a.test/","method":"GET"}"#.utf8)
        var variants = body.indices.map { Array(body[..<$0]) }
        for index in body.indices {
            for byte in UInt8.min...UInt8.max { variants.append(body[..<index] + [byte] + body[(index + 1)...]) }
        }
        var plainCount = 0
        for variant in variants {
            guard let plain = FlatJSONObject(variant).flatMap(DecorateDocument.init) else { continue }
            plainCount += 1
            let decoded = try? JSONDecoder().decode(StrictlyDecoded<DecorateDocument>.self, from: Data(variant))
                .document
            #expect(decoded.map(PlainObjectTests.parts) == PlainObjectTests.parts(plain), "\(variant)")
        }
        #expect(plainCount > 1000)
    }

    /// Responses, and whether they are read without the decoder.
    static let responses: [(String, isPlain: Bool)] = [
        (#"{"url":"u","headers":[{"name":"Set-Cookie","value":"a=1"}]}"#, true),
        (#"{"url":"u","status":302,"headers":[{"name":"a","value":"b"} , {"value":"d","name":"c"}]}"#, true),
        (#"{"received":"r","url":"u","headers":[{"name":"a","value":"b"}],"topLevel":"t"}"#, true),
        (#"{"url":"u","headers":[{"name":"a","value":"b"}],"status":999,"navigation":false,"method":"m"}"#, true),
        (#"{"url":"u","headers":[]}"#, false), (#"{"url":"u"}"#, false),
        (#"{"url":"u","headers":[{"name":"a","valueBase64":"YQ=="}]}"#, false),
        (#"{"url":"u","headers":[{"name":"a","value":"b","more":"c"}]}"#, false),
        (#"{"url":"u","headers":[{"name":"a","value":"b"}],"more":"c"}"#, false),
        (#"{"url":"u","headers":[{"name":"a","value":"b"},]}"#, false),
        (#"{"url":"u","headers":[{"name":"a","value":"b"}"#, false),
        (#"{"url":"u","headers":[[{"name":"a","value":"b"}]]}"#, false),
        (#"{"url":"u","headers":[{"name":"a","value":[{"a":"b"}]}]}"#, false),
        (#"{"url":"u","headers":[{"name":"a","value":"b"}],"status":"200"}"#, false),
        (#"{"url":"u","headers":[{"name":"a","value":"b"}],"status":0200}"#, false),
        (#"{"url":"u","headers":[{"name":"a","value":"b"}],"status":-1}"#, false),
        (#"{"url":"u","headers":[{"name":"a","value":"b"}],"status":200.0}"#, false),
        (#"{"url":"u","headers":[{"name":"a","value":"b"}],"status":2e2}"#, false),
        (#"{"url":"u","headers":[{"name":"a","value":"b"}],"status":20 0}"#, false),
        (#"{"url":"u","headers":[{"name":"a","value":"b"}],"status":1000000000}"#, false),
        (#"{"url":"u","headers":[{"name":"a","value":"b"}],"status":1000}"#, false),
        (#"[{"url":"u","headers":[{"name":"a","value":"b"}]}]"#, false),
    ]

    @Test("Plain objects of a response are decoded as by the decoder, or not at all", arguments: responses)
    func agrees(response: String, isPlain: Bool) throws {
        let plain = FlatJSONObject(Array(response.utf8)).flatMap(ResponseDocument.init)
        #expect((plain != nil) == isPlain)
        guard let plain else { return }
        let decoded = try JSONDecoder().decode(StrictlyDecoded<ResponseDocument>.self, from: Data(response.utf8))
            .document
        #expect(PlainObjectTests.parts(plain) == PlainObjectTests.parts(decoded))
    }

    private static func parts(_ document: ResponseDocument) -> [String?] {
        let head = [
            document.members.url, document.members.status.map { "\($0.value)" }, document.details.method,
            document.details.topLevel, document.details.initiator,
            document.details.navigation.map { "\($0)" }, document.members.received,
        ]
        return document.members.headers.reduce(into: head) { parts, field in
            parts += [field.name, field.value, field.valueBase64]
        }
    }

    private static func parts(_ document: DecorateDocument) -> [String?] {
        [
            document.members.url, document.details.method, document.details.topLevel, document.details.initiator,
            document.details.navigation.map { "\($0)" }, document.members.headers.map { "\($0.count)" },
        ]
    }
}
