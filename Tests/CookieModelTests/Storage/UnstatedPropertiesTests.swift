import Testing

@testable import CookieModel

@Suite("Properties that another program's store does not state")
struct UnstatedPropertiesTests {
    private static let partition = PartitionKey(topLevelSite: "https://example.com", hasCrossSiteAncestor: false)
    private static let foreign = PartitionKey(topLevelSite: "https://top.example", hasCrossSiteAncestor: false)

    /// What the stored cookie has, what the record says, and what is left of the stored cookie.
    struct Row: Sendable, CustomTestStringConvertible {
        let unstated: CookieProperties
        var stored: @Sendable (inout CookieRecord) -> Void = { _ in }
        var record: @Sendable (inout CookieRecord) -> Void = { _ in }
        let expected: @Sendable (inout CookieRecord) -> Void
        let kept: CookieProperties
        let testDescription: String
    }

    private static let rows: [Row] = [
        Row(
            unstated: .httpOnly, stored: { $0.isHTTPOnly = true }, expected: { $0.isHTTPOnly = true }, kept: .httpOnly,
            testDescription: "HttpOnly stays"),
        Row(
            unstated: [], stored: { $0.isHTTPOnly = true }, expected: { _ in }, kept: [],
            testDescription: "a format that states HttpOnly clears it"),
        Row(
            unstated: .httpOnly, record: { $0.isHTTPOnly = true }, expected: { $0.isHTTPOnly = true }, kept: [],
            testDescription: "a format that may state HttpOnly sets it"),
        Row(
            unstated: .httpOnly, stored: { $0.isHTTPOnly = true }, record: { $0.value = "rotated" },
            expected: {
                $0.isHTTPOnly = true
                $0.value = "rotated"
            }, kept: .httpOnly, testDescription: "another value keeps the flag"),
        Row(
            unstated: .sameSite, stored: { $0.sameSite = .strict }, expected: { $0.sameSite = .strict },
            kept: .sameSite, testDescription: "SameSite stays"),
        Row(
            unstated: .sameSite, stored: { $0.sameSite = .strict }, record: { $0.sameSite = .lax },
            expected: { $0.sameSite = .lax }, kept: [], testDescription: "SameSite that is stated counts"),
        Row(
            unstated: .sameSite, stored: { $0.sameSite = .none }, record: { $0.isSecure = false },
            expected: { $0.isSecure = false }, kept: [], testDescription: "SameSite=None goes with Secure"),
        Row(
            unstated: .noSameSite, record: { $0.sameSite = .none }, expected: { _ in }, kept: .sameSite,
            testDescription: "no SameSite attribute does not become None"),
        Row(
            unstated: .secure, record: { $0.isSecure = false }, expected: { _ in }, kept: .secure,
            testDescription: "Secure stays"),
        Row(
            unstated: .hostOnly, record: { $0.isHostOnly = false }, expected: { _ in }, kept: .hostOnly,
            testDescription: "host-only stays"),
        Row(
            unstated: .partition, stored: { $0.partitionKey = partition }, expected: { $0.partitionKey = partition },
            kept: .partition, testDescription: "the partition of its own site stays"),
        Row(
            unstated: .exactExpiry, stored: { $0.expiry = Timestamp(microseconds: 2_000_000_123_456) },
            record: { $0.expiry = Timestamp(microseconds: 2_000_000_000_000) },
            expected: { $0.expiry = Timestamp(microseconds: 2_000_000_123_456) }, kept: .exactExpiry,
            testDescription: "the exact end of the lifetime stays"),
        Row(
            unstated: .exactExpiry, stored: { $0.expiry = Timestamp(microseconds: 2_000_000_123_456) },
            record: { $0.expiry = Timestamp(microseconds: 2_000_001_000_000) },
            expected: { $0.expiry = Timestamp(microseconds: 2_000_001_000_000) }, kept: [],
            testDescription: "another end of the lifetime counts"),
    ]

    private static var base: CookieRecord {
        CookieRecord(name: "sid", value: "1", domain: "example.com", isHostOnly: true, isSecure: true)
    }

