import Testing

@testable import OAuth2

@Suite("Forms and durations")
struct FormTests {
    @Test(
        "Forms are those of RFC 6749, appendix B",
        arguments: [
            ("", ""), (" %&+£€", "+%25%26%2B%C2%A3%E2%82%AC"), ("azAZ09*-._", "azAZ09*-._"), ("~:/=", "%7E%3A%2F%3D"),
            ("\u{0}\r\n", "%00%0D%0A"),
        ])
    func form(_ text: String, _ expected: String) {
        #expect(String(decoding: FormEncoding.encode(text), as: UTF8.self) == expected)
        #expect(String(decoding: FormEncoding.encode(Secret(text)), as: UTF8.self) == expected)
    }

    @Test(
        "A form is decoded as in the URL Standard",
        arguments: [
            ("a=b+c", "b c"), ("a=%2B%c3%a9", "+é"), ("a=%zz%4", "%zz%4"), ("a=%+1", "% 1"), ("a=%ff", "\u{FFFD}"),
            ("a", ""), ("a=b=c", "b=c"),
        ])
    func decoded(_ text: String, _ expected: String) {
        #expect(FormEncoding.decode(text).map(\.value) == [expected])
    }
}
