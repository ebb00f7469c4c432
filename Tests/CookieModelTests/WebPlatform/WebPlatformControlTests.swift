import Testing

@testable import CookieModel

/// The Web Platform Tests that put each control character into each place: `attributes-ctl`, `name-ctl`, `value-ctl`.
@Suite("The Web Platform Tests: control characters")
struct WebPlatformControlTests {
    /// 0x00 to 0x1F and 0x7F.
    static let controls: [UInt8] = Array(0x00...0x1F) + [0x7F]

    /// What stands before and after the control character.
    struct Place: Sendable, CustomTestStringConvertible {
        let before: Octets
        let after: Octets

        init(_ before: Octets, _ after: Octets) {
            (self.before, self.after) = (before, after)
        }

        var testDescription: String { "\(before)<control>\(after)" }
        /// The pair as the line has it, up to the semicolon.
        func pair(_ control: UInt8) -> Octets {
            let line = before + Octets([control]) + after
            return line[0..<(line.firstIndex(of: ASCII.semicolon) ?? line.count)]
        }
    }

    static let places = [
        Place("a=t; Domain=test", ".co; Domain=web-platform.test;"), Place("a=t; Domain=web-platform.test", ";"),
        Place("a=t; Path=/te", "st; Path=/cookies/attributes"), Place("a=t; Path=/cookies/attributes", ";"),
        Place("a=t; Max-Age=10", "00; Max-Age=1000;"), Place("a=t; Max-Age=1000", ";"),
        Place(
            "a=t; Expires=Fri, 01 Jan 20", "38 00:00:00 GMT; Expires=Fri, 01 Jan 2038 00:00:00 GMT;"),
        Place("a=t; Expires=Fri, 01 Jan 2038 00:00:00 GMT", ";"), Place("a=t; Sec", "ure;"),
        Place("a=t; Http", "Only;"), Place("a=t; SameSite=La", "x; SameSite=Lax;"), Place("a=t; SameSite=Lax", ";"),
        Place("test", "name=1"), Place("test=1", "value"),
    ]

    private func sent(
        _ place: Place, _ control: UInt8, _ profile: CookieProfile, _ interface: RequestContext.Interface
    ) throws -> Octets {
        let page = "http://web-platform.test:8000/cookies/attributes/attributes-ctl.sub.html"
        var session = Session(profile: profile)
        try session.set(place.before + Octets([control]) + place.after, at: page, via: interface)
        return session.store.retrieve(for: try Request(page, via: .script).context, now: session.now).cookieString
    }

    @Test("A line with a control character other than the tab is ignored (section 5.6, step 1)", arguments: places)
    func ignored(place: Place) throws {
        for profile in [CookieProfile.rfc6265bis, .browser] {
            for control in WebPlatformControlTests.controls {
                for interface in [RequestContext.Interface.script, .http] {
                    let expected = control == ASCII.tab ? place.pair(control) : ""
                    #expect(try sent(place, control, profile, interface) == expected, "\(control)")
                }
            }
        }
    }

    /// The one disagreement. The test expects the cookie although its page is not secure; by section 5.6, step 5, the
    /// tab is trimmed, by section 5.7, step 13, a Secure cookie then needs a secure connection. Chromium fails that test as well.
    @Test("A tab after Secure is trimmed, and the cookie refused like any other that is Secure")
    func secure() throws {
        for profile in [CookieProfile.rfc6265bis, .browser] {
            for control in WebPlatformControlTests.controls {
                #expect(try sent(Place("a=t; Secure", ";"), control, profile, .script) == "")
            }
        }
        var session = Session()
        #expect(try session.set("a=t; Secure\t;", at: "https://web-platform.test/") == "stored")
    }
}
