import CookieModel
import Foundation
import SQLiteEngine
import Synchronization
import Testing

@testable import SessionStore

@Suite("A database that is deleted or replaced while it is open")
struct MovedFileTests {
    private let folder = TemporaryFolder()
    private var path: String { folder.file("crumb.sqlite") }
    private let rest = Rest()

    /// Time that passes when a test says so, beside the system's.
    final class Rest: Sendable {
        private let lead = Atomic<Int64>(0)

        var clock: FilePlaces.Clock { FilePlaces.Clock { [self] in lead.load(ordering: .relaxed) } }

        func pass(_ seconds: Double) { lead.add(Int64(seconds * 1e9), ordering: .relaxed) }
    }

    /// What may happen to the file behind the back of a process.
    enum Accident: CaseIterable {
        case deleted, deletedWithItsLog, moved, replaced, replacedWithItsLog

        func happen(in folder: TemporaryFolder) throws {
            let files = FileManager.default
            let path = folder.file("crumb.sqlite")
            switch self {
            case .deleted: try files.removeItem(atPath: path)
            case .moved: try files.moveItem(atPath: path, toPath: folder.file("elsewhere.sqlite"))
            case .deletedWithItsLog:
                for suffix in ["", "-wal", "-shm"] { try files.removeItem(atPath: path + suffix) }
            case .replaced, .replacedWithItsLog:
                do { try Given.jar(folder.file("other.sqlite")).receive("other=1; Path=/") }
                try files.removeItem(atPath: path)
                if self == .replacedWithItsLog {
                    for suffix in ["-wal", "-shm"] { try files.removeItem(atPath: path + suffix) }
                }
                try files.moveItem(atPath: folder.file("other.sqlite"), toPath: path)
            }
        }
    }

    @Test(
        "Reads and writes fail if the database file was moved, even if the answer is in memory",
        arguments: Accident.allCases, [(0, 0), (3, 0), (3, 0.06)])
    func noticed(accident: Accident, readings: (count: Int, restBefore: Double)) throws {
        let database = try Given.database(path, fileClock: rest.clock)
        let jar = try database.jar(now: Given.now)
        try jar.receive("a=1; Path=/; Max-Age=100000")
        // After a while in which nothing happened, the path is not walked for each.
        rest.pass(readings.restBefore)
        for _ in 0..<readings.count {
            #expect(try jar.header() == "a=1")
            #expect(try database.existingJar(named: "default")?.loginRuleDefinitions().isEmpty == true)
        }
        try accident.happen(in: folder)
        let later = Given.now.advanced(bySeconds: 7200)
        let attempts: [() throws -> Void] = [
            { _ = try jar.header() }, { _ = try jar.cookieString(for: Given.context(), now: Given.now) },
            { try jar.receive("b=2; Path=/") }, { _ = try jar.header(now: later) }, { _ = try jar.cookies() },
            { _ = try database.jar(named: "new", now: Given.now) }, { _ = try database.tokens.all() },
            { _ = try database.existingJar(named: "default")?.header() },
            { _ = try database.existingJar(named: "default")?.loginRuleDefinitions() },
            { _ = try jar.changes(after: 0) },
        ]
        for attempt in attempts {
            let error = #expect(throws: SessionStoreError.self) { try attempt() }
            #expect(error?.code == .databaseUnavailable && error?.subject == path)
            #expect(error?.description.contains("deleted or replaced while it was in use") == true)
        }
    }

    @Test("A new file at the path of an open database is not changed, and can be opened")
    func replacement() throws {
        let jar = try Given.jar(path)
        try jar.receive("a=1; Path=/")
        try Accident.replacedWithItsLog.happen(in: folder)
        let before = try folder.bytes("crumb.sqlite")
        #expect(errorCode { try jar.receive("b=2; Path=/") } == .databaseUnavailable)
        #expect(try folder.bytes("crumb.sqlite") == before)
        #expect(try Given.jar(path).header() == "other=1")
        try Given.jar(path).receive("c=3; Path=/")
        #expect(try Given.jar(path).header() == "other=1; c=3")
    }

    @Test("Closing the old file does not harm the new one that another process has open")
    func closing() throws {
        var old: CookieJar? = try Given.jar(path)
        try old?.receive("a=1; Path=/")
        try Accident.deletedWithItsLog.happen(in: folder)
        let new = try Given.jar(path)
        try new.receive("b=2; Path=/")
        old = nil
        try new.receive("c=3; Path=/")
        #expect(try Given.jar(path).header() == "b=2; c=3")
        #expect(try new.database.number("SELECT count(*) FROM cookie") == 2)
    }

