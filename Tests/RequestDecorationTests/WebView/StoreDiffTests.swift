import CookieModel
import RequestDecoration
import SessionStore
import Testing

@Suite("A jar and a native store, compared")
struct StoreDiffTests {
    /// A cookie by its value; `nil` where there is none.
    private func cookies(_ value: String?, persistent: Bool = true) -> [Cookie] {
        value.map { value in
            [
                Cookie(
                    id: Cookie.ID(
                        name: "a", domain: WebHost(stored: "www.example.com"), isHostOnly: true, path: "/",
                        partitionKey: nil),
                    value: Octets(value), isSecure: true, isHTTPOnly: true, sameSite: .default,
                    expiry: persistent ? Page.now.advanced(bySeconds: 1000) : nil, creation: Page.now,
                    lastAccess: Page.now)
            ]
        } ?? []
    }

    private func natives(_ value: String?, persistent: Bool = true) throws -> [NativeCookie] {
        try cookies(value, persistent: persistent).map { try NativeCookie($0) }
    }

    private func describe(_ action: StoreDiff.Action) -> String {
        let change =
            switch action.change {
            case .takeIntoJar(let cookie): "take \(cookie.value)"
            case .putIntoNative(let cookie): "put \(cookie.value)"
            case .removeFromJar: "remove from jar"
            case .removeFromNative: "remove from native"
            }
        return "\(change): \(action.reason.rawValue)"
    }

    /// base of the jar, base of the native store ("-" for no cookie, "?" for no base), jar, native, and what to do.
    @Test(
        "A comparison with a native store has the changes of each side since the base",
        arguments: [
            // Nothing known.
            ("?", "?", "-", "-", nil), ("?", "?", "1", "1", nil), ("?", "?", "1", "-", "put 1: only-in-jar"),
            ("?", "?", "-", "1", "take 1: only-in-native"), ("?", "?", "1", "2", "take 2: preferred-side"),
            // A base that does not have the cookie.
            ("-", "-", "1", "-", "put 1: only-in-jar"), ("-", "-", "-", "1", "take 1: only-in-native"),
            ("-", "-", "1", "1", nil), ("-", "-", "1", "2", "take 2: preferred-side"),
            // Nobody changed it, even where the stores differ.
            ("1", "1", "1", "1", nil), ("1", "2", "1", "2", nil), ("1", "-", "1", "-", nil),
            // One side changed it.
            ("1", "1", "2", "1", "put 2: changed-in-jar"), ("1", "1", "1", "2", "take 2: changed-in-native"),
            ("1", "1", "-", "1", "remove from native: removed-from-jar"),
            ("1", "1", "1", "-", "remove from jar: removed-from-native"),
            // Both did.
            ("1", "1", "2", "2", nil), ("1", "1", "-", "-", nil), ("1", "1", "2", "3", "take 3: preferred-side"),
            ("1", "1", "-", "2", "take 2: preferred-side"), ("1", "1", "2", "-", "remove from jar: preferred-side"),
        ])
    func threeWay(baseJar: String, baseNative: String, jar: String, native: String, expected: String?) throws {
        func value(_ text: String) -> String? { text == "-" ? nil : text }
        let base =
            baseJar == "?"
            ? nil : StoreDiff.Base(jar: try natives(value(baseJar)), native: try natives(value(baseNative)))
        let diff = StoreDiff(base: base, jar: cookies(value(jar)), native: try natives(value(native)), now: Page.now)
        #expect(diff.actions.map(describe) == [expected].compactMap { $0 })
    }

    /// base, jar, native, the seconds when either wrote, who is preferred, and what to do.
    @Test(
        "If jar and native store both changed, the later write counts, or else the preferred side",
        arguments: [
            ("1", "2", "3", 10, 20, .jar, "take 3: later-write"),
            ("1", "2", "3", 20, 10, .native, "put 2: later-write"),
            ("1", "-", "3", 20, 10, .native, "remove from native: later-write"),
            ("1", "2", "-", 10, 20, .jar, "remove from jar: later-write"),
            ("1", "2", "3", 10, 10, .jar, "put 2: preferred-side"),
            ("1", "2", "3", 10, nil, .native, "take 3: preferred-side"),
            ("1", "2", "3", nil, 10, .jar, "put 2: preferred-side"),
            ("?", "2", "-", 10, 20, .jar, "remove from jar: later-write"),
            ("?", "2", "-", 20, 10, .native, "put 2: later-write"),
            ("?", "-", "3", 20, 10, .native, "remove from native: later-write"),
            ("?", "2", "3", 20, 10, .native, "put 2: later-write"),
        ] as [(String, String, String, Int64?, Int64?, StoreDiff.Side, String)])
    func conflicts(
        base: String, jar: String, native: String, jarWrite: Int64?, nativeWrite: Int64?, preferred: StoreDiff.Side,
        expected: String
    ) throws {
        func value(_ text: String) -> String? { text == "-" ? nil : text }
        let id = try #require(try natives("1").first?.id)
        var knowledge = StoreDiff.Knowledge()
        knowledge.jarWrites[id] = jarWrite.map { Timestamp(seconds: $0) }
        knowledge.nativeWrites[id] = nativeWrite.map { Timestamp(seconds: $0) }
        knowledge.preferredSide = preferred
        let known = base == "?" ? nil : StoreDiff.Base(jar: try natives(base), native: try natives(base))
        let diff = StoreDiff(
            base: known, jar: cookies(value(jar)), native: try natives(value(native)), knowledge: knowledge,
            now: Page.now)
        #expect(diff.actions.map(describe) == [expected])
        #expect(diff.actions.allSatisfy { $0.reason.isConflict })
        let winner: StoreDiff.Side = expected.hasPrefix("take") || expected.contains("from jar") ? .native : .jar
        #expect(diff.actions.map(\.winner) == [winner])
    }

