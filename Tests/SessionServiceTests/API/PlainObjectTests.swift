import Foundation
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

    @Test("Say what the decoder says, or nothing", arguments: bodies)
    func agrees(body: String, isPlain: Bool) throws {
        let plain = PlainObject(Array(body.utf8)).flatMap(DecorateDocument.init)
        #expect((plain != nil) == isPlain)
        guard let plain else { return }
        let decoded = try JSONDecoder().decode(Exactly<DecorateDocument>.self, from: Data(body.utf8)).document
        #expect(PlainObjectTests.parts(plain) == PlainObjectTests.parts(decoded))
    }

    @Test("Every cut and every change of a byte says what the decoder says, or nothing")
    func mutations() {
        let body = Array(#"{"navigation":true,"url":"https://a.test/","method":"GET"}"#.utf8)
        var variants = body.indices.map { Array(body[..<$0]) }
        for index in body.indices {
            for byte in UInt8.min...UInt8.max { variants.append(body[..<index] + [byte] + body[(index + 1)...]) }
        }
        var plainCount = 0
        for variant in variants {
            guard let plain = PlainObject(variant).flatMap(DecorateDocument.init) else { continue }
            plainCount += 1
            let decoded = try? JSONDecoder().decode(Exactly<DecorateDocument>.self, from: Data(variant)).document
            #expect(decoded.map(PlainObjectTests.parts) == PlainObjectTests.parts(plain), "\(variant)")
        }
        #expect(plainCount > 1000)
    }

    private static func parts(_ document: DecorateDocument) -> [String?] {
        [
            document.url, document.method, document.topLevel, document.initiator,
            document.navigation.map { "\($0)" }, document.headers.map { "\($0.count)" },
        ]
    }
}
