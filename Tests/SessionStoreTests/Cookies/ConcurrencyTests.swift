import CookieModel
import Foundation
import Testing

@testable import SessionStore

@Suite("Many writers")
struct ConcurrencyTests {
    private let folder = TemporaryFolder()
    private var path: String { folder.file("crumb.sqlite") }

    @Test("Cookies that many connections set at once are all stored, each once", arguments: [2, 8])
    func distinct(connections: Int) throws {
        let path = path
        let rounds = 176 / connections
        _ = try onThreads(connections) { index in
            let jar = try Given.database(path, busyTimeout: 120).jar(now: Given.now)
            for round in 0..<rounds { try jar.receive("c\(index)-\(round)=1; Path=/") }
        }
        let jar = try Given.jar(path)
        let cookies = try jar.cookies().readable
        #expect(cookies.count == connections * rounds)
        #expect(Set(cookies.map(\.sequence)).count == cookies.count)
        // Each writer's own cookies stand in the order in which it set them.
        let header = try jar.header().components(separatedBy: "; ")
        for index in 0..<connections {
            #expect(
                header.filter { $0.hasPrefix("c\(index)-") } == (0..<rounds).map { "c\(index)-\($0)=1" })
        }
    }

    @Test("Of many connections that set the same cookie, one creates it and the others replace it")
    func same() throws {
        let path = path
        let outcomes = try onThreads(6) { index in
            let jar = try Given.database(path, busyTimeout: 120).jar(now: Given.now)
            return try (0..<40).map { round in
                try jar.receive("same=\(index)-\(round)", now: Given.now.advanced(bySeconds: Int64(round)))[0]
            }
        }.flatMap { $0 }
        #expect(outcomes.filter { $0.outcome == .stored }.count == 1)
        #expect(outcomes.filter { $0.outcome == .replaced }.count == 239)
        let creations = Set(outcomes.compactMap(\.cookie?.creation))
        #expect(creations.count == 1)
        #expect(try Given.jar(path).cookies().readable.map(\.creation) == Array(creations))
    }

    @Test("If many connections set and delete a cookie in turn, every deletion finds the stored cookie")
    func setAndDelete() throws {
        let path = path
        let outcomes = try onThreads(4) { index in
            let jar = try Given.database(path, busyTimeout: 120).jar(now: Given.now)
            return try (0..<60).flatMap { round in
                try jar.receive("x=1", "x=; Max-Age=0", "own\(index)=\(round); Path=/")
            }
        }.flatMap { $0 }
        let deletions = outcomes.filter { $0.outcome == .deleted }
        #expect(deletions.count == 240 && deletions.allSatisfy { $0.previous != nil })
        #expect(try Given.jar(path).cookies().readable.count == 4)
        #expect(
            Set(try Given.jar(path).cookies().readable.map(\.pair.description)) == Set((0..<4).map { "own\($0)=59" }))
    }

    @Test("Many threads can share one database object")
    func sharedObject() throws {
        let jar = try Given.jar(path)
        let headers = try onThreads(8) { index in
            for round in 0..<40 { try jar.receive("c\(index)=\(round); Path=/") }
            return try jar.header()
        }
        #expect(headers.count == 8)
        #expect(try jar.cookies().readable.allSatisfy { $0.value == "39" })
        #expect(try jar.cookies().readable.count == 8)
    }

    @Test("Readers see only whole responses while others write")
    func wholeResponses() throws {
        let path = path
        _ = try Given.jar(path).receive("a=0; Path=/", "b=0; Path=/")
        let torn = try onThreads(4) { index -> Int in
            let jar = try Given.database(path, busyTimeout: 120).jar(now: Given.now)
            var torn = 0
            for round in 0..<150 {
                if index == 0 {
                    try jar.receive("a=\(round); Path=/", "b=\(round); Path=/")
                } else {
                    let values = try jar.retrieve(for: try Given.context(), now: Given.now).included.map(\.value)
                    if values.count != 2 || values[0] != values[1] { torn += 1 }
                }
            }
            return torn
        }
        #expect(torn == [0, 0, 0, 0])
    }
}
