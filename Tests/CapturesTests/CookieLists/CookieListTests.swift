import CookieModel
import Testing

@testable import Captures

@Suite("Cookie lists in JSON")
struct CookieListTests {
    /// The one cookie of a list with this text as its members besides name, value and domain.
    static func record(_ members: String, domain: String = "a.test", _ format: CaptureFormat) -> CookieRecord? {
        let cookie = #"{"name":"n","value":"v","domain":"\#(domain)"\#(members.isEmpty ? "" : ",")\#(members)}"#
        let cookies = Capture(#"{"cookies":[\#(cookie)]}"#, format: format).cookies
        return cookies.count == 1 ? cookies[0] : nil
    }

    @Test(
        "A cookie list states the expiry of a cookie in several forms",
        arguments: [
            // With the session.
            (#""expires":-1"#, .storageState, nil), (#""expires":-1"#, .devTools, nil), ("", .storageState, nil),
            ("", .webDriver, nil), (#""expires":null"#, .httpieSession, nil), ("", .cookieEditor, nil),
            (#""expires":5,"session":true"#, .devTools, nil),
            (#""expirationDate":5,"session":true"#, .cookieEditor, nil),
            // Each dialect has a name of its own; another one's is no moment.
            (#""expiry":5"#, .storageState, nil), (#""expires":5"#, .webDriver, nil),
            (#""expires":5"#, .storageState, 5_000_000), (#""expires":5"#, .devTools, 5_000_000),
            (#""expiry":5"#, .webDriver, 5_000_000), (#""expirationDate":5"#, .cookieEditor, 5_000_000),
            (#""expires":5"#, .httpieSession, 5_000_000), (#""expiry":-1"#, .webDriver, -1_000_000),
            // Decimals to the microsecond, exponents, and numbers beyond all moments.
            (#""expires":1795316312.764736"#, .devTools, 1_795_316_312_764_736),
            (#""expires":1.7953163127647361e9"#, .devTools, 1_795_316_312_764_736),
            (#""expires":17953163127647361234E-10"#, .devTools, 1_795_316_312_764_736),
            (#""expires":1.9999999"#, .devTools, 1_999_999), (#""expires":-1.5"#, .devTools, -1_500_000),
            (#""expires":1e300"#, .devTools, .max), (#""expires":-1e300"#, .devTools, .min),
            (#""expires":1e-300"#, .devTools, 0), (#""expires":0"#, .devTools, 0),
            (#""expires":99999999999999999999"#, .devTools, .max),
            (#""expires":0.00000000000000000000000001"#, .devTools, 0),
            // As text.
            (#""expirationDate":"1970-01-01T00:00:05Z""#, .cookieEditor, 5_000_000),
            (#""expires":"Thu, 01 Jan 1970 00:00:05 GMT""#, .storageState, 5_000_000),
        ] as [(String, CaptureFormat, Int64?)])
    func expiry(members: String, format: CaptureFormat, microseconds: Int64?) throws {
        let record = try #require(Self.record(members, format))
        #expect(record.expiry?.microseconds == microseconds)
    }

    @Test(
        "A cookie list states the same-site-flag, which cannot be None without Secure",
        arguments: [
            (#""sameSite":"Strict""#, .strict), (#""sameSite":"lax""#, .lax), (#""sameSite":null"#, .default),
            (#""sameSite":"None""#, .default), (#""sameSite":"None","secure":true"#, .none),
            (#""sameSite":"no_restriction","secure":true"#, .none), (#""sameSite":"no_restriction""#, .default),
            (#""sameSite":"unspecified","secure":true"#, .default), (#""secure":true"#, .default),
        ] as [(String, SameSite)])
    func sameSite(members: String, sameSite: SameSite) throws {
        #expect(try #require(Self.record(members, .cookieEditor)).sameSite == sameSite)
    }

    @Test(
        "A cookie list states whether subdomains get the cookie",
        arguments: [
            ("a.test", "", .storageState, true), (".a.test", "", .storageState, false),
            (".a.test", #""hostOnly":true"#, .storageState, false),
            (".a.test", #""hostOnly":true"#, .cookieEditor, true),
            ("a.test", #""hostOnly":false"#, .cookieEditor, false), ("a.test", "", .cookieEditor, true),
            (".127.0.0.1", "", .webDriver, true),
        ] as [(String, String, CaptureFormat, Bool)])
    func hostOnly(domain: String, members: String, format: CaptureFormat, isHostOnly: Bool) throws {
        let record = try #require(Self.record(members, domain: domain, format))
        #expect(record.isHostOnly == isHostOnly && !record.domain.hasPrefix("."))
    }

    @Test(
        "A cookie list states the partition in several forms",
        arguments: [
            ("", nil), (#""partitionKey":null"#, nil), (#""partitionKey":"""#, nil), (#""partitionKey":{}"#, nil),
            (#""partitionKey":"https://b.test""#, "https://b.test cross-site"),
            (#""partitionKey":"https://b.test","_crHasCrossSiteAncestor":false"#, "https://b.test"),
            (#""partitionKey":{"topLevelSite":"https://b.test","hasCrossSiteAncestor":false}"#, "https://b.test"),
            (#""partitionKey":{"topLevelSite":"https://b.test:8443/x"}"#, "https://b.test cross-site"),
            (
                #""partitionKey":{"sourceOrigin":"https://b.test","hasCrossSiteAncestor":true}"#,
                "https://b.test cross-site"
            ),
        ])
    func partition(members: String, serialized: String?) throws {
        #expect(try #require(Self.record(members, .devTools)).partitionKey?.serialized == serialized)
    }

    @Test(
        "A broken cookie in a list loses only that cookie",
        arguments: [
            "1", "[]", "null", #""x""#, "{}", #"{"name":"n"}"#, #"{"name":1,"value":"v","domain":"a.test"}"#,
            #"{"name":"n","value":1,"domain":"a.test"}"#, #"{"name":"n","value":"v","domain":1}"#,
            #"{"name":"n","value":"v","domain":"a.test","path":1}"#,
            #"{"name":"n","value":"v","domain":"a.test","secure":"yes"}"#,
            #"{"name":"n","value":"v","domain":"a.test","httpOnly":2}"#,
            #"{"name":"n","value":"v","domain":"a.test","sameSite":1}"#,
            #"{"name":"n","value":"v","domain":"a.test","expires":true}"#,
            #"{"name":"n","value":"v","domain":"a.test","expires":"never"}"#,
            #"{"name":"n","value":"v","domain":"a.test","partitionKey":1}"#,
            #"{"name":"n","value":"v","domain":"a.test","partitionKey":"nowhere"}"#,
            #"{"name":"n","value":"v","domain":"a.test","partitionKeyOpaque":true}"#,
            #"{"name":"n","value":{"type":"base64","value":"?"},"domain":"a.test"}"#,
            #"{"name":"n","value":{"type":"huh","value":"v"},"domain":"a.test"}"#,
        ])
    func broken(cookie: String) {
        let good = #"{"name":"g","value":"1","domain":"a.test"}"#
        let capture = Capture(#"{"cookies":[\#(good),\#(cookie),\#(good)]}"#, format: .storageState)
        #expect(capture.summary == ["cookie g=1", "entry-malformed at x: entry 2", "cookie g=1"])
    }

    @Test("A jar of tough-cookie has its own names for members, and omits defaults")
    func toughCookie() {
        let jar = """
            {"version":"tough-cookie@4.1.3","storeType":"MemoryCookieStore","rejectPublicSuffixes":true,"cookies":[
             {"key":"sid","value":"31d4","expires":"1970-01-01T00:00:05.500Z","domain":"a.test","path":"/","secure":true,
              "httpOnly":true,"hostOnly":false,"sameSite":"strict","creation":"1970-01-01T00:00:00.000Z"},
             {"key":"m","value":"1","maxAge":10,"expires":"1970-01-01T00:00:05.500Z","domain":"a.test","path":"/x",
              "hostOnly":true,"creation":"1970-01-01T00:00:01.000Z"},
             {"key":"i","value":"2","expires":"Infinity","domain":"a.test","hostOnly":true},
             {"key":"d","value":"3","maxAge":0,"domain":"a.test","hostOnly":true},{"value":"4","domain":"a.test"}]}
            """
        let capture = Capture(jar)
        let names = ["cookie sid=31d4", "cookie m=1", "cookie i=2", "cookie d=3", "entry-malformed at x: entry 5"]
        #expect(capture.summary == names)
        #expect(
            capture.cookies.map(\.expiry) == [
                Timestamp(microseconds: 5_500_000), Timestamp(seconds: 11), nil, .distantPast,
            ])
        #expect(capture.cookies.map(\.isHostOnly) == [false, true, true, true])
        #expect(capture.cookies.map(\.sameSite) == [.strict, .default, .default, .default])
        guard case .cookie(let record, _) = capture.items[1] else {
            Issue.record("no cookie")
            return
        }
        #expect(record.unstated.isDisjoint(with: [.secure, .httpOnly, .sameSite]))
    }

    @Test("In a cookie list, the last of repeated members counts, and members may be in any order")
    func repeated() {
        let cookie = #"{"domain":"b.test","value":"1","name":"a","domain":"a.test","value":"2","name":"n"}"#
        let capture = Capture(#"{"origins":[],"cookies":[\#(cookie)]}"#)
        #expect(capture.summary == ["cookie n=2"] && capture.cookies.map(\.domain) == ["a.test"])
    }

    @Test("A cookie list is found in each protocol's answer")
    func places() {
        let cookie = #"{"name":"n","value":"v","domain":"a.test"}"#
        for document in [
            "[\(cookie)]", #"{"value":[\#(cookie)]}"#, #"{"cookies":[\#(cookie)]}"#,
            #"{"id":7,"result":{"cookies":[\#(cookie)]},"sessionId":"x"}"#,
        ] {
            #expect(Capture(document, format: .webDriver).summary == ["cookie n=v"], "\(document)")
        }
        for document in ["{}", "null", #"{"cookies":1}"#, #"{"cookie":[\#(cookie)]}"#] {
            #expect(Capture(document, format: .webDriver).summary == ["input-unrecognized at x"], "\(document)")
        }
    }

    @Test("A list of WebDriver BiDi has typed values, and a partition that belongs to no single cookie")
    func bidi() {
        let text = """
            {"type":"success","id":4,"result":{"cookies":[
            {"domain":"a.test","expiry":1795316312,"httpOnly":true,"name":"n","path":"/","sameSite":"lax","secure":true,
            "size":2,"value":{"type":"string","value":"v"}},
            {"domain":".a.test","name":"m","value":{"type":"base64","value":"/wBh"}}],
            "partitionKey":{"sourceOrigin":"https://b.test","userContext":"default"}}}
            """
        let capture = Capture(text)
        #expect(capture.summary == ["cookie n=v", #"cookie m=\xFF\x00a"#, "partition-unclear at x"])
        #expect(capture.failures.map(\.severity) == [.notice])
        #expect(capture.cookies[0].sameSite == .lax && capture.cookies[0].isHTTPOnly && !capture.cookies[1].isHostOnly)
        let own = text.replacing(#""sourceOrigin":"https://b.test","#, with: "")
        #expect(Capture(own).failures.isEmpty)
    }

    @Test("The localStorage of a storage state is read, whatever it contains and wherever its origin is named")
    func storage() {
        let items =
            #"{"name":"k","value":"v"},{"value":"\u00e9","name":""},{"name":"\ud83d\ude00","value":"\ud800x\udc80"}"#
        let origin = #"{"localStorage":[\#(items)],"origin":"https://a.test:443/","indexedDB":[{"name":"d"}]}"#
        let second = #"{"origin":"http://b.test:8080","localStorage":[{"name":"k","value":"2"}]}"#
        let capture = Capture(#"{"cookies":[],"origins":[\#(origin),\#(second),{"origin":"https://c.test"}]}"#)
        #expect(
            capture.summary.dropLast() == [
                "storage https://a.test k=v", "storage https://a.test =\u{E9}",
                "storage https://a.test \u{1F600}=\(Octets([0xED, 0xA0, 0x80, 0x78, 0xED, 0xB2, 0x80]))",
                "storage http://b.test:8080 k=2",
            ])
        let values = capture.items.compactMap { if case .storage(let item, _) = $0 { item.value } else { nil } }
        #expect(values.contains(Octets([0xED, 0xA0, 0x80, 0x78, 0xED, 0xB2, 0x80])))
        #expect(capture.summary.last == "storage-ignored at x")
        #expect(capture.failures.map(\.severity) == [.notice])
        #expect(Capture(#"{"cookies":[],"origins":[]}"#).summary == [])
    }

    @Test(
        "An item that cannot be read is left out with the reason; the others of its origin are not",
        arguments: [
            (#"{"name":"a"}"#, "it has no value"), (#"{"value":"a"}"#, "it has no name"), ("7", "it is not an object"),
            (#"{"name":1,"value":""}"#, "its name is not a string"),
            (#"{"name":"a","value":"\#(String(repeating: "s", count: 1 << 20))s"}"#, "its value is longer than 1 MiB"),
        ])
    func storageLeftOut(item: String, finding: String) {
        let good = #"{"name":"good","value":"1"}"#
        let capture = Capture(
            #"{"cookies":[],"origins":[{"origin":"https://a.test","localStorage":[\#(good),\#(item),\#(item),\#(good)]}]}"#
        )
        let good1 = "storage https://a.test good=1"
        #expect(capture.summary == [good1, good1, "storage-left-out at x"])
        #expect(
            capture.failures.map(\.message) == [
                "Item 2 of the localStorage of origin 1 was left out: \(finding), and 1 more of this origin."
            ])
    }

    @Test(
        "Only pages over HTTP have storage",
        arguments: [#""file://""#, #""null""#, #""a.test""#, #""wss://a.test""#, "7"])
    func storageOrigins(origin: String) {
        for origin in [#""origin":\#(origin),"#, ""] {
            let capture = Capture(
                #"{"cookies":[],"origins":[{\#(origin)"localStorage":[{"name":"s3cret","value":"s3cret"}]}]}"#)
            #expect(capture.summary == ["storage-left-out at x"] && !capture.failures[0].message.contains("s3cret"))
        }
    }

    @Test("HTTPie's text is octets as Latin-1; another list's is UTF-8")
    func latin1() {
        let cookie = #"{"name":"a","value":"\u00c3\u00bc","domain":"a.test","path":"/","secure":false}"#
        #expect(Capture(#"{"__meta__":{},"cookies":[\#(cookie)]}"#).cookies.map(\.value) == ["\u{FC}"])
        #expect(Capture("[\(cookie)]").cookies.map(\.value) == ["\u{C3}\u{BC}"])
    }

    @Test("HTTPie's old layout has a member for each cookie, and binds them to no host")
    func oldHTTPie() {
        let text = #"""
            {"__meta__":{"about":"HTTPie session file","httpie":"1.0.3"},"auth":{},"cookies":{
            "n":{"expires":1795316182,"path":"/p","secure":true,"value":"v"},"m":{"value":"w"},"bad":1}}
            """#
        #expect(
            Capture(text).summary == [
                "url-missing at x: entry 1", "url-missing at x: entry 2", "entry-malformed at x: entry 3",
            ])
        let capture = Capture(text, url: "https://A.test:8443/x")
        #expect(capture.summary == ["cookie n=v", "cookie m=w", "entry-malformed at x: entry 3"])
        #expect(capture.cookies.allSatisfy { $0.domain == "a.test" && $0.isHostOnly })
        #expect(capture.cookies.map(\.path) == ["/p", "/"] && capture.cookies.map(\.isSecure) == [true, false])
    }

    @Test("Complete cookies before a syntax error in a list count, and the error has its position")
    func breaks() {
        let cookie = #"{"name":"n","value":"v","domain":"a.test"}"#
        #expect(
            Capture(#"{"cookies":[\#(cookie),{"name":"#).summary == ["cookie n=v", "input-truncated at x: entry 1"])
        #expect(
            Capture("{\"cookies\":[\(cookie),\n}").summary == ["cookie n=v", "json-malformed at x: line 2, column 1"])
        let tooDeep = String(repeating: "[", count: CaptureLimits.nestingDepth)
        #expect(
            Capture(#"{"cookies":[\#(cookie),{"x":\#(tooDeep)"#).summary
                == ["cookie n=v", "nesting-too-deep at x: line 1, column 1048634"])
    }

    @Test("A cookie with too deep nesting loses only itself")
    func nesting() {
        let cookie = #"{"name":"n","value":"v","domain":"a.test"}"#
        let deep = String(repeating: "[", count: 5000) + String(repeating: "]", count: 5000)
        let text = #"{"cookies":[{"name":"m","value":\#(deep),"domain":"a.test"},{"x":\#(deep)},\#(cookie)]}"#
        #expect(
            Capture(text).summary == ["entry-malformed at x: entry 1", "entry-malformed at x: entry 2", "cookie n=v"])
    }

    @Test("A cookie of more than 16 MiB, or a field of more than 1 MiB, is left out and named")
    func large() {
        let long = String(repeating: "x", count: CaptureLimits.fieldByteCount + 1)
        let fields = (0..<20).map { #""f\#($0)":"\#(long.dropLast())""# }.joined(separator: ",")
        let good = #"{"name":"g","value":"1","domain":"a.test"}"#
        for (members, code) in [
            (#""value":"\#(long)""#, "entry-malformed"), (#""value":"v",\#(fields)"#, "line-too-long"),
        ] {
            let capture = Capture(
                #"{"cookies":[{"name":"n","domain":"a.test",\#(members)},\#(good)]}"#, format: .storageState)
            #expect(capture.summary == ["\(code) at x: entry 1", "cookie g=1"])
        }
    }

    @Test("The .local that Python appends to a host without a dot is removed, and a real one stays")
    func localHosts() {
        func domains(_ domain: String, url: String? = nil, _ format: CaptureFormat = .httpieSession) -> [String] {
            Capture(#"{"cookies":[{"name":"n","value":"v","domain":"\#(domain)"}]}"#, url: url, format: format)
                .cookies.map(\.domain)
        }
        #expect(domains("localhost.local") == ["localhost"] && domains("printer.local") == ["printer.local"])
        #expect(domains("printer.local", url: "http://printer/") == ["printer"])
        #expect(domains("localhost.local", .webDriver) == ["localhost.local"])
    }
}
