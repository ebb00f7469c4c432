import CookieModel
import Testing

@testable import Captures

@Suite("Firefox's session store")
struct FirefoxSessionTests {
    /// A file with these runs of LZ4: literals, and how far back how many bytes are taken from.
    static func file(_ runs: [(literals: String, offset: Int, length: Int)], size: Int = 1 << 20) -> [UInt8] {
        var bytes = Array("mozLz40\0".utf8) + (0..<4).map { UInt8(truncatingIfNeeded: size >> ($0 * 8)) }
        func extend(_ count: Int) {
            guard count >= 15 else { return }
            bytes += [UInt8](repeating: 255, count: (count - 15) / 255) + [UInt8((count - 15) % 255)]
        }
        for run in runs {
            let literals = Array(run.literals.utf8)
            let length = max(run.length - 4, 0)
            bytes.append(UInt8(min(literals.count, 15) << 4 | min(length, 15)))
            extend(literals.count)
            bytes += literals
            guard run.length > 0 else { continue }
            bytes += [UInt8(truncatingIfNeeded: run.offset), UInt8(truncatingIfNeeded: run.offset >> 8)]
            extend(length)
        }
        return bytes
    }

    static let beginning = #"{"windows":[{"cookies":[1]}],"cookies":[{"host":".a.test","name":"n","value":""#
    static let end = #"","path":"/p","secure":true,"httponly":true,"sameSite":0},"#
    static let others =
        #"{"host":"b.test","value":"w","originAttributes":{"userContextId":2}},{"host":"c.test"},"#
        + #"{"host":"c.test","value":"x","name":"m","originAttributes":{"userContextId":0,"partitionKey":""}}]}"#

    @Test("A Firefox session file is unpacked, and cookies of other containers are counted")
    func cookies() {
        let capture = Capture(bytes: Self.file([(Self.beginning + "ab", 2, 40), (Self.end + Self.others, 0, 0)]))
        #expect(
            capture.summary == [
                "cookie n=\(String(repeating: "ab", count: 21))", "entry-malformed at x: entry 3", "cookie m=x",
                "other-container at x",
            ])
        #expect(capture.cookies[0].isSecure && capture.cookies[0].isHTTPOnly && capture.cookies[0].sameSite == .none)
        #expect(capture.cookies[0].expiry == nil && !capture.cookies[0].isHostOnly && capture.cookies[1].isHostOnly)
        for length in [1, 2, 3, 7, 64] { #expect(capture.items(pieceLength: length) == capture.items) }
    }

    @Test("Reading a Firefox session file ends at an invalid reference, or beyond the stated length")
    func broken() {
        let good = Self.beginning + "v" + Self.end
        for runs in [[(good, 5000, 40)], [(good, 0, 40)], [(good, 1, 2000)], [(good, 1, 1 << 25)]] {
            let capture = Capture(bytes: Self.file(runs, size: good.utf8.count + 1000))
            #expect(capture.summary == ["cookie n=v", "entry-malformed at x"])
            #expect(capture.items(pieceLength: 3) == capture.items)
        }
        #expect(Capture(bytes: Self.file([(good, 0, 0)])).summary == ["cookie n=v", "input-truncated at x: entry 1"])
        #expect(Capture(bytes: Self.file([(good, 0, 0)], size: 10)).failures.map(\.code) == [.entryMalformed])
    }

    @Test(
        "A session file of Firefox itself is read",
        .enabled(if: Samples.exist, "shared/samples is not beside the package"))
    func sample() throws {
        let capture = Capture(bytes: try Samples.bytes("db/firefox-153-sessionstore.jsonlz4"))
        #expect(capture.failures.isEmpty)
        #expect(capture.summary == ["cookie sess=s1", "cookie eq=a=b==", "cookie ipsess=1"])
    }
}
