import PublicSuffix
import TestSupport
import Testing

@testable import CookieModel

@Suite("Cookies of one file that are twins")
struct CookieTwinsTests {
    private static let now = Timestamp(seconds: 1_000_000)
    /// What a cookie file leaves open.
    private static let unstated: CookieProperties = [.httpOnly, .sameSite, .partition]

    /// A line of a cookie file.
    private static func line(
        _ value: String = "secret", domain: String = "www.example.com", isHostOnly: Bool = true, path: String = "/",
        isHTTPOnly: Bool = false, name: String = "sid"
    ) -> CookieRecord {
        var record = CookieRecord(
            name: Octets(name), value: Octets(value), domain: domain, isHostOnly: isHostOnly, path: Octets(path),
            isSecure: true, isHTTPOnly: isHTTPOnly)
        record.unstated = unstated
        return record
    }

    /// Imports a file into a store, some lines at a time, as an import does.
    private static func store(
        after batches: [[CookieRecord]], over stored: [CookieRecord] = []
    ) -> CookieStore {
        var store = CookieStore()
        for record in stored { store.receive(record, now: now) }
        var twins = CookieTwins(publicSuffixes: .bundled)
        for batch in batches {
            twins.note(batch) { store[$0]?.cookies ?? [] }
            for record in batch {
                let decision = store.receive(twins.completed(record), now: now)
                if let id = decision.cookie?.id { twins.noteStored(record, as: id) }
            }
        }
        for site in twins.weakSites {
            for (record, _) in twins.mended(store[site]?.cookies ?? []) { store.receive(record, now: now) }
        }
        return store
    }

    private static func flags(_ store: CookieStore) -> [Cookie.ID: CookieProtection] {
        Dictionary(uniqueKeysWithValues: store.cookies.map { ($0.id, CookieRecord($0).protection) })
    }

    @Test("The most protective line counts for all its twins, in any order and any pieces")
    func table() {
        let stated = Self.line(isHTTPOnly: true)
        let rows: [(other: CookieRecord, isHTTPOnly: Bool)] = [
            (Self.line(isHostOnly: false), true),
            (Self.line("other", isHostOnly: false), true),
            (Self.line(path: "/app"), true),
            (Self.line(domain: "example.com", isHostOnly: false), true),
            (Self.line(domain: "api.example.com"), true),
            (Self.line("other", path: "/app"), false),
            (Self.line("other", domain: "api.example.com"), false),
            (Self.line(domain: "www.example.net"), false),
            (Self.line(name: "other"), false),
            (Self.line("", path: "/app"), false),
        ]
        for (other, isHTTPOnly) in rows {
            for lines in [[stated, other], [other, stated]] {
                for batches in [[lines], lines.map { [$0] }] {
                    let cookies = Self.store(after: batches).cookies.filter { $0.id.path == other.path }
                    let found = cookies.filter {
                        $0.isHostOnly == other.isHostOnly && $0.domain.description == other.domain
                            && $0.name == other.name
                    }
                    #expect(found.map(\.isHTTPOnly) == [isHTTPOnly], "\(other), \(batches.count)")
                }
            }
        }
    }

    @Test("Twins of twins are twins")
    func chain() {
        let lines = [
            Self.line("value-a", isHTTPOnly: true), Self.line("value-b", isHostOnly: false),
            Self.line("value-b", path: "/app"), Self.line("value-c", isHostOnly: false, path: "/app"),
            Self.line("value-d", path: "/other"),
        ]
        for batches in [[lines], [lines.reversed()], lines.map { [$0] }, lines.reversed().map { [$0] }] {
            let plain = Self.store(after: batches).cookies.filter { !$0.isHTTPOnly }
            #expect(plain.map(\.value) == ["value-d"])
        }
    }

    @Test(
        "A value that many cookies have makes no twins", arguments: [("1", false), ("light", false), ("f3a91c", true)])
    func shortValue(value: String, isHTTPOnly: Bool) {
        let lines = [Self.line(value, isHTTPOnly: true), Self.line(value, domain: "api.example.com")]
        #expect(Self.store(after: [lines]).cookies.map(\.isHTTPOnly).sorted { $0 && !$1 } == [true, isHTTPOnly])
    }

