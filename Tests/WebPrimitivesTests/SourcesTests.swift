import Foundation
import TestSupport
import Testing

@Suite("Rules for the sources of all targets")
struct SourcesTests {
    /// The Swift files of the targets, each with its path within `Sources`.
    private static func files() throws -> [(path: String, text: String)] {
        let root = Repository.root.appending(path: "Sources")
        let files = try (FileManager.default.subpaths(atPath: root.path) ?? []).filter { $0.hasSuffix(".swift") }.map {
            ($0, try String(contentsOf: root.appending(path: $0), encoding: .utf8))
        }
        try #require(files.count > 200)
        return files
    }

    @Test("No library reads the clock, and the commands read it in one place: the time is a parameter")
    func clock() throws {
        // The outermost layer: the programs, and the files that define the clock, pass it to the commands, and give a database
        // one that a caller may replace.
        let programs = ["crumb-network/", "public-suffix-compiler/"]
        let files = ["/Timestamp+Foundation.swift", "/Console.swift", "/StoreClock.swift"]
        for (path, text) in try Self.files()
        where !programs.contains(where: path.hasPrefix) && !files.contains(where: path.hasSuffix) {
            for reading in ["Timestamp.now", "now: .now", "{ .now }"] {
                #expect(!text.contains(reading), "\(path)")
            }
        }
    }

    @Test("Where FoundationEssentials exists, the programs import no more of Foundation, so that they link no ICU")
    func essentials() throws {
        // A stripped program that links ICU statically is 44 MB larger. These targets are not part of crumb and crumb-network;
        // two of them need URLSession or WebKit, which FoundationEssentials does not have.
        let exempt: Set<Substring> = ["URLSessionDecoration", "WebViewDecoration", "public-suffix-compiler"]
        let whole = try Regex(#"\bimport (\w+ )?Foundation(?!Essentials\b)"#)
        var count = 0
        for (path, text) in try Self.files() where !exempt.contains(path.prefix { $0 != "/" }) {
            let lines = text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
            for (index, line) in lines.enumerated() where !line.hasPrefix("//") && line.contains(whole) {
                let essential = line.replacing("import Foundation", with: "import FoundationEssentials")
                let start = ["#if canImport(FoundationEssentials)", essential, "#else"]
                #expect(Array(lines[..<index].suffix(3)) == start, "\(path): \(line)")
                count += 1
            }
        }
        #expect(count > 30)
    }

    @Test("SQLite is known to its engine and the readers of browsers, and its types to three files of the store")
    func engine() throws {
        let cut = ["Engine", "Engine+Maintenance", "Statement"].map { "SessionStore/Database/\($0).swift" }
        let engineNames = ["SQLiteDatabase", "SQLiteConnection", "SQLiteStatement", "SQLiteReader"]
        for (path, text) in try Self.files() {
            if !["SQLite/", "SQLiteEngine/", "BrowserCookies/"].contains(where: path.hasPrefix) {
                #expect(!text.contains("import SQLite\n") && !text.contains("import CSQLite"), "\(path)")
                #expect(!text.contains("sqlite3_"), "\(path)")
            }
            if path.hasPrefix("SessionStore/"), !cut.contains(path) {
                #expect(!engineNames.contains { text.contains($0) }, "\(path)")
            }
        }
    }

    @Test("Above the engines, two files of the store know which one runs")
    func engineInUse() throws {
        let cut = ["Engine", "Engine+Maintenance", "Statement"].map { "SessionStore/Database/\($0).swift" }
        let questions = ["isOnServer", "case .served", "case .sqlite", "Engine.served", "engine.file"]
        let asking = try Self.files().filter { path, text in
            path.hasPrefix("SessionStore/") && !cut.contains(path) && questions.contains { text.contains($0) }
        }
        #expect(
            asking.map(\.path).sorted() == [
                "SessionStore/Database/SessionDatabase.swift", "SessionStore/Served/SessionDatabase+Server.swift",
            ])
    }

    @Test("Every public error shows its sentence as its localized description")
    func publicErrors() throws {
        let errors = try Regex(
            #"public (struct|enum|final class|class) \w+: ([^{\n]*, )?Error\b|^extension [\w.]+: Error\b"#
        )
        .anchorsMatchLineEndings()
        var count = 0
        for (path, text) in try Self.files() where path != "WebPrimitives/DescribedError+Foundation.swift" {
            #expect(text.firstMatch(of: errors) == nil, "\(path): DescribedError instead of Error")
            count += text.matches(of: #/: DescribedError/#).count
        }
        #expect(count >= 20)
    }

    @Test("The errors of libraries name commands only to users of the command")
    func commandsInErrors() throws {
        let libraries = ["StoreEngine/", "SessionStore/", "RequestDecoration/", "RequestExchange/", "OAuth2/"]
        for (path, text) in try Self.files() where libraries.contains(where: path.hasPrefix) {
            for line in text.split(separator: "\n") where !line.contains("//") {
                guard line.contains(#/'crumb |: crumb |[ "]--[a-z]|CRUMB_[KP]\w+_FILE/#) else { continue }
                #expect(line.contains("command: "), "\(path): \(line)")
            }
        }
    }

    @Test("No type name means two things in two targets")
    func typeNames() throws {
        let declaration = try Regex(
            #"^(?:@\w+(?:\([^)]*\))? +)*(?:(?:public|package|internal|private|fileprivate|final|indirect) +)*"#
                + #"(?:struct|class|enum|actor|protocol|typealias) +(\w+)"#, as: (Substring, Substring).self
        ).anchorsMatchLineEndings()
        var targets: [Substring: Set<Substring>] = [:]
        for (path, text) in try Self.files() {
            for match in text.matches(of: declaration) {
                targets[match.1, default: []].insert(path.prefix { $0 != "/" })
            }
        }
        #expect(targets.count > 500)
        for (name, found) in targets where found.count > 1 {
            Issue.record("\(name) is a type in \(found.sorted().joined(separator: " and "))")
        }
    }
}
