import CookieModel
import Testing

@testable import Captures

@Suite("Safari's Cookies.binarycookies")
struct BinaryCookiesTests {
    static func word(_ number: Int) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) } }

    static func cookie(
        domain: String = ".a.test", name: String = "n", path: String = "/", value: String = "v", flags: Int = 0,
        expiry: Double = 800_000_000, offsets: [Int]? = nil
    ) -> [UInt8] {
        var places: [Int] = []
        var texts: [UInt8] = []
        for text in [domain, name, path, value] {
            places.append(56 + texts.count)
            texts += Array(text.utf8) + [0]
        }
        let numbers = [56 + texts.count, 0, flags, 0] + (offsets ?? places) + [0, 0]
        let times = [expiry, 700_000_000.5].flatMap { time in
            (0..<8).map { UInt8(truncatingIfNeeded: time.bitPattern >> UInt64($0 * 8)) }
        }
        return numbers.flatMap(word) + times + texts
    }

    static func page(_ cookies: [[UInt8]]) -> [UInt8] {
        var start = 12 + cookies.count * 4
        var offsets: [Int] = []
        for cookie in cookies {
            offsets.append(start)
            start += cookie.count
        }
        return [0, 0, 1, 0] + word(cookies.count) + offsets.flatMap(word) + word(0) + cookies.flatMap(\.self)
    }

    static func file(_ pages: [[UInt8]]) -> [UInt8] {
        Array("cook".utf8) + word(pages.count).reversed() + pages.flatMap { word($0.count).reversed() }
            + pages.flatMap(\.self) + [0, 0, 0, 9, 7, 0x17, 0x20, 5, 0, 0, 0, 0x4B]
    }

    @Test("A binarycookies file gives every field, over several pages")
    func fields() throws {
        let capture = Capture(
            bytes: Self.file([
                Self.page([
                    Self.cookie(flags: 1 | 4 | 8), Self.cookie(domain: "b.test", value: "", flags: 8 | 16, expiry: 0),
                ]),
                Self.page([]), Self.page([Self.cookie(name: "", flags: 16, expiry: .infinity)]),
            ]))
        #expect(capture.failures.isEmpty)
        let cookies = capture.cookies
        try #require(cookies.count == 3)
        #expect(cookies.map(\.domain) == ["a.test", "b.test", "a.test"])
        #expect(cookies.map(\.isHostOnly) == [false, true, false])
        #expect(cookies.map(\.name) == ["n", "n", ""] && cookies.map(\.value) == ["v", "", "v"])
        #expect(cookies.map(\.isSecure) == [true, false, false] && cookies.map(\.isHTTPOnly) == [true, false, false])
        #expect(cookies.map(\.sameSite) == [.lax, .strict, .default])
        #expect(cookies.map(\.expiry?.seconds) == [1_778_307_200, nil, nil])
        #expect(cookies[0].creation?.microseconds == 1_678_307_200_500_000)
    }

    @Test("An invalid offset loses only its own cookie")
    func offsets() {
        let good = Self.cookie()
        for bad in [
            Self.cookie(offsets: [40, 58, 60, 62]), Self.cookie(offsets: [1 << 30, 58, 60, 62]), Self.word(1 << 20),
            Self.word(56), Array(good.dropLast()),
        ] {
            let capture = Capture(bytes: Self.file([Self.page([bad, good]), Self.page([good])]))
            #expect(capture.cookies.count >= 2 && !capture.failures.isEmpty)
            #expect(Set(capture.failures.map(\.code)) == [.entryMalformed])
        }
        var page = Self.page([good])
        page.replaceSubrange(4..<8, with: Self.word(1 << 30))
        #expect(
            Capture(bytes: Self.file([page, Self.page([good])])).summary == [
                "entry-malformed at x: entry 1", "cookie n=v",
            ])
    }

    @Test("A truncated binarycookies file gives its complete pages, and one with impossible counts gives nothing")
    func truncated() {
        let file = Self.file([Self.page([Self.cookie()]), Self.page([Self.cookie()])])
        #expect(Capture(bytes: Array(file.dropLast(20))).summary == ["cookie n=v", "input-truncated at x: entry 1"])
        let huge = Array("cook".utf8) + [0, 0x7F, 0xFF, 0xFF]
        #expect(Capture(bytes: huge).summary == ["input-unrecognized at x"])
        let hugePage = Array("cook".utf8) + [0, 0, 0, 2, 0x7F, 0, 0, 0, 0, 0, 0, 0]
        #expect(Capture(bytes: hugePage).failures.map(\.code) == [.lineTooLong, .inputTruncated])
    }

    @Test("A binarycookies file is read the same in pieces of any size")
    func pieces() {
        let capture = Capture(
            bytes: Self.file([Self.page([Self.cookie(), Self.cookie()]), Self.page([Self.cookie()])]))
        for length in [1, 2, 3, 7, 64] { #expect(capture.items(pieceLength: length) == capture.items) }
    }
}