    @Test("The store's earlier cookies count; an identical one is left unchanged")
    func stored() throws {
        var session = Self.line(isHTTPOnly: true)
        session.sameSite = .strict
        let script = Self.line(isHostOnly: false)
        let moved = Self.store(after: [[Self.line(path: "/app")]], over: [session]).cookies
        #expect(moved.map(\.isHTTPOnly) == [true, true] && moved.map(\.sameSite) == [.strict, .strict])
        // A file of just what the store has changes nothing.
        var lines = [session, script]
        for _ in 0..<2 {
            let store = Self.store(after: [lines], over: [session, script])
            #expect(Self.flags(store) == Self.flags(Self.store(after: [], over: [session, script])))
            lines.reverse()
        }
        let renewed = Self.store(after: [[Self.line("new", path: "/app")]], over: [session]).cookies
        #expect(renewed.map(\.isHTTPOnly) == [false, true])
    }

    @Test("A format that states a flag is believed")
    func explicit() {
        var list = Self.line(isHostOnly: false)
        list.unstated = []
        let store = Self.store(after: [[list, Self.line(isHTTPOnly: true)]])
        #expect(Set(store.cookies.map(\.isHTTPOnly)) == [true, false])
    }

    @Test("Every order of a file's lines, in every pieces, gives the same flags", arguments: 0..<150)
    func permutations(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        func random(isStored: Bool) -> CookieRecord {
            var record = Self.line(
                ["secret-x", "secret-y"].randomElement(using: &generator) ?? "",
                domain: ["example.com", "www.example.com"].randomElement(using: &generator) ?? "",
                isHostOnly: .random(using: &generator),
                path: ["/", "/a"].randomElement(using: &generator) ?? "",
                isHTTPOnly: Int.random(in: 0..<3, using: &generator) == 0)
            guard isStored else { return record }
            record.unstated = []
            record.sameSite = [.default, .lax, .strict].randomElement(using: &generator) ?? .default
            return record
        }
        let stored = (0..<Int.random(in: 0...3, using: &generator)).map { _ in random(isStored: true) }
        let lines = (0..<4).map { _ in random(isStored: false) }
        let expected = Self.flags(Self.store(after: [lines], over: stored))
        let files = Self.permutations(of: lines).flatMap { order in
            [[order], [Array(order[..<2]), Array(order[2...])], order.map { [$0] }]
        }
        let different = files.first { Self.flags(Self.store(after: $0, over: stored)) != expected }
        let order = different?.map { $0.map { lines.firstIndex(of: $0) ?? -1 } }
        #expect(order == nil, "seed \(seed), lines in the order \(order ?? [])")
    }

    private static func permutations<Element>(of elements: [Element]) -> [[Element]] {
        guard let first = elements.first else { return [[]] }
        return permutations(of: Array(elements.dropFirst())).flatMap { rest in
            (0...rest.count).map { place in
                var order = rest
                order.insert(first, at: place)
                return order
            }
        }
    }

    @Test("Twice the lines take about twice the steps, and each site is asked for once", arguments: [false, true])
    func work(isOneGroup: Bool) {
        var previous: Int?
        for count in [2000, 4000, 8000] {
            var twins = CookieTwins(publicSuffixes: .bundled)
            var questions = 0
            let lines = (0..<count).map { number in
                // Each line has the path of the one before, or the value.
                isOneGroup
                    ? Self.line("value-\(number / 2)", path: "/\((number + 1) / 2)")
                    : Self.line("value-\(number)", path: "/\(number)")
            }
            var generator = SeededGenerator(seed: 1)
            twins.note(lines.shuffled(using: &generator)) { _ in
                questions += 1
                return []
            }
            #expect(questions == 1)
            if let previous { #expect(twins.stepCount <= previous * 5 / 2) }
            #expect(twins.stepCount <= 4 * count)
            previous = max(twins.stepCount, 1)
        }
    }
}
