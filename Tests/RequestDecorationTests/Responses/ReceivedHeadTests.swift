import CookieModel
import HTTPTypes
import RequestDecoration
import SessionStore
import Testing

@Suite("Received responses")
struct ReceivedHeadTests {
    @Test("Every Set-Cookie field of a response is parsed, octet for octet", arguments: [200, 204, 302, 401, 500])
    func fields(status: Int) throws {
        var response = HTTPResponse(status: HTTPResponse.Status(code: status))
        let lines: [Octets] = ["a=1, b=2; Path=/", Octets([0x63, 0x3D, 0xE9]), "d=\"x\""]
        for line in lines { response.headerFields.append(HTTPField(name: .setCookie, lenientValue: line)) }
        response.headerFields.append(HTTPField(name: .location, value: ""))
        response.headerFields.append(HTTPField(name: .location, value: "/next"))
        let head = ResponseHead(response)
        #expect(head.setCookie == lines && head.status == status && head.location == "/next")
        #expect(head.doubts.isEmpty)
        let fixture = try DecorationFixture()
        let receipt = try fixture.decorator().receive(
            response, in: try DecorationFixture.context(), now: DecorationFixture.now)
        #expect(receipt.decisions.map(\.outcome) == [.stored, .stored, .stored])
        #expect(Set(try fixture.jar.cookies().readable.map(\.pair)) == ["a=1, b=2", lines[1], lines[2]])
    }

    @Test("The doubts about two responses are those about the lines of both")
    func preceded() {
        let first = ResponseHead(
            status: 206, setCookie: ["a=1", "b=2"],
            doubts: [SetCookieDoubt(.octetsReplaced, line: 1), SetCookieDoubt(.commaKept, line: 1)])
        let second = ResponseHead(
            status: 200, setCookie: ["c=3", "d=4"],
            doubts: [SetCookieDoubt(.splitWithinValue, line: 1), SetCookieDoubt(.octetsReplaced, line: 0)])
        let head = second.preceded(by: first)
        #expect(head.status == 200 && head.setCookie == ["a=1", "b=2", "c=3", "d=4"])
        #expect(
            head.doubts == first.doubts + [
                SetCookieDoubt(.splitWithinValue, line: 3), SetCookieDoubt(.octetsReplaced, line: 3),
            ])
        #expect(second.preceded(by: nil) == second)
    }

    @Test("A rejected Set-Cookie line has its reason")
    func refused() throws {
        let response = ResponseHead(status: 200, setCookie: ["a=1; Domain=other.example", "b=2"])
        let receipt = try DecorationFixture().decorator().receive(
            response, in: try DecorationFixture.context(), now: DecorationFixture.now)
        #expect(receipt.decisions.map(\.reasons) == [[.domainMismatch], []])
    }
}