    /// Seconds by which the native store's end is later than the jar's, whether there is a base, and what to do.
    @Test(
        "An expiry that the native store returns a second off is the same",
        arguments: [
            (1, false, nil), (-1, false, nil), (1, true, nil), (2, false, "take 1: preferred-side"),
            (-2, true, "take 1: changed-in-native"),
        ] as [(Int64, Bool, String?)])
    func roundedEnd(seconds: Int64, isKnown: Bool, expected: String?) throws {
        var natives = try natives("1")
        let base = isKnown ? StoreDiff.Base(jar: natives, native: natives) : nil
        natives[0].expiry = natives[0].expiry?.advanced(bySeconds: seconds)
        let diff = StoreDiff(base: base, jar: cookies("1"), native: natives, now: Page.now)
        #expect(diff.actions.map(describe) == [expected].compactMap { $0 })
        // What the jar changes is written, and the native store's cookie does not count as changed.
        let changed = StoreDiff(base: base, jar: cookies("2"), native: natives, now: Page.now)
        #expect(!isKnown || abs(seconds) > 1 || changed.actions.map(describe) == ["put 2: changed-in-jar"])
    }

    @Test("A restart loses the native store's session cookies, which were not removed")
    func restart() throws {
        let base = StoreDiff.Base(
            jar: try natives("1", persistent: false), native: try natives("1", persistent: false))
        var knowledge = StoreDiff.Knowledge()
        let jar = cookies("1", persistent: false)
        #expect(
            StoreDiff(base: base, jar: jar, native: [], knowledge: knowledge, now: Page.now).actions.map(describe)
                == ["remove from jar: removed-from-native"])
        knowledge.nativeSessionContinues = false
        #expect(
            StoreDiff(base: base, jar: jar, native: [], knowledge: knowledge, now: Page.now).actions.map(describe)
                == ["put 1: session-ended"])
        let lasting = StoreDiff.Base(jar: try natives("1"), native: try natives("1"))
        #expect(
            StoreDiff(base: lasting, jar: cookies("1"), native: [], knowledge: knowledge, now: Page.now).actions
                .map(describe) == ["remove from jar: removed-from-native"])
    }

    @Test("An expired cookie is not a change of jar or native store")
    func expired() throws {
        let base = StoreDiff.Base(jar: try natives("1"), native: try natives("1"))
        let later = Page.now.advanced(bySeconds: 2000)
        for (jar, native) in [(cookies("1"), [] as [NativeCookie]), ([], try natives("1")), ([], [])] {
            #expect(StoreDiff(base: base, jar: jar, native: native, now: later).actions.isEmpty)
        }
    }

    @Test("Cookies that no native store can hold are not compared, and listed")
    func omissions() {
        var cookie = cookies("1")[0]
        cookie.value = Octets([0xFF])
        let diff = StoreDiff(base: nil, jar: [cookie], native: [], now: Page.now)
        #expect(diff.actions.isEmpty && diff.omissions.map(\.obstacle) == [.octetsNotUTF8])
    }

    @Test("Cookies that differ in domain, host-only-flag or path are different ones")
    func identities() throws {
        let native = try natives("1").flatMap { cookie in
            [(".www.example.com", "/"), ("example.com", "/"), ("www.example.com", "/x")].map { domain, path in
                var copy = cookie
                (copy.domain, copy.path) = (domain, path)
                return copy
            }
        }
        let actions = StoreDiff(base: nil, jar: cookies("1"), native: native, now: Page.now).actions
        #expect(actions.map { describe($0).prefix(4) } == ["take", "take", "put ", "take"])
    }

    @Test("The jar applies its changes, under its rules")
    func apply() throws {
        let jar = try Page.jar()
        let page = RequestContext(url: try RequestURL("https://www.example.com/"))
        try jar.receive(
            ReceivedResponse(
                context: page,
                setCookie: [
                    "gone=1; HttpOnly; Secure; Path=/; Max-Age=500", "__Host-gone=1; Secure; Path=/",
                    "deep=1; Domain=example.com; Path=/x", "kept=1; SameSite=Strict; Path=/", "stays=1",
                ]), now: Page.now)
        let before = try jar.cookies().readable.map { try NativeCookie($0) }
        var native = before.filter { !["gone", "__Host-gone", "deep"].contains($0.name) }
        let index = try #require(native.firstIndex { $0.name == "kept" })
        native[index].value = "2"
        native[index].sameSite = .default
        native.append(NativeCookie(name: "new", value: "3", domain: ".example.com", isHTTPOnly: true))
        native.append(NativeCookie(name: "__Secure-bad", value: "4", domain: "www.example.com"))
        native.append(NativeCookie(name: "other", value: "5", domain: "not a host"))
        let diff = StoreDiff(
            base: StoreDiff.Base(jar: before, native: before), jar: try jar.cookies().readable, native: native,
            now: Page.now)
        let outcomes = try diff.apply(to: jar, now: Page.now)
        #expect(outcomes.count == 7)
        let rejected = outcomes.filter { $0.decision.outcome == .rejected }
        #expect(Set(rejected.compactMap { $0.decision.name?.description }) == ["__Secure-bad", "other"])
        let after = try jar.cookies().readable
        #expect(Set(after.map(\.name)) == ["kept", "stays", "new"])
        let kept = try #require(after.first { $0.name == "kept" })
        #expect(kept.value == "2" && kept.sameSite == .strict)
        #expect(after.first { $0.name == "new" }?.isHTTPOnly == true)
        #expect(after.first { $0.name == "new" }?.isHostOnly == false)
    }

    @Test("Witnesses of a gateway stay in the native store, whether they are known or not")
    func witnesses() throws {
        let witness = NativeCookie(name: "crumb-witness-01", value: "1", domain: "www.example.com", isHTTPOnly: true)
        for before in [nil, [], [witness]] {
            let base = before.map { StoreDiff.Base(jar: [], native: $0) }
            let diff = StoreDiff(base: base, jar: [], native: [witness], now: Page.now)
            #expect(diff.actions.isEmpty)
        }
        let gone = StoreDiff(base: StoreDiff.Base(jar: [], native: [witness]), jar: [], native: [], now: Page.now)
        #expect(gone.actions.isEmpty)
    }

    @Test(
        "Any cookie of a jar can be removed again",
        arguments: [
            "a=1", "a=1; Path=/a;b", "=nameless", "a=1; Domain=example.com; Path=/", "__Host-a=1; Secure; Path=/",
            "__Http-a=1; Secure; HttpOnly; Path=/", "a=1; Path=/\u{E9}", "a b=1", "a=1; Path=/%20/\"x\"",
            "a=1; Secure; Partitioned; Path=/",
        ])
    func removal(line: String) throws {
        for url in ["https://www.example.com/a;b/c", "http://127.0.0.1/x/y", "https://[::1]/"] {
            let jar = try Page.jar()
            let context = RequestContext(url: try RequestURL(url))
            let decisions = try jar.receive(
                ReceivedResponse(context: context, setCookie: [Octets(line)]), now: Page.now)
            guard decisions.first?.outcome == .stored else { continue }
            let held = try jar.cookies().readable.map {
                try NativeCookie($0, capabilities: [.namelessCookies, .partitions])
            }
            let diff = StoreDiff(
                base: StoreDiff.Base(jar: held, native: held), jar: try jar.cookies().readable, native: [],
                capabilities: [.namelessCookies, .partitions], now: Page.now)
            try diff.apply(to: jar, now: Page.now)
            #expect(try jar.cookies().readable.isEmpty, "\(line) of \(url)")
        }
    }

    @Test("A native store with partitions returns a partitioned cookie to the jar as one")
    func partitions() throws {
        let jar = try Page.jar()
        let partition = PartitionKey(topLevelSite: "https://top.example", hasCrossSiteAncestor: true)
        let native = NativeCookie(
            name: "a", value: "1", domain: "www.example.com", isSecure: true, partitionKey: partition)
        let diff = StoreDiff(base: nil, jar: [], native: [native], capabilities: .partitions, now: Page.now)
        #expect(try diff.apply(to: jar, now: Page.now).map(\.decision.outcome) == [.stored])
        #expect(try jar.cookies().readable.map(\.id.partitionKey) == [partition])
    }

    @Test("The journal has the times of a jar's writes, but not of expiries")
    func journal() throws {
        let jar = try Page.jar()
        let context = RequestContext(url: try RequestURL("https://www.example.com/"))
        try jar.receive(ReceivedResponse(context: context, setCookie: ["a=1", "b=1; Max-Age=1"]), now: Page.now)
        let later = Page.now.advanced(bySeconds: 10)
        try jar.receive(ReceivedResponse(context: context, setCookie: ["a=2"]), now: later)
        let writes = StoreDiff.writes(of: try jar.changes(after: 0).changes)
        let times = Dictionary(uniqueKeysWithValues: writes.map { ($0.key.name, $0.value) })
        #expect(times == ["a": later, "b": Page.now])
    }
}
