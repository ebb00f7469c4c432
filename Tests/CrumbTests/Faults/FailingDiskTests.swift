import CookieModel
import Foundation
import TestSupport
import Testing

@testable import SessionStore

@Suite(
    "A disk that fails at the Nth change, for every N of an import",
    .enabled(if: FailingDisk.library != nil, "this needs Linux and a C compiler"))
struct FailingDiskTests {
    /// The one beside the tests, which loads its libraries; nothing can be loaded before those of a static one.
    private static let program = RunningProcess.built("crumb")

    private let home = CrumbHome()
    private let before = Set((0..<20).map { "old\($0)" })
    private let after = Set((0..<30).map { "new\($0)" } + (10..<20).map { "old\($0)" })

    /// An import that adds, replaces and deletes, so that half of it would show.
    private func captures() throws -> (old: String, new: String) {
        let old = try home.write(Capture.har(cookies: 20, named: "old"), to: "old.har")
        let lines = (0..<10).map { "old\($0)=; Path=/; Max-Age=0" } + (10..<20).map { "old\($0)=changed; Path=/" }
        let entries = (0..<30).map { "new\($0)=\(String(repeating: "v", count: 300)); Path=/" } + lines
        let new = try home.write(
            Capture.har(entries.map { Capture.entry("https://many.example/", [$0]) }), to: "new.har")
        return (old, new)
    }

    /// The names of the cookies in a folder's database, which must be whole and take a further write.
    private func names(_ folder: String, _ comment: Comment) throws -> Set<String> {
        let now = Timestamp(seconds: Int64(Date().timeIntervalSince1970))
        let database = try SessionDatabase(
            path: "\(folder)/crumb.sqlite", keys: .file("\(folder)/key"), now: now)
        try #require(try database.integrity() == "ok", comment)
        let jar = try database.jar(now: now)
        let (cookies, unreadable) = try jar.cookies()
        try #require(unreadable.isEmpty, comment)
        let context = RequestContext(url: try RequestURL("https://next.example/"))
        try jar.receive(ReceivedResponse(context: context, setCookie: ["next=1", "next=; Max-Age=0"]), now: now)
        return Set(cookies.map(\.name.description))
    }

    private func variables(_ folder: String) -> [String: String?] {
        ["CRUMB_DATABASE": "\(folder)/crumb.sqlite", "CRUMB_KEY_FILE": "\(folder)/key"]
    }

    /// Imports with a fault at each change in turn, in a new folder each time, and looks at what is left.
    ///
    /// - Returns: how many changes the import makes.
    private func walk(_ fault: FailingDisk.Fault, from template: String?) throws -> Int {
        let disk = try #require(FailingDisk.library)
        let captures = try captures()
        let had = template == nil ? [] : before
        for count in 1... {
            let comment: Comment = "\(fault) at change \(count)"
            let folder = home.file("walk-\(fault)-\(count)")
            if let template {
                try FileManager.default.copyItem(atPath: template, toPath: folder)
            } else {
                try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
            }
            defer { try? FileManager.default.removeItem(atPath: folder) }
            let mark = home.file("mark-\(fault)-\(count)")
            let faulty = variables(folder).merging(disk.variables(fault, at: count, below: folder, mark: mark)) { $1 }
            let result = try home.start(["import", captures.new], of: Self.program, variables: faulty).wait()
            let hasFailed = FileManager.default.fileExists(atPath: mark)
            if fault == .kills {
                try #require(result.status == (hasFailed ? -SIGKILL : 0), "\(comment): \(result.messages)")
            } else if result.status != 0 {
                try #require(
                    hasFailed && [22, 23, 24, 27, 32].contains(result.status), "\(comment): \(result.messages)")
                try #require(result.messages.hasPrefix("crumb: \(folder)/"), "\(comment): \(result.messages)")
                try #require(result.messages.split(separator: "\n").count == 1 && result.output.isEmpty, comment)
            }
            let left = try names(folder, comment)
            switch result.status {
            case 0: try #require(left == after, comment)
            case -SIGKILL: try #require(left == had || left == after, comment)
            default: try #require(left == had, "\(comment): \(result.messages)")
            }
            // Whatever it was, the next import finds everything in order: the command's own where there is time for it.
            if count % 5 == 0 || !hasFailed {
                let next = try home.crumb("import", captures.new, variables: variables(folder))
                try #require(next.status == 0, "\(comment), and then \(next.messages)")
                try #require(try names(folder, comment) == after, comment)
            }
            if !hasFailed { return count - 1 }
        }
        return 0
    }

    @Test("Into a new database: an error or the whole of it", arguments: FailingDisk.Fault.allCases)
    func new(fault: FailingDisk.Fault) throws {
        // Fewer would mean that the faults miss the files.
        #expect(try walk(fault, from: nil) > 40)
    }

    @Test("Into one that holds cookies: as it was, or the whole of it", arguments: FailingDisk.Fault.allCases)
    func old(fault: FailingDisk.Fault) throws {
        let template = home.file("template")
        try FileManager.default.createDirectory(atPath: template, withIntermediateDirectories: false)
        let made = try home.crumb("import", try captures().old, variables: variables(template))
        try #require(made.status == 0, "\(made.messages)")
        #expect(try walk(fault, from: template) > 15)
    }
}