    @Test("A property that a format cannot state keeps its stored value", arguments: rows)
    func table(row: Row) throws {
        let now = Timestamp(seconds: 1_000_000)
        var (stored, record, expected) = (Self.base, Self.base, Self.base)
        row.stored(&stored)
        row.record(&record)
        row.expected(&expected)
        record.unstated = row.unstated
        var store = CookieStore()
        #expect(store.receive(stored, now: now).outcome == .stored)
        let decision = store.receive(record, now: now)
        #expect(decision.outcome == .replaced && decision.kept == row.kept)
        var found = try #require(store.cookies.count == 1 ? store.cookies.first.map { CookieRecord($0) } : nil)
        found.creation = nil
        found.lastAccess = nil
        #expect(found == expected)
    }

    @Test(
        "A cookie that differs only in a stated host-only flag takes unstated properties from its twin",
        arguments: [true, false], ["1", "2"])
    func twin(isHostOnly: Bool, value: String) throws {
        let now = Timestamp(seconds: 1_000_000)
        let rows: [(change: (inout CookieRecord) -> Void, kept: CookieProperties)] = [
            ({ _ in }, [.httpOnly, .sameSite]),
            ({ $0.unstated = [] }, []),
            ({ $0.unstated = .sameSite }, .sameSite),
            ({ $0.sameSite = .lax }, .httpOnly),
            ({ $0.path = "/other" }, []),
            ({ $0.domain = "www.example.com" }, []),
            ({ $0.name = "other" }, []),
        ]
        for (change, kept) in rows {
            var stored = Self.base
            stored.isHostOnly = isHostOnly
            stored.isHTTPOnly = true
            stored.sameSite = .strict
            var store = CookieStore()
            store.receive(stored, now: now)
            var record = Self.base
            record.isHostOnly = !isHostOnly
            record.value = Octets(value)
            record.unstated = [.httpOnly, .sameSite]
            change(&record)
            let decision = store.receive(record, now: now)
            #expect(decision.outcome == .stored && decision.kept == kept && store.count == 2)
            let cookie = try #require(decision.cookie)
            #expect(cookie.isHostOnly == !isHostOnly && cookie.isHTTPOnly == kept.contains(.httpOnly))
            #expect(kept.contains(.sameSite) ? cookie.sameSite == .strict : cookie.sameSite == record.sameSite)
        }
    }

    @Test("A cookie of another site's partition is another cookie")
    func foreignPartition() {
        var store = CookieStore()
        var stored = Self.base
        stored.partitionKey = Self.foreign
        store.receive(stored, now: Timestamp(seconds: 1))
        var record = Self.base
        record.unstated = [.partition, .hostOnly]
        #expect(store.receive(record, now: Timestamp(seconds: 1)).outcome == .stored)
        #expect(store.count == 2)
    }

    @Test("A cookie with the same identity comes before one that differs in unstated properties")
    func sameIdentityFirst() {
        var store = CookieStore()
        var partitioned = Self.base
        partitioned.partitionKey = Self.partition
        partitioned.isHTTPOnly = true
        store.receive(partitioned, now: Timestamp(seconds: 1))
        store.receive(Self.base, now: Timestamp(seconds: 1))
        var record = Self.base
        record.value = "2"
        record.unstated = [.partition, .httpOnly]
        let decision = store.receive(record, now: Timestamp(seconds: 1))
        #expect(decision.cookie?.id.partitionKey == nil && decision.kept == [] && store.count == 2)
    }

    @Test("An expired cookie in a file deletes its stored counterpart")
    func expired() {
        var store = CookieStore()
        var stored = Self.base
        stored.partitionKey = Self.partition
        store.receive(stored, now: Timestamp(seconds: 10))
        var record = Self.base
        record.expiry = Timestamp(seconds: 5)
        record.unstated = .partition
        #expect(store.receive(record, now: Timestamp(seconds: 10)).outcome == .deleted)
        #expect(store.count == 0)
    }
}
