import FuzzSupport

@testable import CookieModel
@testable import WebPrimitives

/// Any bytes as the value of `Expires`, and as an RFC 3339 date and time.
enum DateTarget {
    /// 1601-01-01T00:00:00Z to 9999-12-31T23:59:59Z: the years that a cookie-date can name.
    private static let range: ClosedRange<Int64> = -11_644_473_600...253_402_300_799

    static func check(_ input: [UInt8]) {
        let date = CookieDate.parse(input.span)
        if let date {
            Invariant.holds(
                range.contains(date.seconds) && date == Timestamp(seconds: date.seconds), "a whole second from 1601 on")
            Invariant.holds(CookieDate.parse(date.httpDate) == date, "what is written reads the same")
        }
        checkVariants(of: input, date)
        checkAttribute(input, date)
        checkInternetDate(input)
    }

    /// What the algorithm must not notice.
    private static func checkVariants(of input: [UInt8], _ date: Timestamp?) {
        let upperCase = input.map(\.uppercased)
        Invariant.holds(CookieDate.parse(upperCase.span) == date, "letters have no case")
        let framed = Array("\t ,zz;-".utf8) + input + Array("/zz 00000 =".utf8)
        Invariant.holds(CookieDate.parse(framed.span) == date, "delimiters and strange tokens say nothing")
        if let text = String(validating: input, as: UTF8.self) {
            Invariant.holds(CookieDate.parse(text) == date, "a text is its octets")
        }
    }

    /// The same octets behind `Expires=`.
    private static func checkAttribute(_ input: [UInt8], _ date: Timestamp?) {
        guard input.count <= SetCookie.attributeValueLimit,
            !input.contains(where: { $0.isControl || $0 == UInt8(ascii: ";") }),
            case .cookie(let setCookie) = SetCookie.parse(Octets(Array("a=b; Expires=".utf8) + input))
        else { return }
        Invariant.holds(setCookie.expires == date, "an attribute means what its value means")
    }

    private static func checkInternetDate(_ input: [UInt8]) {
        guard let moment = Timestamp(rfc3339: input) else { return }
        let text = moment.rfc3339
        // A year before 0000 or after 9999, which an offset can lead to, is written as the nearest that is not.
        if (-62_167_219_200...range.upperBound).contains(moment.seconds) {
            Invariant.holds(Timestamp(rfc3339: text.utf8) == moment, "RFC 3339 is written as it is read")
        } else {
            Invariant.holds(Timestamp(rfc3339: text.utf8) != nil, "the ends of RFC 3339 can be read")
        }
        if range.contains(moment.seconds) {
            Invariant.holds(
                CookieDate.parse(moment.httpDate)?.seconds == moment.seconds, "an HTTP date is a cookie-date")
        }
    }
}

/// libFuzzer calls this with every input.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    DateTarget.check(Array(UnsafeBufferPointer(start: start, count: count)))
    return 0
}
