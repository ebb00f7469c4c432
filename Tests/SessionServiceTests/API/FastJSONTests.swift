import CookieModel
import SessionOperations
import Testing

@testable import SessionService

@Suite("The answer to a response")
struct FastJSONTests {
    @Test(
        "The fast JSON of decisions is that of the encoder",
        arguments: [
            ["a=1"], ["a=1", "b=2; Path=/deep; Domain=example.com", "a=2"], [], ["a=1; Max-Age=0"], ["=nameless"],
            ["__Secure-a=1", "ok=1"], ["quo\"te=1", "back\\slash=1", "sla/sh=1"], ["ä=1", "€=😀"],
            ["p=1; Secure; Partitioned"], ["bad\u{1}=1"], ["d=1; Domain=other.test", "c=1"],
        ])
    func agrees(lines: [String]) throws {
        var store = CookieStore(policy: CookiePolicy(profile: .browser))
        let context = RequestContext(url: try RequestURL("https://www.example.com/"))
        let decisions = store.receive(
            ReceivedResponse(context: context, setCookie: lines.map { Octets($0) }), now: Timestamp(seconds: 0))
        let reports = decisions.map(StorageDecisionReport.init)
        #expect(reports.count == lines.count)
        #expect(
            String(decoding: ResponseDecisions.fastJSON(reports), as: UTF8.self)
                == String(decoding: JSONText.of(ResponseDecisions(decisions: reports)), as: UTF8.self))
    }

    @Test("Octets of decisions that are not UTF-8 are in Base64")
    func notUTF8() throws {
        var store = CookieStore()
        let decisions = store.receive(
            ReceivedResponse(
                context: RequestContext(url: try RequestURL("https://www.example.com/")),
                setCookie: [Octets([0xFF, UInt8(ascii: "="), 0xFE])]), now: Timestamp(seconds: 0))
        let text = String(
            decoding: ResponseDecisions.fastJSON(decisions.map(StorageDecisionReport.init)), as: UTF8.self)
        #expect(text.contains(#""nameBase64":"/w==""#))
    }
}
