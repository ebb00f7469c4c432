import CookieModel
import TestSupport
import Testing

@testable import RequestDecoration

@Suite("The schemes by which a web view loads resources")
struct ResourceSchemeTests {
    private let scheme = ResourceScheme(token: Array(0..<16))
    private static let prefix = "crumb-000102030405060708090a0b0c0d0e0f-"

    @Test("A URL keeps host, port, path and query")
    func shape() throws {
        #expect(scheme.names == ["\(Self.prefix)https", "\(Self.prefix)http"])
        let url = try RequestURL("https://www.example.com:8443/a/b.png?x=1#y")
        #expect(scheme.schemeURL(for: url) == "\(Self.prefix)https://www.example.com:8443/a/b.png?x=1")
        #expect(scheme.schemeURL(for: try RequestURL("wss://www.example.com/")) == nil)
        #expect(scheme.url(from: "\(Self.prefix)https://www.example.com:8443/a/b.png?x=1#y") == url)
    }

    @Test("Each web view has a name of its own, which can be a scheme")
    func random() throws {
        let schemes = (0..<100).map { _ in ResourceScheme() }
        #expect(Set(schemes).count == 100)
        for name in schemes.flatMap(\.names) {
            #expect(name.utf8.allSatisfy { ASCII.isDigit($0) || (0x61...0x7A).contains($0) || $0 == ASCII.hyphen })
        }
        let url = try RequestURL("https://www.example.com/")
        #expect(schemes[0].url(from: try #require(schemes[1].schemeURL(for: url))) == nil)
    }

    @Test(
        "Text that is no such URL, or has user information, is refused",
        arguments: [
            "", "https://www.example.com/", "crumb-https://www.example.com/", "\(prefix)", "\(prefix)https",
            "\(prefix)https:", "\(prefix)https:/www.example.com/", "\(prefix)https:www.example.com",
            "\(prefix)ws://www.example.com/", "\(prefix)file:///etc/passwd", "\(prefix)https://",
            "\(prefix)https://user@www.example.com/", "\(prefix)https://user:password@www.example.com/",
            "\(prefix)https://@www.example.com/", "\(prefix)https://www.example.com:@evil.example/",
            "\(prefix)https://www.example.com:99999/", "\(prefix)https://[::1/", " \(prefix)https://www.example.com/",
            "\(prefix)https://www.example.com\\@evil.example@www.example.com/\u{0}",
        ])
    func refused(text: String) throws {
        // A backslash ends the authority, for this parser and for engines' parsers of https URLs.
        guard text.contains("\\") else { return #expect(scheme.url(from: text) == nil) }
        #expect(scheme.url(from: text)?.host.description == "www.example.com")
    }

    @Test("An at sign after the authority is no user information")
    func atSign() throws {
        for path in ["/@scope/a.js", "/a@b", "/?a@b", "/#@"] {
            #expect(
                scheme.url(from: "\(Self.prefix)https://www.example.com\(path)")?.host.description == "www.example.com")
        }
    }

    @Test("Every URL of http and https comes back")
    func roundTrip() throws {
        var generator = SeededGenerator(seed: 11)
        let hosts = [
            "www.example.com", "localhost", "127.0.0.1", "[::1]", "[2001:db8::1:2]", "b\u{FC}cher.example",
            "xn--bcher-kva.example",
            "WWW.Example.COM", "a_b.example", "www.example.com.",
        ]
        let ports = ["", ":80", ":443", ":8443", ":0", ":65535"]
        let alphabet = Array("abzAZ09-._~!$&'()*+,;=:@/?%#\\[]{}|^`\"<> \u{E9}\u{1F36A}")
        for _ in 0..<5000 {
            var text = ["http://", "https://"].randomElement(using: &generator) ?? ""
            text += (hosts.randomElement(using: &generator) ?? "") + (ports.randomElement(using: &generator) ?? "")
            text +=
                "/"
                + String(
                    (0..<Int.random(in: 0...20, using: &generator)).compactMap { _ in
                        alphabet.randomElement(using: &generator)
                    })
            for escape in ["%2F", "%2e%2E", "%00", "%zz", "%"] where Bool.random(using: &generator) { text += escape }
            let url = try RequestURL(text)
            let mapped = try #require(scheme.schemeURL(for: url))
            #expect(scheme.url(from: mapped) == url, "\(text)")
            #expect(mapped.hasPrefix(Self.prefix + url.scheme.name + "://"))
        }
    }

    @Test("Any text is refused or leads to a URL that comes back")
    func anyText() throws {
        var generator = SeededGenerator(seed: 12)
        let alphabet = Array("ab.:/@\\?#[]%1 \u{E9}")
        for _ in 0..<5000 {
            let rest = String(
                (0..<Int.random(in: 0...12, using: &generator)).compactMap { _ in
                    alphabet.randomElement(using: &generator)
                })
            guard let url = scheme.url(from: "\(Self.prefix)https://\(rest)") else { continue }
            #expect(url.scheme == .https && url == (try? RequestURL("https://\(rest)")))
            #expect(scheme.url(from: try #require(scheme.schemeURL(for: url))) == url)
        }
    }
}