    @Test(
        "A log that was deleted, moved or replaced under a writer is an error before the write is acknowledged",
        arguments: [false, true], [false, true])
    func log(isKept: Bool, isReplaced: Bool) throws {
        let jar = try Given.jar(path)
        try jar.receive("a=1; Path=/")
        if isKept {
            try FileManager.default.moveItem(atPath: path + "-wal", toPath: folder.file("elsewhere"))
        } else {
            try FileManager.default.removeItem(atPath: path + "-wal")
        }
        if isReplaced { try folder.write([], to: "crumb.sqlite-wal") }
        #expect(errorCode { try jar.receive("b=2; Path=/") } == .databaseUnavailable)
        #expect(errorCode { _ = try jar.header() } == .databaseUnavailable)
    }

    @Test(
        "Moving the whole folder of an open database is an error before the write is acknowledged",
        arguments: [0, 0.06])
    func folderMoved(restBefore: Double) throws {
        let inner = folder.file("inner")
        try FileManager.default.createDirectory(atPath: inner, withIntermediateDirectories: false)
        let jar = try Given.database(inner + "/crumb.sqlite", fileClock: rest.clock).jar(now: Given.now)
        try jar.receive("a=1; Path=/")
        rest.pass(restBefore)
        for _ in 0..<3 { #expect(try jar.header() == "a=1") }
        try FileManager.default.moveItem(atPath: inner, toPath: folder.file("elsewhere"))
        #expect(errorCode { _ = try jar.header() } == .databaseUnavailable)
        #expect(errorCode { try jar.receive("b=2; Path=/") } == .databaseUnavailable)
    }

    @Test("Moving a folder further up is noticed after a short time")
    func ancestorMoved() throws {
        let outer = folder.file("outer")
        try FileManager.default.createDirectory(atPath: outer + "/inner", withIntermediateDirectories: true)
        let jar = try Given.database(outer + "/inner/crumb.sqlite", fileClock: rest.clock).jar(now: Given.now)
        try jar.receive("a=1; Path=/")
        rest.pass(0.06)
        #expect(try jar.header() == "a=1")
        try FileManager.default.moveItem(atPath: outer, toPath: folder.file("elsewhere"))
        rest.pass(0.11)
        #expect(errorCode { _ = try jar.header() } == .databaseUnavailable)
        #expect(errorCode { try jar.receive("b=2; Path=/") } == .databaseUnavailable)
    }

    @Test("Other files in the folder may come and go, and a moved database may come back")
    func nothingElse() throws {
        let jar = try Given.database(path, fileClock: rest.clock).jar(now: Given.now)
        try jar.receive("a=1; Path=/")
        for round in 0..<8 {
            rest.pass(round < 4 ? 0 : 0.06)
            try folder.write([], to: "other")
            #expect(try jar.header() == "a=1")
            try FileManager.default.removeItem(atPath: folder.file("other"))
            #expect(try jar.header() == "a=1")
        }
        try FileManager.default.moveItem(atPath: path, toPath: folder.file("elsewhere.sqlite"))
        #expect(errorCode { _ = try jar.header() } == .databaseUnavailable)
        try FileManager.default.moveItem(atPath: folder.file("elsewhere.sqlite"), toPath: path)
        try jar.receive("b=2; Path=/")
        #expect(try jar.header() == "a=1; b=2")
    }

    @Test("All writers that share a commit get the error of a moved file")
    func group() throws {
        let jar = try Given.jar(path)
        try jar.receive("a=1; Path=/")
        try Accident.deleted.happen(in: folder)
        let codes = try onThreads(8) { index in errorCode { try jar.receive("c\(index)=1; Path=/") } }
        #expect(codes == Array(repeating: .databaseUnavailable, count: 8))
    }

    @Test("A database in memory has no file to lose, and one in another folder is found from any folder")
    func nothingMoved() throws {
        let memory = try Given.jar()
        try memory.receive("a=1; Path=/")
        #expect(try memory.header() == "a=1")
        try FileManager.default.createSymbolicLink(
            atPath: folder.file("link"), withDestinationPath: folder.file("crumb.sqlite"))
        _ = try Given.database(path)
        let linked = try Given.jar(folder.file("link"))
        try linked.receive("b=2; Path=/")
        #expect(try linked.header() == "b=2")
    }
}
