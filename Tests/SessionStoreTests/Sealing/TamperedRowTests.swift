import CookieModel
import Testing

@testable import SessionStore

@Suite("Tampered rows")
struct TamperedRowTests {
    struct Vandalism: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let sql: String
        var blob: [UInt8]?
        /// The cookies that cannot be read afterwards, under the names that they have then.
        let unreadable: [String]
    }

    private static let vandalism = [
        Vandalism(
            testDescription: "a value copied over another one",
            sql: "UPDATE cookie SET value = (SELECT value FROM cookie WHERE name = x'62') WHERE name = x'61'",
            unreadable: ["a"]),
        Vandalism(
            testDescription: "a new name", sql: "UPDATE cookie SET name = x'7A' WHERE name = x'61'", unreadable: ["z"]),
        Vandalism(
            testDescription: "a parent domain",
            sql: "UPDATE cookie SET domain = \(Given.octets("example.com")), host_only = 0 WHERE name = x'61'",
            unreadable: ["a"]),
        Vandalism(
            testDescription: "host-only no more", sql: "UPDATE cookie SET host_only = 0 WHERE name = x'61'",
            unreadable: ["a"]),
        Vandalism(
            testDescription: "Secure", sql: "UPDATE cookie SET secure = 1 WHERE name = x'61'", unreadable: ["a"]),
        Vandalism(
            testDescription: "HttpOnly", sql: "UPDATE cookie SET http_only = 1 WHERE name = x'61'", unreadable: ["a"]),
        Vandalism(
            testDescription: "another SameSite", sql: "UPDATE cookie SET same_site = 2 WHERE name = x'61'",
            unreadable: ["a"]),
        Vandalism(
            testDescription: "a longer life", sql: "UPDATE cookie SET expires_at = 4000000000000000 WHERE name = x'61'",
            unreadable: ["a"]),
        Vandalism(
            testDescription: "an earlier creation", sql: "UPDATE cookie SET created_at = 0 WHERE name = x'61'",
            unreadable: ["a"]),
        Vandalism(
            testDescription: "a value cut off",
            sql: "UPDATE cookie SET value = substr(value, 1, length(value) - 1) WHERE name = x'61'", unreadable: ["a"]),
        Vandalism(
            testDescription: "an empty value", sql: "UPDATE cookie SET value = x'' WHERE name = x'61'",
            unreadable: ["a"]),
        Vandalism(
            testDescription: "a value in the clear", sql: "UPDATE cookie SET value = x'31' WHERE name = x'61'",
            unreadable: ["a"]),
        Vandalism(
            testDescription: "megabytes of zeros",
            sql: "UPDATE cookie SET value = ? WHERE name = x'61'", blob: Array(repeating: 0, count: 3_000_000),
            unreadable: ["a"]),
    ]

    private func jar() throws -> CookieJar {
        let jar = try Given.jar()
        try jar.receive("a=1; Path=/", "b=2; Path=/", "c=3; Path=/")
        return jar
    }

    @Test("Only tampered cookies cannot be read", arguments: vandalism)
    func tampered(vandalism: Vandalism) throws {
        let jar = try jar()
        try jar.database.execute(vandalism.sql, vandalism.blob)
        let retrieval = try jar.retrieve(for: try Given.context(), now: Given.now)
        let excluded = retrieval.excluded
        #expect(excluded.map(\.cookie.name.description).sorted() == vandalism.unreadable)
        #expect(excluded.allSatisfy { $0.reasons == [.unreadable] && $0.cookie.value.isEmpty })
        let rest = ["a": "a=1", "b": "b=2", "c": "c=3"].filter { entry in
            !vandalism.unreadable.contains(entry.key) && !(entry.key == "a" && vandalism.unreadable == ["z"])
        }
        #expect(retrieval.cookieString.description == rest.values.sorted().joined(separator: "; "))
        let all = try jar.cookies()
        #expect(all.unreadable.map(\.name.description).sorted() == vandalism.unreadable)
        #expect(all.unreadable.allSatisfy { $0.value.isEmpty })
        #expect(all.readable.map(\.pair.description).sorted() == rest.values.sorted())
    }

    @Test("Two swapped values cannot be read")
    func swapped() throws {
        let jar = try jar()
        let (left, right) = try (
            jar.database.blob("SELECT value FROM cookie WHERE name = x'61'"),
            jar.database.blob("SELECT value FROM cookie WHERE name = x'62'")
        )
        try jar.database.execute("UPDATE cookie SET value = ? WHERE name = x'61'", right)
        try jar.database.execute("UPDATE cookie SET value = ? WHERE name = x'62'", left)
        #expect(try jar.header() == "c=3")
        #expect(try jar.cookies().unreadable.map(\.name) == ["a", "b"])
    }

    @Test("A row of another jar cannot be read in this one")
    func movedToAnotherJar() throws {
        let database = try Given.database()
        let jar = try database.jar(now: Given.now)
        let other = try database.jar(named: "other", now: Given.now)
        try jar.receive("a=1", "b=2")
        try database.execute("UPDATE cookie SET jar_id = \(other.id) WHERE name = x'61'")
        #expect(try jar.header() == "b=2")
        #expect(try other.header() == "")
        #expect(try other.cookies().unreadable.map(\.name) == ["a"])
    }

    @Test("A partitioned row cannot move to another partition")
    func movedToAnotherPartition() throws {
        let jar = try jar()
        try jar.receive("p=4; Secure; Path=/; Partitioned")
        #expect(try jar.header() == "a=1; b=2; c=3; p=4")
        try jar.database.execute("UPDATE cookie SET partition_key = '' WHERE name = x'70'")
        let retrieval = try jar.retrieve(for: try Given.context(), now: Given.now)
        #expect(retrieval.cookieString == "a=1; b=2; c=3")
        #expect(retrieval.excluded.map(\.cookie.name) == ["p"])
    }

    @Test("Every flipped bit of a value makes that cookie unreadable, and no other")
    func everyBit() throws {
        let jar = try jar()
        let sealed = try jar.database.blob("SELECT value FROM cookie WHERE name = x'61'")
        for bit in 0..<(sealed.count * 8) {
            var changed = sealed
            changed[bit / 8] ^= 1 << UInt8(bit % 8)
            try jar.database.execute("UPDATE cookie SET value = ? WHERE name = x'61'", changed)
            #expect(try jar.header() == "b=2; c=3", "bit \(bit)")
        }
        try jar.database.execute("UPDATE cookie SET value = ? WHERE name = x'61'", sealed)
        #expect(try jar.header() == "a=1; b=2; c=3")
    }

    @Test("The server's next line repairs an unreadable cookie, in its position")
    func mended() throws {
        let jar = try jar()
        try jar.database.execute("UPDATE cookie SET value = x'00' WHERE name = x'61'")
        let decisions = try jar.receive("a=new; Path=/", now: Given.now.advanced(bySeconds: 5))
        #expect(decisions.map(\.outcome) == [.replaced])
        #expect(decisions.first?.cookie?.creation == Given.now)
        #expect(try jar.header() == "a=new; b=2; c=3")
    }

    @Test("A server can delete unreadable cookies")
    func deleted() throws {
        let jar = try jar()
        try jar.database.execute("UPDATE cookie SET value = x'00' WHERE name = x'61'")
        #expect(try jar.receive("a=; Path=/; Max-Age=0").map(\.outcome) == [.deleted])
        #expect(try jar.cookies().unreadable.isEmpty)
        #expect(try jar.header() == "b=2; c=3")
    }
}
