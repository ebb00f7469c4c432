import CookieModel
import Foundation
import Logging
import SessionOperations
import SessionStore
import Testing

@testable import SessionService

@Suite("The audit log")
struct AuditWriterTests {
    private let folder = TemporaryFolder()
    private let caller = Caller(name: "ci", grant: .everything)

    private func writer() throws -> AuditWriter {
        try AuditWriter(
            path: folder.file("audit.jsonl"), summaryInterval: .seconds(60), logger: Logger(label: "test"),
            now: { Timestamp(seconds: 1_800_000_000) })
    }

    private func lines() throws -> [[String: Any]] {
        try folder.text("audit.jsonl").split(separator: "\n").map { line in
            try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        }
    }

    @Test(
        "The audit log does not continue in a new file that others can read",
        arguments: [(0o600, true), (0o644, false)])
    func reopened(mode: Int, goesOn: Bool) throws {
        var file = try AuditFile(folder.file("audit.jsonl"))
        try FileManager.default.moveItem(atPath: folder.file("audit.jsonl"), toPath: folder.file("audit.1"))
        let isMade = FileManager.default.createFile(
            atPath: folder.file("audit.jsonl"), contents: nil, attributes: [.posixPermissions: mode])
        try #require(isMade)
        #expect(file.reopen() == goesOn)
    }

    @Test("The audit log has a line for each rare access, with names and without values, readable only by its owner")
    func rare() throws {
        let writer = try writer()
        for name in ["sid", "a\nb"] {
            writer.note(
                SecretAccess(.cookieValues, jar: "work", site: "example.com", names: [name]), by: caller,
                from: "socket", route: "/v1/jars/{jar}/cookies")
        }
        writer.write(withSummary: false)
        let lines = try lines()
        #expect(lines.count == 2)
        #expect(lines[0]["caller"] as? String == "ci" && lines[0]["jar"] as? String == "work")
        #expect(lines[0]["names"] as? [String] == ["sid"] && lines[1]["names"] as? [String] == ["a\nb"])
        #expect(lines[0]["time"] as? String == "2027-01-15T08:00:00Z" && lines[0]["count"] == nil)
        #expect(try folder.mode("audit.jsonl") == 0o600)
    }

    @Test("The audit log sums up frequent accesses by caller, kind and place")
    func frequent() throws {
        let writer = try writer()
        for site in ["a.test", "b.test", "a.test", "a.test"] {
            writer.note(SecretAccess(.cookieField, jar: "work", site: site), by: caller, from: "::1", route: "/d")
        }
        writer.note(
            SecretAccess(.cookieField, jar: "work", site: "a.test"), by: Caller(name: "other", grant: .everything),
            from: "::1", route: "/d")
        writer.write(withSummary: false)
        #expect(try lines().isEmpty)
        writer.write(withSummary: true)
        let counts = try lines().map { "\($0["caller"] ?? "") \($0["site"] ?? "") \($0["count"] ?? 1)" }.sorted()
        #expect(counts == ["ci a.test 3", "ci b.test 1", "other a.test 1"])
        writer.write(withSummary: true)
        #expect(try lines().count == 3)
    }

    @Test("The audit log is appended to an existing file; one that others can read is rejected")
    func existing() throws {
        for _ in 0..<2 {
            let writer = try writer()
            writer.note(SecretAccess(.export, jar: "work"), by: caller, from: "socket", route: "/e")
            writer.write(withSummary: true)
        }
        #expect(try lines().count == 2)
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: folder.file("audit.jsonl"))
        #expect(throws: ServiceStartError.self) { try writer() }
    }
}
