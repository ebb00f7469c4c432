import CookieModel
import RequestDecoration
import TestSupport
import Testing

@Suite("Messages of the capture script")
struct CaptureMessageTests {
    private static let url = "https://www.example.com/shop/cart"

    private func message(_ fields: String, url: String = url) throws -> CaptureMessage {
        try CaptureMessage(#"{"crumb":"capture","url":"\#(url)",\#(fields)}"#)
    }

    /// What a jar decides on a message of a frame, with what it holds already.
    private func decisions(
        _ message: CaptureMessage, in frame: String = url, topLevel: String? = nil, holding lines: [Octets] = []
    ) throws -> (decisions: [StorageDecision], store: CookieStore) {
        var store = CookieStore()
        let frame = ScriptFrame(url: try RequestURL(frame), topLevel: try topLevel.map { try RequestURL($0) })
        for line in lines { store.receive(line, in: RequestContext(url: frame.url), now: Page.now) }
        guard let response = message.received(in: frame) else { return ([], store) }
        return (store.receive(response, now: Page.now), store)
    }

    @Test("A line of a capture message is received for the frame, as from a script")
    func line() throws {
        let message = try message(#""kind":"cookie","line":"a=1; Max-Age=60""#)
        let (decisions, store) = try decisions(message)
        #expect(decisions.map(\.outcome) == [.stored])
        #expect(
            store.cookies.map(\.path) == ["/shop"] && store.cookies.map(\.domain.description) == ["www.example.com"])
        #expect(!message.asksForStore)
    }

    @Test("A page's messages can do no more than its scripts: HttpOnly cookies are out of reach")
    func httpOnly() throws {
        let held: [Octets] = ["sid=real; HttpOnly; Path=/"]
        for line in ["sid=forged; Path=/", "sid=; Path=/; Max-Age=0", "other=1; HttpOnly"] {
            let message = try message(#""kind":"cookie","line":"\#(line)""#)
            let (decisions, store) = try decisions(message, holding: held)
            #expect(decisions.map(\.outcome) == [.rejected], "\(line)")
            #expect(store.cookies.map(\.value) == ["real"])
        }
        let change = try message(
            #""kind":"change","changed":[{"name":"sid","value":"x","path":"/"}],"deleted":[{"name":"sid","path":"/"}]"#)
        let (decisions, store) = try decisions(change, holding: held)
        #expect(decisions.map(\.outcome) == [.rejected, .rejected] && store.cookies.map(\.value) == ["real"])
    }

    @Test(
        "A capture message has the origin of its frame, and its own path if the origin is right",
        arguments: [
            ("https://www.example.com/other/page", "www.example.com", "/other"),
            ("https://bank.test/other/page", "www.example.com", "/shop"),
            ("https://www.example.com:8443/other/page", "www.example.com", "/shop"),
            ("http://www.example.com/other/page", "www.example.com", "/shop"),
            ("about:", "www.example.com", "/shop"), ("nonsense", "www.example.com", "/shop"),
        ])
    func origin(claim: String, host: String, path: Octets) throws {
        let message = try message(#""kind":"cookie","line":"a=1""#, url: claim)
        let store = try decisions(message).store
        #expect(store.cookies.map(\.domain.description) == [host] && store.cookies.map(\.path) == [path])
    }

    @Test(
        "A capture message with a foreign domain is rejected, and so is a cross-site frame's cookie without SameSite=None"
    )
    func foreign() throws {
        let domain = try message(#""kind":"cookie","line":"a=1; Domain=bank.test""#)
        #expect(try decisions(domain).decisions.map(\.reasons) == [[.domainMismatch]])
        let plain = try message(#""kind":"cookie","line":"a=1""#)
        #expect(
            try decisions(plain, topLevel: "https://other.test/").decisions.map(\.reasons) == [[.sameSiteCrossSite]])
        #expect(try decisions(plain, topLevel: "https://example.com/").decisions.map(\.outcome) == [.stored])
    }

    @Test("A fully described change is received; another one requests a check of the native store")
    func changes() throws {
        let full = try message(
            #""kind":"change","changed":[{"name":"a","value":"1","domain":"example.com","path":"/","expires":1800000100000,"secure":true,"sameSite":"strict"}],"deleted":[]"#
        )
        let (decisions, store) = try decisions(full)
        #expect(decisions.map(\.outcome) == [.stored] && !full.asksForStore)
        let cookie = try #require(store.cookies.first)
        #expect(!cookie.isHostOnly && cookie.isSecure && cookie.sameSite == .strict && cookie.path == "/")
        #expect(cookie.expiry == Timestamp(seconds: 1_800_000_100))
        let gone = try message(
            #""kind":"change","changed":[],"deleted":[{"name":"a","domain":"example.com","path":"/"}]"#)
        var held = store
        let response = try #require(gone.received(in: ScriptFrame(url: try RequestURL(CaptureMessageTests.url))))
        #expect(held.receive(response, now: Page.now).map(\.outcome) == [.deleted] && held.cookies.isEmpty)
        for vague in [
            #"{"name":"a","value":"1"}"#, #"{"name":"a","path":"/"}"#,
            #"{"name":"a","value":"1; Domain=x","path":"/"}"#,
            #"{"name":"a=b","value":"1","path":"/"}"#, #"{"name":"a","value":"1","path":"/; Secure"}"#,
            #"{"name":"a","value":"1","path":"x"}"#, #"{"name":"a","value":"1\n","path":"/"}"#,
        ] {
            let message = try message(#""kind":"change","changed":[\#(vague)],"deleted":[]"#)
            #expect(message.received(in: ScriptFrame(url: try RequestURL(CaptureMessageTests.url))) == nil, "\(vague)")
            #expect(message.asksForStore, "\(vague)")
        }
    }

    @Test("Responses and hints request a check of the native store")
    func hints() throws {
        let response = try message(
            #""kind":"response","through":"fetch","response":null,"method":"POST","status":302,"redirected":true"#)
        let touched = try message(#""kind":"touched""#)
        for message in [response, touched] {
            #expect(message.asksForStore)
            #expect(message.received(in: ScriptFrame(url: try RequestURL(CaptureMessageTests.url))) == nil)
        }
    }

    @Test(
        "A message that the capture script never sends is rejected, with the position of the error",
        arguments: [
            ("", "message-not-json", ""), ("null", "message-malformed", ""), ("[1]", "message-malformed", ""),
            ("\"a=1\"", "message-malformed", ""), ("{", "message-not-json", ""), ("{}", "message-malformed", "crumb"),
            (#"{"crumb":1}"#, "message-malformed", "crumb"), (#"{"crumb":"other"}"#, "message-malformed", "crumb"),
            (#"{"crumb":"capture","kind":"touched"}"#, "message-malformed", "url"),
            (#"{"crumb":"capture","url":"x"}"#, "message-malformed", "kind"),
            (#"{"crumb":"capture","url":"x","kind":"odd"}"#, "message-malformed", "kind"),
            (#"{"crumb":"capture","url":"x","kind":"touched","line":"a=1"}"#, "message-malformed", ""),
            (#"{"crumb":"capture","url":"x","kind":"cookie"}"#, "message-malformed", "line"),
            (#"{"crumb":"capture","url":"x","kind":"cookie","line":["a=1"]}"#, "message-malformed", "line"),
            (#"{"crumb":"capture","url":"x","kind":"cookie","line":"a=1","http":true}"#, "message-malformed", ""),
            (#"{"crumb":"capture","url":"x","kind":"change","changed":{}}"#, "message-malformed", "changed"),
            (
                #"{"crumb":"capture","url":"x","kind":"change","changed":[{"name":"a"},{"value":"b"}]}"#,
                "message-malformed", "changed[1].name"
            ),
            (
                #"{"crumb":"capture","url":"x","kind":"change","deleted":[{"name":"a","httpOnly":true}]}"#,
                "message-malformed", "deleted[0]"
            ),
            (
                #"{"crumb":"capture","url":"x","kind":"change","changed":[{"name":"a","expires":1e300}]}"#,
                "message-malformed", "changed[0].expires"
            ),
            (
                #"{"crumb":"capture","url":"x","kind":"change","changed":[{"name":"a","sameSite":"odd"}]}"#,
                "message-malformed", "changed[0].sameSite"
            ),
            (
                #"{"crumb":"capture","url":"x","kind":"response","through":"fetch","method":"GET","status":200.5}"#,
                "message-malformed", "status"
            ),
            (
                #"{"crumb":"capture","url":"x","kind":"response","through":"beacon","method":"GET","status":200}"#,
                "message-malformed", "through"
            ),
        ])
    func malformed(text: String, code: String, place: String) {
        do throws(ScriptMessageError) {
            let message = try CaptureMessage(text)
            Issue.record("taken: \(message)")
        } catch {
            #expect(error.code.rawValue == code && error.place == place)
            #expect(!error.description.contains("a=1"))
        }
    }

    @Test("The size of capture messages is limited")
    func bounded() throws {
        let item = #"{"name":"a"}"#
        func change(_ count: Int) -> String {
            #""kind":"change","changed":[\#(Array(repeating: item, count: count).joined(separator: ","))]"#
        }
        _ = try message(change(64))
        #expect(throws: ScriptMessageError.self) { try message(change(65)) }
        _ = try message(#""kind":"cookie","line":"\#(String(repeating: "x", count: 65_536))""#)
        #expect(throws: ScriptMessageError.self) {
            try message(#""kind":"cookie","line":"\#(String(repeating: "x", count: 65_537))""#)
        }
        do throws(ScriptMessageError) {
            _ = try CaptureMessage(String(repeating: "[", count: 262_145))
            Issue.record("taken")
        } catch {
            #expect(error.code == .tooLarge)
        }
        #expect(throws: ScriptMessageError.self) { try CaptureMessage(String(repeating: "[", count: 262_144)) }
    }

    @Test("Randomly changed messages are accepted or rejected, never crash, and reach no HttpOnly cookie")
    func mutations() throws {
        var generator = SeededGenerator(seed: 11)
        let seeds = [
            #"{"crumb":"capture","kind":"cookie","url":"https://www.example.com/x","line":"sid=1; Path=/"}"#,
            #"{"crumb":"capture","kind":"change","url":"https://www.example.com/x","changed":[{"name":"sid","value":"1","path":"/","expires":1800000100000,"secure":true}],"deleted":[{"name":"sid","path":"/"}]}"#,
            #"{"crumb":"capture","kind":"response","url":"https://www.example.com/x","through":"xhr","response":null,"method":"GET","status":200,"redirected":false}"#,
        ]
        var taken = 0
        for _ in 0..<3000 {
            var bytes = Array((seeds.randomElement(using: &generator) ?? "").utf8)
            for _ in 0..<Int.random(in: 1...3, using: &generator) {
                let index = Int.random(in: 0..<bytes.count, using: &generator)
                switch Int.random(in: 0...2, using: &generator) {
                case 0: bytes[index] = UInt8.random(in: 0x20...0x7E, using: &generator)
                case 1: bytes.remove(at: index)
                default: bytes.insert(UInt8.random(in: 0...0xFF, using: &generator), at: index)
                }
            }
            guard let message = try? CaptureMessage(String(decoding: bytes, as: UTF8.self)) else { continue }
            taken += 1
            let store = try decisions(message, holding: ["sid=real; HttpOnly; Path=/"]).store
            #expect(store.cookies.contains { $0.name == "sid" && $0.value == "real" && $0.isHTTPOnly })
        }
        #expect(taken > 100)
    }
}
