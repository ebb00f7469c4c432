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

    @Test("A rejected Set-Cookie line has its reason")
    func refused() throws {
        let response = ResponseHead(status: 200, setCookie: ["a=1; Domain=other.example", "b=2"])
        let receipt = try DecorationFixture().decorator().receive(
            response, in: try DecorationFixture.context(), now: DecorationFixture.now)
        #expect(receipt.decisions.map(\.reasons) == [[.domainMismatch], []])
    }
}
