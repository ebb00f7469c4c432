import CookieModel
import Testing

@testable import SessionStore

@Suite("A follower of a name is told if another jar takes it")
struct FormerJarTests {
    /// How a jar comes to a name that another one had.
    enum Way: CaseIterable {
        case madeAfterRemoval, madeAfterRenaming, renamedAfterRemoval, copiedAfterRemoval

        func succeed(_ name: String, in database: SessionDatabase) throws {
            if self == .madeAfterRenaming {
                try database.renameJar(named: name, to: "elsewhere")
            } else {
                try database.removeJar(named: name)
            }
            switch self {
            case .madeAfterRemoval, .madeAfterRenaming: try database.createJar(named: name, now: Given.now)
            case .renamedAfterRemoval: try database.renameJar(named: "other", to: name)
            case .copiedAfterRemoval: try database.copyJar(named: "other", to: name, now: Given.now)
            }
        }
    }

    private func names(_ page: ChangePage) -> [String] {
        page.changes.map { String(decoding: $0.cookie.name, as: UTF8.self) }
    }

    @Test(
        "A follower at any position learns that another jar has taken the name, even if as much was written since",
        arguments: Way.allCases, [1, 2, 3])
    func readers(way: Way, position: Int64) throws {
        let database = try Given.database()
        try database.createJar(named: "other", now: Given.now).receive("o=1; Path=/")
        let former = try database.createJar(named: "followed", now: Given.now)
        try former.receive("a=1; Path=/", "b=1; Path=/", "c=1; Path=/")
        #expect(try !former.changes(after: position).hasGap)
        try way.succeed("followed", in: database)
        let jar = try #require(try database.existingJar(named: "followed"))
        let page = try jar.changes(after: position)
        #expect(page.hasGap && page.position >= 3)
        #expect(try !jar.changes(after: page.position).hasGap)
        try jar.receive("d=1; Path=/", "e=1; Path=/", "f=1; Path=/", "g=1; Path=/")
        #expect(try jar.changes(after: position).hasGap)
        let next = try jar.changes(after: page.position)
        #expect(!next.hasGap && names(next) == ["d", "e", "f", "g"])
    }

    @Test("A follower from the beginning of a jar's journal has missed nothing", arguments: Way.allCases)
    func beginners(way: Way) throws {
        let database = try Given.database()
        try database.createJar(named: "other", now: Given.now).receive("o=1; Path=/")
        try database.createJar(named: "followed", now: Given.now).receive("a=1; Path=/")
        try way.succeed("followed", in: database)
        let jar = try #require(try database.existingJar(named: "followed"))
        try jar.receive("d=1; Path=/")
        let page = try jar.changes(after: 0)
        let before = way == .renamedAfterRemoval || way == .copiedAfterRemoval ? ["o"] : []
        #expect(!page.hasGap && names(page) == before + ["d"])
    }

    @Test("The journal of a jar with a new name counts from 1")
    func first() throws {
        let database = try Given.database()
        for name in ["a", "b"] {
            let jar = try database.createJar(named: name, now: Given.now)
            try jar.receive("a=1; Path=/")
            #expect(try jar.changes(after: 0).changes.map(\.position) == [1])
        }
    }

    @Test("A removed jar has no journal")
    func removed() async throws {
        let database = try Given.database()
        let jar = try database.createJar(named: "gone", now: Given.now)
        try jar.receive("a=1; Path=/")
        try await database.removeJar(named: "gone")
        #expect(errorCode { _ = try jar.changes(after: 0) } == .jarNotFound)
        #expect(errorCode { _ = try jar.latestChange() } == .jarNotFound)
        var changes = jar.changeSequence(after: 1).makeAsyncIterator()
        await #expect(throws: SessionStoreError.self) { _ = try await changes.next() }
        try database.createJar(named: "gone", now: Given.now)
        #expect(errorCode { _ = try jar.changes(after: 1) } == .jarNotFound)
    }
}
