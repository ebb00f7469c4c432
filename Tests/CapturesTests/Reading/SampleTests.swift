import CookieModel
import Foundation
import Testing

@testable import Captures

@Suite("Captures by real tools", .enabled(if: Samples.exist, "shared/samples is not beside the package"))
struct SampleTests {
    @Test(
        "A HAR gives every entry with its Set-Cookie lines, as another JSON parser sees them", arguments: Samples.hars)
    func har(name: String) throws {
        let document = try #require(
            try JSONSerialization.jsonObject(with: Data(Samples.bytes(name))) as? [String: Any])
        let log = try #require(document["log"] as? [String: Any])
        let entries = try #require(log["entries"] as? [[String: Any]])
        let capture = try Samples.capture(name)
        #expect(capture.failures.isEmpty)
        #expect(capture.responses.count == entries.count)
        for (response, entry) in zip(capture.responses, entries) {
            let request = try #require(entry["request"] as? [String: Any])
            let expected = try #require(entry["response"] as? [String: Any])
            let headers = try #require(expected["headers"] as? [[String: String]])
            #expect(response.url == request["url"] as? String)
            #expect(response.method == request["method"] as? String)
            #expect(response.status == expected["status"] as? Int)
            #expect(response.urlOrigin == .recorded)
            let lines = headers.filter { $0["name"]?.lowercased() == "set-cookie" }.map { Octets($0["value"] ?? "") }
            #expect(response.setCookie == lines || Octets(response.setCookie.joined(separator: ", ".utf8)) == lines[0])
            let time = try #require(entry["startedDateTime"] as? String)
            #expect(response.time != nil && response.time == Timestamp(rfc3339: time.utf8))
        }
    }

    @Test("mitmproxy 8 joins lines that mitmproxy 11 separates, and both give the same lines")
    func joined() throws {
        let joined = try Samples.capture("mitm8.har").responses.map(\.setCookie)
        #expect(joined == (try Samples.capture("mitm.har").responses.map(\.setCookie)))
        #expect(joined.first?.count == 13)
    }

    @Test("Header dumps give every line that begins with Set-Cookie", arguments: Samples.dumps)
    func dump(name: String) throws {
        let text = String(decoding: try Samples.bytes(name), as: UTF8.self)
        let expected = text.components(separatedBy: "\r\n").filter { $0.hasPrefix("Set-Cookie: ") }
            .map { Octets(String($0.dropFirst("Set-Cookie: ".count))) }
        let capture = try Samples.capture(name)
        #expect(capture.failures.isEmpty)
        #expect(capture.responses.flatMap(\.setCookie) == expected)
        #expect(capture.responses.allSatisfy { $0.time?.seconds == 1_795_229_781 || $0.time?.seconds == 1_795_229_782 })
    }

    @Test("A dump of a redirect moves to its Location")
    func redirect() throws {
        let responses = try Samples.capture("curl-dump-header.txt").responses
        #expect(responses.map(\.status) == [302, 200])
        #expect(
            responses.map(\.url) == ["https://app.example.test:8843/first", "https://app.example.test:8843/set8"])
        #expect(responses.map(\.urlOrigin) == [.given, .redirect])
        #expect(responses.map(\.place.line) == [1, 10])
    }

    @Test("A cookie file gives a cookie for every line with tabs", arguments: Samples.cookieFiles)
    func cookieFile(name: String) throws {
        let lines = String(decoding: try Samples.bytes(name), as: UTF8.self)
            .split(separator: "\n").filter { $0.contains("\t") }
        let capture = try Samples.capture(name)
        #expect(capture.failures.map(\.code) == (name == "wget-cookies-nosession.txt" ? [.sessionCookiesMissing] : []))
        #expect(capture.cookies.count == lines.count)
        for (cookie, line) in zip(capture.cookies, lines) {
            let columns = line.split(separator: "\t", omittingEmptySubsequences: false)
            #expect(cookie.name == Octets(String(columns[5])))
            #expect(cookie.value == Octets(String(columns[6])))
            #expect(cookie.path == Octets(String(columns[2])))
            #expect(cookie.isHostOnly == (columns[1] == "FALSE"))
            #expect(cookie.isSecure == (columns[3] == "TRUE"))
            #expect(cookie.isHTTPOnly == columns[0].hasPrefix("#HttpOnly_"))
            #expect(!cookie.domain.contains(":") && !cookie.domain.hasPrefix("."))
            #expect(cookie.expiry == (columns[4] == "0" ? nil : Int64(columns[4]).map(Timestamp.init(seconds:))))
        }
    }

    @Test(
        "Input in none of these formats is one failure that lists the formats",
        arguments: [
            "mitm.flow", "db/chromium-156-Cookies.sqlite",
            "firefox-mozlog.moz_log",
        ])
    func unknown(name: String) throws {
        let items = try Samples.capture(name).items
        #expect(items.count == 1)
        #expect(items.failures.map(\.code) == [.inputUnrecognized])
        #expect(
            items.failures.allSatisfy {
                $0.message.contains("har, ") && $0.message.contains("netscape")
                    || name.hasPrefix("db/") && $0.message.contains("Name its file")
            })
    }

    @Test("A cookie list gives every cookie, as another JSON parser sees it", arguments: Samples.cookieLists)
    func cookieList(name: String) throws {
        let document = try #require(
            try JSONSerialization.jsonObject(with: Data(Samples.bytes(name))) as? [String: Any])
        let expected = try #require(document["cookies"] as? [[String: Any]])
        let capture = try Samples.capture(name)
        #expect(capture.failures.allSatisfy { $0.severity == .notice } && !expected.isEmpty)
        #expect(capture.cookies.count == expected.count)
        for (cookie, members) in zip(capture.cookies, expected) {
            let domain = try #require(members["domain"] as? String)
            #expect(cookie.name == Octets(members["name"] as? String ?? "?"))
            #expect(cookie.value == Octets(members["value"] as? String ?? "?"))
            #expect(cookie.isHostOnly == !domain.hasPrefix("."))
            #expect(domain.hasSuffix(cookie.domain) && !cookie.domain.hasPrefix("."))
            #expect(cookie.path == Octets(members["path"] as? String ?? "?"))
            #expect(cookie.isSecure == members["secure"] as? Bool)
            #expect(cookie.isHTTPOnly == (members["httpOnly"] as? Bool ?? false))
            #expect(cookie.sameSite.attributeValue == members["sameSite"] as? String)
            let expires = members["expires"] as? Double
            if let expires, expires != -1 {
                #expect(abs(Double(cookie.expiry?.microseconds ?? 0) - expires * 1e6) <= 1)
            } else {
                #expect(cookie.expiry == nil)
            }
            #expect((cookie.partitionKey == nil) == (members["partitionKey"] == nil))
        }
    }

    @Test("A partition is kept with its ancestor bit", arguments: Samples.cookieLists.prefix(2))
    func partition(name: String) throws {
        let keys = try Samples.capture(name).cookies.compactMap(\.partitionKey)
        #expect(keys.map(\.serialized) == ["https://example.test", "https://other.test cross-site"])
    }

    @Test("curl's header_json gives the lines that curl -i gives")
    func headerJSON() throws {
        let capture = try Samples.capture("curl-header-json.json")
        #expect(capture.failures.isEmpty)
        #expect(capture.responses.map(\.setCookie) == (try Samples.capture("curl-i.txt").responses.map(\.setCookie)))
        #expect(capture.responses.map(\.time?.seconds) == [1_795_229_781])
    }

    @Test("The output of curl and wget has the same lines as curl -i", arguments: Samples.transcripts)
    func transcript(name: String) throws {
        var capture = try Samples.capture(name)
        capture.url = nil
        #expect(capture.failures.isEmpty)
        #expect(capture.responses.map(\.setCookie) == (try Samples.capture("curl-i.txt").responses.map(\.setCookie)))
        #expect(capture.responses.map(\.url) == ["https://app.example.test:8843/set8"])
        #expect(capture.responses.map(\.urlOrigin) == [.recorded])
        #expect(capture.responses.allSatisfy { $0.time?.seconds == 1_795_229_781 || $0.time?.seconds == 1_795_229_782 })
    }
}
