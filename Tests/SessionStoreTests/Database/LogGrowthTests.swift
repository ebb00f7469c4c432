import CookieModel
import Testing

@testable import SessionStore

/// What a transaction writes is counted in frames of the write-ahead log: a page each, with 24 octets in front.
@Suite("Growth of the write-ahead log")
struct LogGrowthTests {
    private static let frame = 4096 + 24
    private static let responses = 1000

    private let folder = TemporaryFolder()

    /// The cookies of 100 sites, in an order that looks like none.
    private func responses(of jar: CookieJar, _ line: (Int) -> String) throws -> Int {
        let before = try folder.bytes("crumb.sqlite-wal").count
        for number in 0..<LogGrowthTests.responses {
            let place = number * 7919 % LogGrowthTests.responses
            try jar.receive(line(place), from: "https://www.site\(place % 100).example/")
        }
        return (try folder.bytes("crumb.sqlite-wal").count - before) / LogGrowthTests.frame
    }

    @Test(
        "A response that replaces a cookie writes the cookie's page, the journal's last page, and little else to the log"
    )
    func replacing() throws {
        let jar = try Given.jar(folder.file("crumb.sqlite"))
        _ = try responses(of: jar) { "name\($0)=first; Path=/; Max-Age=10000" }
        _ = try jar.database.emptyLog()
        let frames = try responses(of: jar) { "name\($0)=other; Path=/; Max-Age=10000" }
        #expect(frames >= 2 * LogGrowthTests.responses)
        #expect(frames * 100 <= 215 * LogGrowthTests.responses, "\(frames) frames")
    }

    @Test("A new cookie's journal entry costs one page, whatever the cost of the cookie's own")
    func adding() throws {
        let jar = try Given.jar(folder.file("crumb.sqlite"))
        let frames = try responses(of: jar) { "name\($0)=first; Path=/; Max-Age=10000" }
        #expect(frames * 100 <= 305 * LogGrowthTests.responses, "\(frames) frames")
    }
}
