import CookieModel
import Testing

@testable import SessionStore

@Suite("The changes of a jar as they come")
struct ChangeSequenceTests {
    @Test("A change sequence delivers earlier changes, and new ones of any process, in order and once")
    func arrives() async throws {
        let folder = TemporaryFolder()
        let jar = try Given.jar(folder.file("crumb.sqlite"))
        let other = try Given.jar(folder.file("crumb.sqlite"))
        try jar.receive("a=1")
        let reader = Task {
            var names: [String] = []
            for try await page in jar.changeSequence(after: 0, every: .milliseconds(1)) {
                #expect(!page.changes.isEmpty && !page.hasGap)
                names += page.changes.map(\.cookie.name.description)
                if names.count >= 5 { break }
            }
            return names
        }
        for (index, writer) in [other, jar, other, jar].enumerated() {
            try writer.receive("\(["b", "c", "d", "e"][index])=1")
            try await Task.sleep(for: .milliseconds(3))
        }
        #expect(try await reader.value == ["a", "b", "c", "d", "e"])
    }

    @Test("A change sequence tells a reader from another database that it has missed changes, and continues")
    func foreignPosition() async throws {
        let jar = try Given.jar()
        try jar.receive("a=1")
        var iterator = jar.changeSequence(after: 1000, every: .milliseconds(1)).makeAsyncIterator()
        #expect(try await iterator.next()?.hasGap == true)
        try jar.receive("b=1")
        #expect(try await iterator.next()?.changes.map(\.cookie.name) == ["b"])
    }

    @Test("Cancellation ends a change sequence")
    func cancelled() async throws {
        let jar = try Given.jar()
        let reader = Task {
            var count = 0
            for try await _ in jar.changeSequence(after: 0, every: .seconds(3600)) { count += 1 }
            return count
        }
        try await Task.sleep(for: .milliseconds(5))
        reader.cancel()
        #expect(try await reader.value == 0)
    }
}
