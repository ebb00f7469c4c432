import Foundation
import TestSupport
import Testing

@testable import OAuth2

@Suite("Encodings")
struct EncodingTests {
    @Test(
        "base64 is that of RFC 4648, section 10",
        arguments: [
            ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ])
    func base64(_ text: String, _ expected: String) {
        #expect(String(decoding: Base64.encode(Array(text.utf8)), as: UTF8.self) == expected)
    }

    @Test("base64 is Foundation's, of any bytes")
    func base64Twin() {
        var generator = SeededGenerator(seed: 7)
        for count in 0..<100 {
            let bytes = (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
            #expect(String(decoding: Base64.encode(bytes), as: UTF8.self) == Data(bytes).base64EncodedString())
        }
    }

    @Test(
        "forms are those of RFC 6749, appendix B",
        arguments: [
            ("", ""), (" %&+£€", "+%25%26%2B%C2%A3%E2%82%AC"), ("azAZ09*-._", "azAZ09*-._"), ("~:/=", "%7E%3A%2F%3D"),
            ("\u{0}\r\n", "%00%0D%0A"),
        ])
    func form(_ text: String, _ expected: String) {
        #expect(String(decoding: FormEncoding.encode(text), as: UTF8.self) == expected)
        #expect(String(decoding: FormEncoding.encode(Secret(text)), as: UTF8.self) == expected)
    }

    @Test(
        "RFC 3339 dates are read as moments",
        arguments: [
            ("1970-01-01T00:00:00Z", 0), ("1970-01-01T00:00:01.5Z", 1_500_000), ("1969-12-31T23:59:59Z", -1_000_000),
            ("1985-04-12T23:20:50.52Z", 482_196_050_520_000), ("1996-12-19T16:39:57-08:00", 851_042_397_000_000),
            ("1990-12-31T23:59:60Z", 662_687_999_000_000), ("2000-02-29t00:00:00z", 951_782_400_000_000),
            ("2026-11-21T08:00:00.0000009Z", 1_795_248_000_000_000), ("9999-12-31T23:59:59Z", 253_402_300_799_000_000),
            ("0000-01-01T00:00:00Z", -62_167_219_200_000_000), ("0001-01-01T00:00:00Z", -62_135_596_800_000_000),
            ("", nil), ("2026-11-21", nil), ("2026-11-21T08:00:00", nil), ("2026-11-21T08:00Z", nil),
            ("2026-13-01T00:00:00Z", nil), ("2026-00-01T00:00:00Z", nil), ("2026-02-29T00:00:00Z", nil),
            ("1900-02-29T00:00:00Z", nil), ("2026-01-00T00:00:00Z", nil), ("2026-01-01T24:00:00Z", nil),
            ("2026-01-01T00:60:00Z", nil), ("2026-01-01T00:00:61Z", nil), ("2026-01-01T00:00:00.Z", nil),
            ("2026-01-01T00:00:00+24:00", nil), ("2026-01-01T00:00:00+0100", nil), ("2026-01-01T00:00:00Zx", nil),
            ("+026-01-01T00:00:00Z", nil), ("26-1-1T0:0:0Z", nil),
        ] as [(String, Int64?)])
    func rfc3339(_ text: String, _ expected: Int64?) {
        #expect(RFC3339.microseconds(text) == expected)
    }

    @Test("every day from 1600 to 2400 is counted once")
    func everyDay() {
        var expected: Int64 = -11_676_096_000
        for year in 1600...2400 {
            for month in 1...12 {
                for day in 1...31 {
                    let text = String(format: "%04d-%02d-%02dT00:00:00Z", year, month, day)
                    guard let moment = RFC3339.microseconds(text) else { continue }
                    if moment != expected * 1_000_000 { Issue.record("\(text) is not at \(expected)") }
                    expected += 86_400
                }
            }
        }
        #expect(expected == 13_601_088_000)
    }

    @Test("durations are counted in microseconds, up to the ends of the range")
    func durations() {
        #expect(Microseconds.count(of: .milliseconds(1500)) == 1_500_000)
        #expect(Microseconds.count(of: .milliseconds(-1500)) == -1_500_000)
        #expect(Microseconds.count(of: .nanoseconds(999)) == 0)
        #expect(Microseconds.count(of: .seconds(Int64.max)) == .max)
        #expect(Microseconds.count(ofSeconds: Double.nan) == nil)
        #expect(Microseconds.count(ofSeconds: -Double.infinity) == .min)
    }
}
